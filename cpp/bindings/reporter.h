// Long work in the core, called from Python: it can be stopped, and reports its progress.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include "bevel/support/cancellation.h"

namespace nb = nanobind;

// Looks for Ctrl-C and reports progress, a few times a second, on the thread that called the core.
class Reporter {
 public:
  explicit Reporter(nb::object callback) : callback_(std::move(callback)) {}

  // False after Ctrl-C: the work is to stop.
  bool may_continue() {
    nb::gil_scoped_acquire gil;
    return !failed_ && (PyErr_CheckSignals() == 0 || fail());
  }
  // Further numbers are passed on to the callback.
  template <class... Numbers>
  bool operator()(size_t n_done, Numbers... numbers) {
    nb::gil_scoped_acquire gil;
    if (!may_continue()) return false;
    const auto now = std::chrono::steady_clock::now();
    if (callback_.is_none() || now - last_call_ < std::chrono::milliseconds(200)) return true;
    last_call_ = now;
    try {
      callback_(n_done, numbers...);
    } catch (nb::python_error& error) {
      error.restore();
      return fail();
    }
    return true;
  }
  // Forgets what stopped the work if it is of this type; call with the GIL.
  bool drop(PyObject* type) {
    if (!failed_ || !PyErr_GivenExceptionMatches(type_, type)) return false;
    Py_XDECREF(type_);
    Py_XDECREF(value_);
    Py_XDECREF(trace_);
    failed_ = false;
    return true;
  }
  // Raises what stopped the work; call with the GIL.
  void raise() {
    if (!failed_) throw std::runtime_error("[core] stopped");
    PyErr_Restore(type_, value_, trace_);
    throw nb::python_error();
  }

 private:
  bool fail() {
    PyErr_Fetch(&type_, &value_, &trace_);
    failed_ = true;
    return false;
  }

  nb::object callback_;
  std::chrono::steady_clock::time_point last_call_{};
  bool failed_ = false;
  PyObject *type_ = nullptr, *value_ = nullptr, *trace_ = nullptr;
};

// Runs work without the GIL. Ctrl-C, or an error of the reporter, cancels it and is raised; all
// threads of the work have ended then.
template <class Work>
void run_cancellable(Reporter& reporter, Work work) {
  bool is_done = false;
  {
    const bevel::CancellationToken* outer = bevel::CancellationToken::current();
    bevel::CancellationToken token(
        [&reporter, outer] { return (outer && outer->cancelled()) || !reporter.may_continue(); });
    const bevel::CancellationScope scope(token);
    nb::gil_scoped_release release;
    try {
      work();
      is_done = true;
    } catch (const bevel::Cancelled&) {
    }
  }
  if (!is_done) reporter.raise();
}
template <class Work>
void run_cancellable(Work work) {
  Reporter reporter{nb::none()};
  run_cancellable(reporter, std::move(work));
}
