// Pair statistics of one set of objects, kept for kernels that differ in their parameters only.
//
// The squared distances behind exp(-g |x - z|^2) are the same for every g, and on wide rows they
// cost far more than the exponential. Rows of values are kept in the order of their first use until
// the byte budget is spent. An entry is NaN until someone has computed it; whoever does writes the
// same bits (a value depends on its two rows alone), so threads need no lock to fill a row.
#pragma once
#include <atomic>
#include <limits>
#include <mutex>
#include <vector>

#include "memory.hpp"

namespace mercer {

template <class T>
class StatisticCache {
 public:
  /// For n objects; at most `bytes` of values.
  StatisticCache(Index n, double bytes)
      : n_(n),
        free_(static_cast<Index>(bytes / (static_cast<double>(n > 0 ? n : 1) * sizeof(T)))),
        row_(static_cast<std::size_t>(n)) {}

  /// The row of object i, or null when there is no room for it.
  T* row(Index i) {
    std::atomic<T*>& at = row_[static_cast<std::size_t>(i)];
    if (T* known = at.load(std::memory_order_acquire)) return known;
    std::lock_guard guard(lock_);
    if (T* known = at.load(std::memory_order_relaxed)) return known;
    if (free_ <= 0) return nullptr;
    Buffer<T> fresh(n_);
    for (Index k = 0; k < n_; ++k) fresh[k] = std::numeric_limits<T>::quiet_NaN();
    storage_.push_back(std::move(fresh));
    --free_;
    at.store(storage_.back().data(), std::memory_order_release);
    return storage_.back().data();
  }

  /// Copies the values of some objects out of a row; false when one of them is not known yet.
  static bool read(T* row, const Index* id, Index count, T* out) {
    bool known = true;
    for (Index k = 0; k < count; ++k) {
      out[k] = std::atomic_ref<T>(row[id[k]]).load(std::memory_order_relaxed);
      known &= out[k] == out[k];
    }
    return known;
  }
  static void write(T* row, const Index* id, Index count, const T* values) {
    for (Index k = 0; k < count; ++k)
      std::atomic_ref<T>(row[id[k]]).store(values[k], std::memory_order_relaxed);
  }

  /// Number of objects.
  Index size() const { return n_; }
  /// Rows that are kept, whole or in part.
  Index rows() const {
    std::lock_guard guard(lock_);
    return static_cast<Index>(storage_.size());
  }

 private:
  Index n_, free_;
  std::vector<std::atomic<T*>> row_;
  std::vector<Buffer<T>> storage_;
  mutable std::mutex lock_;
};

}  // namespace mercer
