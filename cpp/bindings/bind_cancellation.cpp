// Signals reach the main thread only: calls that run in other threads are cancelled by a token.
#include <nanobind/nanobind.h>

#include <exception>

#include "bevel/support/cancellation.h"

namespace nb = nanobind;
using namespace bevel;

namespace {

// For calls that usually take a short time.
void raise_interrupt(const std::exception_ptr& error, void*) {
  try {
    std::rethrow_exception(error);
  } catch (const Cancelled&) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
  }
}

}  // namespace

void bind_cancellation(nb::module_& m) {
  nb::register_exception_translator(raise_interrupt);
  nb::class_<CancellationToken>(m, "CancellationToken")
      .def(nb::init<>())
      .def("cancel", &CancellationToken::cancel)
      .def(
          "run",
          [](CancellationToken& token, const nb::callable& work) -> nb::object {
            const CancellationScope scope(token);
            return work();
          },
          nb::arg("work"));
}
