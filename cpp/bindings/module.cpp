// The Python module mercer._native: translates arrays and calls, decides nothing.
#include <string>

#include "bindings/arrays.hpp"
#include "bindings/parts.hpp"
#include "isa/dispatch.hpp"
#include "thread_pool.hpp"

// threadpoolctl finds these two by name in the shared library.
extern "C" __attribute__((visibility("default"))) int mercer_get_num_threads() {
  return mercer::num_threads();
}
extern "C" __attribute__((visibility("default"))) void mercer_set_num_threads(int n) {
  mercer::set_num_threads(n);
}

NB_MODULE(_native, m) {
  using namespace mercer;
  // A module-level Gram of a Python kernel is a reference cycle at exit, not a leak.
  nb::set_leak_warnings(false);
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const OutOfMemory& e) {
      PyErr_SetString(PyExc_MemoryError, e.what());
    } catch (const std::bad_alloc&) {
      PyErr_SetString(PyExc_MemoryError, "cannot allocate the working arrays of a native call");
    }
  });
  m.def("isa", [] { return std::string(current_isa().name); });
  m.def("isa_reason", &isa_reason);
  m.def("available_isas", &available_isas);
  m.def("set_isa", &set_isa);
  m.def("get_num_threads", &num_threads);
  m.def("set_num_threads", &set_num_threads);
  m.def("usable_cpus", &usable_cpus);
  bind_single(m);
  bind_double(m);
  bind_sequences(m);
  bind_cost_paths(m);
  bind_pair_decisions(m);
  bind_row_scans(m);
  bind_coordinate_descent(m);
}
