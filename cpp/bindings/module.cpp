// The Python module: converts arrays and releases the GIL.
#include <nanobind/nanobind.h>

#include <exception>
#include <new>

#include "bevel/support/memory.h"

namespace nb = nanobind;

void bind_cancellation(nb::module_& m);
void bind_data(nb::module_& m);
void bind_scaler(nb::module_& m);
void bind_options(nb::module_& m);
void bind_trainer(nb::module_& m);
void bind_blocks(nb::module_& m);
void bind_boosting(nb::module_& m);
void bind_forest(nb::module_& m);
void bind_file(nb::module_& m);
void bind_packed(nb::module_& m);
void bind_models(nb::module_& m);
void bind_analysis_shapley(nb::module_& m);
void bind_analysis_proximity(nb::module_& m);
void bind_analysis_effects(nb::module_& m);
void bind_analysis_errors(nb::module_& m);
void bind_analysis_neighbours(nb::module_& m);
void bind_rotation(nb::module_& m);

namespace {

// What the core could not allocate becomes a MemoryError with a message, whatever function of the
// module it happens in. Estimators add what they were given and what to do.
void raise_memory_error(const std::exception_ptr& error, void*) {
  try {
    std::rethrow_exception(error);
  } catch (const bevel::OutOfMemory& known) {
    PyErr_SetString(PyExc_MemoryError, known.what());
  } catch (const std::bad_alloc&) {
    PyErr_SetString(PyExc_MemoryError, "an allocation in the core failed");
  }
}

}  // namespace

NB_MODULE(_core, m) {
  nb::set_leak_warnings(false);
  nb::register_exception_translator(raise_memory_error);
  bind_cancellation(m);
  bind_data(m);
  bind_scaler(m);
  bind_options(m);
  bind_trainer(m);
  bind_blocks(m);
  bind_boosting(m);
  bind_forest(m);
  bind_file(m);
  bind_packed(m);
  bind_models(m);
  bind_analysis_shapley(m);
  bind_analysis_proximity(m);
  bind_analysis_effects(m);
  bind_analysis_errors(m);
  bind_analysis_neighbours(m);
  bind_rotation(m);
}
