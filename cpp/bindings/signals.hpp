// Ctrl-C while native code runs.
#pragma once
#include <nanobind/nanobind.h>

#include <chrono>
#include <memory>
#include <utility>

#include "bindings/arrays.hpp"
#include "leaving.hpp"

namespace mercer {

/// Asks Python about signals at most every 50 ms. A KeyboardInterrupt ends the native work in good
/// order; any other exception of a handler is kept for `rethrow`.
///
/// Python runs handlers in its main thread only. Other threads never ask, so that they do not wait
/// for the interpreter lock in the middle of their work.
class Signals {
 public:
  /// Needs the interpreter lock. `work`: what is to be done, as for `ReleaseLock`; little work is
  /// not worth asking.
  explicit Signals(double work = HUGE_VAL)
      : main_(ReleaseLock::worthwhile(work) &&
              nb::cast<unsigned long>(
                  nb::module_::import_("threading").attr("main_thread")().attr("ident")) ==
                  PyThread_get_thread_ident()) {}

  bool operator()() {
    const auto now = std::chrono::steady_clock::now();
    if (!main_ || now - last_ < std::chrono::milliseconds(50)) return raised_;
    last_ = now;
    return ask();
  }

  /// Asks at once: what nobody hears now is raised by Python somewhere after the native call.
  bool ask() {
    if (!main_) return false;
    const HoldLock gil;
    if (!raised_ && PyErr_CheckSignals() != 0) {
      raised_ = true;
      if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt))
        PyErr_Clear();
      else
        other_ = std::make_unique<nb::python_error>();
    }
    return raised_;
  }

  /// Hands on what a handler of the user raised.
  void rethrow() {
    if (other_) throw *std::exchange(other_, nullptr);
  }

 private:
  bool main_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  bool raised_ = false;
  std::unique_ptr<nb::python_error> other_;
};

/// Raises KeyboardInterrupt.
[[noreturn]] inline void raise_interrupt() {
  PyErr_SetNone(PyExc_KeyboardInterrupt);
  throw nb::python_error();
}

/// Runs work(leaving) without the interpreter lock, unless it costs little (`ReleaseLock`). When it
/// is interrupted it returns early, and the caller of the binding gets a KeyboardInterrupt or what
/// a handler of the user raised.
template <class Work>
void interruptible(Work work, double cost = HUGE_VAL) {
  Signals signals(cost);
  Leaving leaving([&] { return signals(); });
  {
    const ReleaseLock release(cost);
    work(leaving);
  }
  signals.rethrow();
  if (leaving.left()) raise_interrupt();
}

}  // namespace mercer
