// Ctrl-C while native code runs.
#pragma once
#include <nanobind/nanobind.h>

#include <chrono>

#include "bindings/arrays.hpp"

namespace mercer {

/// Asks Python about signals at most every 50 ms; remembers the exception of a handler.
class Signals {
 public:
  bool operator()() {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(50)) return raised_;
    last_ = now;
    return ask();
  }

  /// Asks at once: what nobody hears now is raised by Python somewhere after the native call.
  bool ask() {
    nb::gil_scoped_acquire gil;
    if (!raised_ && PyErr_CheckSignals() != 0) {
      raised_ = true;
      PyErr_Clear();
    }
    return raised_;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  bool raised_ = false;
};

/// Raises KeyboardInterrupt.
[[noreturn]] inline void raise_interrupt() {
  PyErr_SetNone(PyExc_KeyboardInterrupt);
  throw nb::python_error();
}

}  // namespace mercer
