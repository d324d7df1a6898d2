// Work that is given up before its end: the user interrupts it, or its time is over.
#pragma once
#include <atomic>
#include <functional>
#include <utility>

#include "thread_pool.hpp"

namespace mercer {

/// Asked by all threads of a piece of work: whether the caller has no more use for it. The calling
/// thread, worker 0, alone asks the caller; the others hear of it.
class Leaving {
 public:
  explicit Leaving(std::function<bool()> wanted = nullptr) : wanted_(std::move(wanted)) {}

  bool operator()(int worker = 0) {
    if (worker == 0 && wanted_ && !left() && wanted_()) left_.store(true);
    return left();
  }
  bool left() const { return left_.load(std::memory_order_relaxed); }

 private:
  std::function<bool()> wanted_;
  std::atomic<bool> left_{false};
};

/// parallel_for whose tasks are left out once the work is given up; false in that case.
inline bool parallel_for(int threads, Index tasks, Leaving& leaving,
                         const std::function<void(Index, int)>& body) {
  parallel_for(
      threads, tasks,
      [&](Index task, int worker) {
        if (!leaving(worker)) body(task, worker);
      },
      [&] { leaving(); });
  return !leaving.left();
}

}  // namespace mercer
