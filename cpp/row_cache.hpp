// Shortened kernel rows of a shrunk problem under a byte budget, least recently used first out.
//
// Rows over all objects are kept in a RowStore, which problems share. Those of a shrunk active set
// are its solver's own: compact() keeps what is still wanted and moves the rows together, so the
// same bytes hold more of them.
#pragma once
#include <algorithm>
#include <vector>

#include "memory.hpp"

namespace mercer {

template <class T>
class RowCache {
 public:
  /// Room for rows of length n of n variables, at most `bytes`.
  RowCache(Index n, double bytes) {
    const Index stride = round_up(std::max<Index>(n, 1), 64);
    const double room =
        std::min(bytes / sizeof(T), static_cast<double>(n) * static_cast<double>(stride));
    storage_.reset(static_cast<Index>(room));
    reset(n);
  }

  /// Forgets everything; rows have length n from now on.
  void reset(Index n) {
    length_ = n;
    stride_ = round_up(std::max<Index>(n, 1), 64);
    slot_of_.assign(static_cast<std::size_t>(n), -1);
    resize_slots();
    std::fill(owner_.begin(), owner_.end(), Index(-1));
    used_ = 0;
  }

  Index length() const { return length_; }
  Index capacity() const { return static_cast<Index>(owner_.size()); }
  Index stride() const { return stride_; }

  /// The row of variable i, or null. A hit makes it the most recent.
  T* find(Index i) {
    const Index s = slot_of_[i];
    if (s < 0) return nullptr;
    stamp_[s] = ++clock_;
    return data(s);
  }

  /// A slot for variable i (contents undefined), evicting the row that was not used for longest;
  /// null when every slot was used since `fence`.
  T* insert(Index i, std::uint64_t fence) {
    Index s = -1;
    if (used_ < capacity()) {
      s = used_++;
    } else {
      std::uint64_t oldest = fence;
      // A clock hand instead of a full search: good enough to find an old row quickly.
      for (Index step = 0; step < capacity(); ++step) {
        hand_ = hand_ + 1 < capacity() ? hand_ + 1 : 0;
        if (stamp_[hand_] < oldest) {
          oldest = stamp_[hand_];
          s = hand_;
          if (step >= 64) break;
        }
      }
      if (s < 0) return nullptr;
      slot_of_[owner_[s]] = -1;
    }
    owner_[s] = i;
    slot_of_[i] = s;
    stamp_[s] = ++clock_;
    return data(s);
  }

  std::uint64_t now() const { return clock_ + 1; }

  /// Keeps the variables `kept` (ascending), which become 0, 1, ...; rows lose the other columns.
  void compact(const std::vector<Index>& kept) {
    const Index n = static_cast<Index>(kept.size());
    std::vector<Index> renumber(slot_of_.size(), -1);
    for (Index k = 0; k < n; ++k) renumber[kept[k]] = k;
    const Index old_stride = stride_;
    stride_ = round_up(std::max<Index>(n, 1), 64);
    slot_of_.assign(static_cast<std::size_t>(n), -1);
    length_ = n;
    Index to = 0;
    for (Index s = 0; s < used_; ++s) {
      const Index i = owner_[s] < 0 ? -1 : renumber[owner_[s]];
      if (i < 0) continue;
      const T* from = storage_.data() + s * old_stride;
      T* row = storage_.data() + to * stride_;
      // Ascending columns and rows: the target never runs ahead of the source.
      for (Index k = 0; k < n; ++k) row[k] = from[kept[k]];
      owner_[to] = i;
      stamp_[to] = stamp_[s];
      slot_of_[i] = to++;
    }
    used_ = to;
    resize_slots();
  }

 private:
  T* data(Index s) { return storage_.data() + s * stride_; }

  void resize_slots() {
    const Index slots = std::min(length_, storage_.size() / stride_);
    owner_.resize(static_cast<std::size_t>(slots), -1);
    stamp_.resize(static_cast<std::size_t>(slots), 0);
    hand_ = 0;
  }

  Index length_ = 0, stride_ = 0, used_ = 0, hand_ = 0;
  std::uint64_t clock_ = 0;
  Buffer<T> storage_;
  std::vector<Index> owner_, slot_of_;
  std::vector<std::uint64_t> stamp_;
};

}  // namespace mercer
