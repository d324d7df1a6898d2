// Kernel rows of a Gram matrix, kept under a byte budget for every problem on its objects.
//
// A store belongs to a kernel on a set of objects and outlives a solver: folds, pairs of classes
// and values of C find the rows that earlier problems computed. A row is known by the position of
// its object in the set and covers all of the objects, so problems on some of them pick out their
// columns. Rows are whole or partial: entries that have not been computed are NaN.
//
// Rows in use are pinned; the others are evicted, least recently used first. No thread waits: a row
// that another thread is filling counts as missing. A kernel value depends on its two objects
// alone, so the contents of the store change how much is computed, never a result.
#pragma once
#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "evaluator.hpp"
#include "memory.hpp"

namespace mercer {

template <class T>
class RowStore {
 public:
  /// For a kernel whose two sides are the same set. A symmetric matrix of the caller that holds the
  /// values in this precision serves as the store itself.
  explicit RowStore(std::shared_ptr<const Evaluator<T>> kernel)
      : kernel_(std::move(kernel)),
        n_(kernel_->cols()),
        stride_(round_up(std::max<Index>(n_, 1), row_align)),
        slot_of_(static_cast<std::size_t>(n_), -1),
        asked_(dear() ? 0 : static_cast<std::size_t>(n_), 0) {
    matrix_ = kernel_->matrix_rows(&matrix_stride_);
  }
  RowStore(const RowStore&) = delete;
  RowStore& operator=(const RowStore&) = delete;

  const Evaluator<T>& kernel() const { return *kernel_; }
  /// Number of objects, the length of a row.
  Index size() const { return n_; }
  /// Values of a row with its padding of zeros; 0 when rows are those of a matrix without padding.
  Index stride() const { return matrix_ ? 0 : stride_; }
  /// Whether rows are worth looking up: where a value costs little more than reading it, they are
  /// not.
  bool useful() const { return matrix_ || (!kernel_->linear() && kernel_->worth_keeping()); }

  /// Sets the budget. A matrix that fits is kept whole; of a larger one the rows take half of the
  /// budget, and the other half is for the shortened rows of a shrunk problem.
  void allow(double bytes) {
    const std::lock_guard guard(lock_);
    const double all = static_cast<double>(n_) * row_bytes();
    const Index capacity = static_cast<Index>((all <= bytes ? all : bytes / 2) / row_bytes());
    if (capacity < static_cast<Index>(slots_.size()) && pinned_ == 0) {
      slots_.clear();
      slabs_.clear();
      oldest_ = newest_ = -1;
      std::fill(slot_of_.begin(), slot_of_.end(), Index(-1));
    }
    capacity_ = capacity;
  }
  /// Bytes of a budget that whole rows do not use.
  double left_of(double bytes) const {
    const double all = static_cast<double>(n_) * row_bytes();
    return matrix_ ? bytes : all <= bytes ? bytes - all : bytes / 2;
  }

  /// The whole row of object i, pinned; null when it is not known.
  const T* find(Index i) {
    if (matrix_) return matrix_ + i * matrix_stride_;
    const std::lock_guard guard(lock_);
    const Index s = slot_of_[i];
    if (s < 0 || !slots_[s].whole) return nullptr;
    pin(s);
    return slots_[s].data;
  }
  /// Claims memory for the whole row of object i, pinned and private until it is published; null if
  /// it is in use or there is no room (`evict`: unused rows are evicted). Memory touched for the
  /// first time costs as much as a value of few multiply-adds: rows of such values are stored only
  /// after several claims that evict.
  T* claim(Index i, bool evict) {
    if (matrix_) return nullptr;
    const std::lock_guard guard(lock_);
    if (!asked_.empty() && (!evict || asked_[i] < often)) {
      asked_[i] = static_cast<unsigned char>(asked_[i] + evict);
      return nullptr;
    }
    Index s = slot_of_[i];
    if (s >= 0 && (slots_[s].users > 0 || slots_[s].whole)) return nullptr;
    if (s < 0 && (s = vacate(evict)) < 0) return nullptr;
    assign(s, i);
    slots_[s].filling = true;
    return slots_[s].data;
  }
  /// The row of object i, whole or partial, pinned; its entries are read and written by the
  /// functions below. Null if there is no room or another thread is filling it.
  T* share(Index i) {
    if (matrix_) return nullptr;
    const std::lock_guard guard(lock_);
    Index s = slot_of_[i];
    if (s >= 0) {
      if (slots_[s].filling) return nullptr;
      pin(s);
      return slots_[s].data;
    }
    if ((s = vacate(true)) < 0) return nullptr;
    assign(s, i);
    std::fill_n(slots_[s].data, n_, std::numeric_limits<T>::quiet_NaN());
    return slots_[s].data;
  }
  /// The row of object i that was claimed is whole now.
  void publish(Index i) {
    const std::lock_guard guard(lock_);
    Slot& s = slots_[slot_of_[i]];
    std::fill(s.data + n_, s.data + stride_, T(0));
    s.filling = false;
    s.whole = true;
  }
  /// Ends a pin; a row that was claimed and not published is forgotten.
  void release(Index i) {
    if (matrix_) return;
    const std::lock_guard guard(lock_);
    const Index at = slot_of_[i];
    Slot& s = slots_[at];
    if (s.filling) {
      s.filling = false;
      std::fill_n(s.data, n_, std::numeric_limits<T>::quiet_NaN());
    }
    --pinned_;
    if (--s.users == 0) append(at);
  }

