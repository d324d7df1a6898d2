// Aborted computations: after an interrupt of the user or at a time limit.
#pragma once
#include <atomic>
#include <functional>
#include <utility>

#include "thread_pool.hpp"

namespace mercer {

/// Whether a computation is to be aborted, for all of its threads. The calling thread, worker 0,
/// asks the caller; the others read its answer.
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

/// parallel_for that skips the remaining tasks once it is aborted; returns false then.
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
