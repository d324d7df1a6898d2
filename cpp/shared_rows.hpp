// Kernel rows that several problems on one set of objects have in common.
//
// Objects that take part in the same problems form a part: a class of one-vs-one, everything of
// one-vs-rest, the rows that two folds share. The kernel row of an object over its own part is the
// same in all of these problems; whoever asks first computes it, and it is kept under a byte
// budget. A kernel value depends on its two objects alone, so it does not matter who that was.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "memory.hpp"

namespace mercer {

/// Consecutive variables of a problem that are one part, in the order of the part.
struct PartSegment {
  Index part, begin, count;
};

template <class T>
class SharedRows {
 public:
  /// For problems on the given objects each.
  SharedRows(const std::vector<const std::vector<Index>*>& problems, Index n_objects, double bytes)
      : budget_(bytes / sizeof(T)) {
    std::vector<std::uint64_t> signature(static_cast<std::size_t>(n_objects), 0);
    std::vector<Index> uses(static_cast<std::size_t>(n_objects), 0);
    for (std::size_t p = 0; p < problems.size(); ++p)
      for (Index i : *problems[p]) {
        signature[i] = mixed(signature[i] ^ (p + 1));
        ++uses[i];
      }
    std::unordered_map<std::uint64_t, Index> known;
    part_.assign(static_cast<std::size_t>(n_objects), -1);
    position_.assign(static_cast<std::size_t>(n_objects), 0);
    std::vector<Index> size;
    for (Index i = 0; i < n_objects; ++i) {
      if (uses[i] < 2) continue;
      const auto found = known.try_emplace(signature[i], static_cast<Index>(known.size())).first;
      part_[i] = found->second;
      if (part_[i] == static_cast<Index>(size.size())) size.push_back(0);
      position_[i] = size[part_[i]]++;
    }
    for (Index n : size) rows_.emplace_back(static_cast<std::size_t>(n));
  }

  /// The segments of a problem on these objects.
  std::vector<PartSegment> segments(const std::vector<Index>& objects) const {
    std::vector<PartSegment> out;
    const Index n = static_cast<Index>(objects.size());
    for (Index v = 0; v < n;) {
      const Index part = part_[objects[v]];
      Index end = v;
      while (end < n && part_[objects[end]] == part && position_[objects[end]] == end - v) ++end;
      if (part >= 0 && end - v == static_cast<Index>(rows_[part].size()))
        out.push_back({part, v, end - v});
      v = std::max(end, v + 1);
    }
    return out;
  }

  /// The row of the object at a position of a part, or null.
  const T* find(Index part, Index position) const {
    return rows_[part][position].load(std::memory_order_acquire);
  }

  /// Keeps a copy of a row if there is room.
  void keep(Index part, Index position, const T* row) {
    const Index n = static_cast<Index>(rows_[part].size());
    T* copy = room(n);
    if (!copy) return;
    std::copy_n(row, n, copy);
    rows_[part][position].store(copy, std::memory_order_release);
  }

 private:
  static constexpr Index slab = Index(1) << 20;

  static std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15u;
    return x ^ (x >> 29);
  }

  T* room(Index n) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (n > left_) {
      const Index size = std::max(slab, n);
      if (static_cast<double>(size) > budget_) return nullptr;
      budget_ -= static_cast<double>(size);
      slabs_.emplace_back(size);
      left_ = size;
    }
    left_ -= n;
    return slabs_.back().data() + left_;
  }

  std::vector<Index> part_, position_;  ///< of every object; -1: in fewer than two problems
  std::vector<std::vector<std::atomic<const T*>>> rows_;
  std::mutex mutex_;
  std::vector<Buffer<T>> slabs_;
  Index left_ = 0;
  double budget_;
};

}  // namespace mercer