  static T read(const T* row, Index k) {
    return std::atomic_ref<T>(const_cast<T&>(row[k])).load(std::memory_order_relaxed);
  }
  static void write(T* row, Index k, T value) {
    std::atomic_ref<T>(row[k]).store(value, std::memory_order_relaxed);
  }

  /// Rows that are kept, whole or in part.
  Index rows() const {
    const std::lock_guard guard(lock_);
    return static_cast<Index>(slots_.size());
  }

 private:
  /// Rows start at multiples of a cache line and are readable to the end of the slots of SMO.
  static constexpr Index row_align = 64;
  static_assert(row_align % slot_align == 0);
  /// How often a row is computed before it is kept.
  static constexpr int often = 2;
  /// Multiply-adds of a value that takes longer than memory for it that is new.
  static constexpr double dear_cost = 64;
  /// Rows are allocated together, so that they lie on huge pages.
  static constexpr double slab_bytes = 8 << 20;

  struct Slot {
    T* data = nullptr;
    Index owner = -1, older = -1, newer = -1;
    int users = 0;
    bool whole = false, filling = false;
  };

  bool dear() const { return !kernel_->threads_allowed() || kernel_->cost() >= dear_cost; }
  double row_bytes() const { return static_cast<double>(stride_) * sizeof(T); }

  // ---- the list of unused rows, by their last use

  void append(Index s) {
    slots_[s].older = newest_;
    slots_[s].newer = -1;
    (newest_ >= 0 ? slots_[newest_].newer : oldest_) = s;
    newest_ = s;
  }
  void unlink(Index s) {
    const Slot& x = slots_[s];
    (x.older >= 0 ? slots_[x.older].newer : oldest_) = x.newer;
    (x.newer >= 0 ? slots_[x.newer].older : newest_) = x.older;
  }
  void pin(Index s) {
    if (slots_[s].users++ == 0) unlink(s);
    ++pinned_;
  }

  /// A free slot, outside the list; -1: none.
  Index vacate(bool evict) {
    if (static_cast<Index>(slots_.size()) < capacity_) {
      const Index fresh = std::clamp<Index>(static_cast<Index>(slab_bytes / row_bytes()), 1,
                                            capacity_ - static_cast<Index>(slots_.size()));
      if (static_cast<Index>(slots_.size()) == allocated()) add_slab(fresh);
      slots_.emplace_back();
      slots_.back().data = slabs_.back().data() + next_in_slab_++ * stride_;
      return static_cast<Index>(slots_.size()) - 1;
    }
    if (!evict || oldest_ < 0 || capacity_ == 0) return -1;
    const Index s = oldest_;
    unlink(s);
    slot_of_[slots_[s].owner] = -1;
    slots_[s].owner = -1;
    return s;
  }
  Index allocated() const {
    return slabs_.empty() ? static_cast<Index>(slots_.size())
                          : static_cast<Index>(slots_.size()) + in_slab_ - next_in_slab_;
  }
  void add_slab(Index rows) {
    slabs_.emplace_back(rows * stride_);
    in_slab_ = rows;
    next_in_slab_ = 0;
  }
  /// Gives a slot, which is in no list or holds a partial row of the same object, to object i.
  void assign(Index s, Index i) {
    if (slots_[s].owner == i) unlink(s);
    slots_[s].owner = i;
    slots_[s].whole = false;
    slots_[s].users = 1;
    slot_of_[i] = s;
    ++pinned_;
  }

  std::shared_ptr<const Evaluator<T>> kernel_;
  Index n_, stride_;
  const T* matrix_ = nullptr;
  Index matrix_stride_ = 0;
  mutable std::mutex lock_;
  Index capacity_ = 0, pinned_ = 0, oldest_ = -1, newest_ = -1;
  Index in_slab_ = 0, next_in_slab_ = 0;
  std::vector<Index> slot_of_;        ///< of an object; -1: none
  std::vector<unsigned char> asked_;  ///< how often, of a row; empty: all are kept at once
  std::vector<Slot> slots_;
  std::vector<Buffer<T>> slabs_;
};

/// The rows of a store that a solver has in use.
template <class T>
class PinnedRows {
 public:
  explicit PinnedRows(RowStore<T>* store) : store_(store) {}
  PinnedRows(const PinnedRows&) = delete;
  PinnedRows& operator=(const PinnedRows&) = delete;
  ~PinnedRows() {
    for (const Index i : pinned_) store_->release(i);
  }

  const T* find(Index i) { return noted(i, store_ ? store_->find(i) : nullptr); }
  T* share(Index i) { return noted(i, store_ ? store_->share(i) : nullptr); }
  T* claim(Index i, bool evict) {
    T* row = noted(i, store_ ? store_->claim(i, evict) : nullptr);
    if (row) claimed_.push_back(i);
    return row;
  }
  /// All rows that were claimed are whole.
  void publish() {
    for (const Index i : claimed_) store_->publish(i);
    claimed_.clear();
  }

 private:
  template <class P>
  P noted(Index i, P row) {
    if (row) pinned_.push_back(i);
    return row;
  }

  RowStore<T>* store_;
  std::vector<Index> pinned_, claimed_;
};

}  // namespace mercer
