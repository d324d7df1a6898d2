// The interpreter lock, for threads that may outlive the interpreter.
//
// When the interpreter ends while a daemon thread runs native code, Python 3.13 and older end that
// thread as soon as it asks for the lock: pthread_exit unwinds its stack. Unwinding runs through
// destructors that need the lock and functions that must not throw, and aborts the process. So a
// thread that is being ended stays where it asked for the lock, asleep until the process is gone,
// as it does in Python 3.14.
#pragma once
#include <nanobind/nanobind.h>

#include <chrono>
#include <cmath>
#include <thread>
#ifdef __GLIBCXX__
#include <cxxabi.h>
#endif

namespace mercer {

[[noreturn]] inline void sleep_for_ever() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

/// Calls f, which asks for the interpreter lock or runs Python code. Objects that need the lock
/// must not be made inside f before it does so.
template <class F>
decltype(auto) with_python(F&& f) {
#ifdef __GLIBCXX__
  try {
    return f();
  } catch (abi::__forced_unwind&) {  // must not be left: glibc would abort
    sleep_for_ever();
  }
#else
  return f();
#endif
}

/// Holds the interpreter lock, in a thread that may not have it.
class HoldLock {
 public:
  HoldLock() : state_(with_python([] { return PyGILState_Ensure(); })) {}
  ~HoldLock() { PyGILState_Release(state_); }
  HoldLock(const HoldLock&) = delete;
  HoldLock& operator=(const HoldLock&) = delete;

 private:
  PyGILState_STATE state_;
};

/// Gives the interpreter lock away while native code runs, unless there is little to do: getting
/// the lock back from threads that wait for it can take longer than a prediction of one row.
/// `work` is in multiplications; 500,000 are about a tenth of a millisecond.
class ReleaseLock {
 public:
  explicit ReleaseLock(double work = HUGE_VAL)
      : state_(worthwhile(work) ? PyEval_SaveThread() : nullptr) {}
  ~ReleaseLock() {
    if (state_) with_python([this] { PyEval_RestoreThread(state_); });
  }
  static bool worthwhile(double work) { return work >= 5e5; }
  ReleaseLock(const ReleaseLock&) = delete;
  ReleaseLock& operator=(const ReleaseLock&) = delete;

 private:
  PyThreadState* state_;
};

}  // namespace mercer
