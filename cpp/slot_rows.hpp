// Kernel rows of the slots of a small problem: computed when a pair first needs them, or taken from
// the rows that other problems on the same objects left in the store; see decomposition.hpp.
#pragma once
#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "evaluator.hpp"
#include "isa/dispatch.hpp"
#include "row_store.hpp"
#include "row_sum.hpp"
#include "solver_parts.hpp"
#include "thread_pool.hpp"

namespace mercer {

template <class T>
class SlotRows {
 public:
  /// Rows for the slots of `task`, in `matrix` or in `store`, which may be null.
  SlotRows(const Evaluator<T>& kernel, const Settings& s, Limits& limits, InnerTask<T>& task,
           Buffer<T>& matrix, RowStore<T>* store)
      : kernel_(kernel),
        settings_(s),
        limits_(limits),
        task_(task),
        matrix_(matrix),
        store_(store),
        pinned_(store),
        filler_(limits_, std::max(s.threads, 1)) {
    query_.pair.leave = [this] { return limits_.leave(0); };
  }

  /// Sets the object of every slot; n of them hold variables.
  void place(const std::vector<Index>& object, Index n) {
    const auto objects = kernel_.b().take(object.data(), task_.size);
    own_ = kernel_.on(objects, objects);
    if (store_) place_in_store(object, n);
    stride_ = task_.size + slot_align;
    matrix_.require(task_.size * stride_);
    if (!own_->joint())
      batch_ = 1;
    else if (own_->threads_allowed())
      batch_ = own_->block() == sparse_block ? sparse_block : own_->cost() >= 64 ? query_block : 1;
    else
      batch_ = std::min(own_->block(), 32);
  }

  /// The kernel on the objects of the slots.
  const Evaluator<T>& kernel() const { return *own_; }
  Index computed() const { return kernel_values_; }
  Index hits() const { return hits_; }
  Index misses() const { return misses_; }

  /// The row of a slot. Where several rows cost little more than one (sparse or wide data), the
  /// rows that violate optimality most come along: they are likely to be asked for next.
  const T* fetch(Index slot) {
    limits_.interrupted();  // the inner loop looks at the flag that this sets
    wanted_.assign(1, slot);
    if (store_) find_whole();
    if (!wanted_.empty()) {
      if (batch_ > 1) add_violators();
      fetch_wanted();
    }
    return task_.rows[slot];
  }

  /// The rows of some slots, several at a time; false when interrupted.
  bool fetch_all(const std::vector<Index>& slots) {
    const auto most = static_cast<std::size_t>(std::min<Index>(own_->block(), 32));
    for (std::size_t first = 0; first < slots.size(); first += most) {
      if (limits_.impatient()) return false;
      const auto begin = slots.begin() + static_cast<std::ptrdiff_t>(first);
      const auto end = begin + static_cast<std::ptrdiff_t>(std::min(most, slots.size() - first));
      wanted_.assign(begin, end);
      try {
        fetch_wanted();
      } catch (const Left&) {
        if (limits_.finishing()) return false;
        throw;
      }
    }
    return true;
  }

 private:
  /// Multiply-adds of a kernel value (about 6 ns) from which sharing single entries pays off.
  static constexpr double parts_cost = 256;
  /// Multiply-adds that take a few milliseconds.
  static constexpr double dear_rows = 2e7;

  /// Positions of the objects of the slots in the rows of the store.
  void place_in_store(const std::vector<Index>& object, Index n) {
    object_.clear();
    for (const Index i : object) object_.push_back(kernel_.b().id[i]);
    run_ = 0;
    while (run_ < static_cast<Index>(object_.size()) && object_[run_] == object_[0] + run_) ++run_;
    const Index all = store_->size();
    in_place_ = n == all && run_ >= n && object_[0] == 0 && task_.size <= store_->stride();
    covers_ = 2 * n >= all;
    by_parts_ = !covers_ && kernel_.cost() >= parts_cost;
  }

  void fetch_wanted() {
    if (store_) find_whole();
    if (store_ && covers_ && !wanted_.empty()) compute_whole();
    const Index count = static_cast<Index>(wanted_.size());
    if (count == 0) return;
    // Rows stand in the order of their first use, so that memory is touched as it is needed.
    T* rows = matrix_.data() + used_ * stride_;
    if (by_parts_)
      compute_parts(rows);
    else if (threads_for(count * task_.size) > 1)
      compute_by_all_threads(rows);
    else
      compute(rows);
    for (Index r = 0; r < count; ++r) task_.rows[wanted_[r]] = rows + r * stride_;
    used_ += count;
    misses_ += count;
  }

  /// One thread, unless these values take milliseconds.
  int threads_for(Index values) const {
    const double work = static_cast<double>(values) * own_->cost();
    return work >= dear_rows && own_->threads_allowed() ? settings_.threads : 1;
  }

  // ---- rows of the store

  /// Takes the rows of wanted_ that the store holds; the others remain in wanted_.
  void find_whole() {
    PinnedRows<T> briefly(store_);
    PinnedRows<T>& pinned = in_place_ ? pinned_ : briefly;
    const auto known = [&](Index slot) {
      const T* row = pinned.find(object_[slot]);
      if (row) set_row(slot, row), ++hits_;
      return row != nullptr;
    };
    std::erase_if(wanted_, known);
  }

  /// Computes the rows of wanted_ for all objects of the store and stores them; those without room
  /// remain in wanted_.
  void compute_whole() {
    PinnedRows<T> briefly(store_);
    PinnedRows<T>& pinned = in_place_ ? pinned_ : briefly;
    std::vector<Index> slots, objects;
    std::vector<T*> rows;
    const auto claimed = [&](Index slot) {
      T* row = pinned.claim(object_[slot], true);
      if (!row) return false;
      slots.push_back(slot);
      objects.push_back(object_[slot]);
      rows.push_back(row);
      return true;
    };
    std::erase_if(wanted_, claimed);
    const Index values = static_cast<Index>(rows.size()) * store_->size();
    if (!filler_.fill(store_->kernel(), objects, rows, threads_for(values))) throw Left();
    pinned.publish();
    kernel_values_ += values;
    misses_ += static_cast<Index>(rows.size());
    for (std::size_t r = 0; r < rows.size(); ++r) set_row(slots[r], rows[r]);
  }

  /// The row of a slot from that of its object over all objects of the store.
  void set_row(Index slot, const T* whole) {
    if (in_place_) {
      task_.rows[slot] = whole;
      return;
    }
    T* row = matrix_.data() + used_++ * stride_;
    std::copy_n(whole + object_[0], run_, row);
    for (Index s = run_; s < task_.size; ++s) row[s] = whole[object_[s]];
    task_.rows[slot] = row;
  }

  /// Rows of a problem on few of the store's objects: entries that other problems have left are
  /// taken, the others computed, in pieces, and left to others.
  void compute_parts(T* rows) {
    constexpr Index piece = 256;
    static_assert(piece % largest_panel == 0);
    const Index size = task_.size, count = static_cast<Index>(wanted_.size());
    PinnedRows<T> pinned(store_);
    using Pieces = std::vector<bool>;
    std::vector<T*> shared(static_cast<std::size_t>(count));
    std::map<Pieces, std::vector<Index>> lacking;  // rows by the pieces that they lack
    for (Index r = 0; r < count; ++r) {
      shared[r] = pinned.share(object_[wanted_[r]]);
      T* row = rows + r * stride_;
      Pieces lacks(static_cast<std::size_t>((size + piece - 1) / piece), !shared[r]);
      for (Index s = 0; shared[r] && s < size; ++s) {
        row[s] = RowStore<T>::read(shared[r], object_[s]);
        if (row[s] != row[s]) lacks[s / piece] = true;
      }
      lacking[lacks].push_back(r);
    }
    for (const auto& [lacks, some] : lacking) {
      fresh_slots_.clear();
      for (const Index r : some) fresh_slots_.push_back(wanted_[r]);
      const int n = static_cast<int>(some.size());
      tile_.require(n * piece);
      own_->prepare(query_, fresh_slots_.data(), n);
      for (std::size_t c = 0; c < lacks.size(); ++c) {
        if (!lacks[c]) continue;
        const Index begin = static_cast<Index>(c) * piece, width = std::min(piece, size - begin);
        own_->tile(query_, begin, width, tile_.data(), piece);
        if (limits_.left()) throw Left();
        kernel_values_ += n * width;
        for (int k = 0; k < n; ++k) {
          const T* values = tile_.data() + k * piece;
          std::copy_n(values, width, rows + some[k] * stride_ + begin);
          if (T* to = shared[some[k]])
            for (Index s = 0; s < width; ++s) RowStore<T>::write(to, object_[begin + s], values[s]);
        }
      }
    }
  }

  // ---- rows of this problem alone

  void compute(T* rows) {
    const Index size = task_.size;
    own_->prepare(query_, wanted_.data(), static_cast<int>(wanted_.size()));
    own_->tile(query_, 0, size, rows, stride_);
    if (limits_.left()) throw Left();
    kernel_values_ += static_cast<Index>(wanted_.size()) * size;
  }

  /// The rows of wanted_, which take milliseconds each.
  void compute_by_all_threads(T* rows) {
    const Index size = task_.size, count = static_cast<Index>(wanted_.size());
    constexpr Index least = 64;
    static_assert(least % largest_panel == 0);
    const Index width = round_up(std::max(size / (4 * settings_.threads), least), least);
    std::vector<Query<T>> queries(static_cast<std::size_t>(std::max(settings_.threads, 1)));
    for (std::size_t w = 0; w < queries.size(); ++w)
      queries[w].pair.leave = [this, w] { return limits_.leave(static_cast<int>(w)); };
    const auto body = [&](Index task, int worker) {
      if (limits_.leave(worker)) return;
      Query<T>& q = queries[worker];
      own_->prepare(q, wanted_.data(), static_cast<int>(count));
      own_->tile(q, task * width, std::min(width, size - task * width), rows + task * width,
                 stride_);
    };
    parallel_for(settings_.threads, (size + width - 1) / width, body, [&] { limits_.leave(0); });
    if (limits_.left()) throw Left();
    kernel_values_ += count * size;
  }

  void add_violators() {
    const InnerTask<T>& t = task_;
    candidates_.clear();
    for (int g = 0; g < std::max(t.groups, 1); ++g) {
      const Range<T> range = range_of_group(t, g);
      for (Index s = t.group_begin[g]; s < t.group_end[g]; ++s) {
        if (t.rows[s] || s == wanted_[0]) continue;
        const T v = std::max(range.max_down - (t.values[s] + t.up[s]),
                             t.values[s] + t.down[s] - range.min_up);
        if (v > T(0)) candidates_.push_back({-v, s});
      }
    }
    const auto count =
        std::min<std::size_t>(static_cast<std::size_t>(batch_) - 1, candidates_.size());
    std::nth_element(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(count),
                     candidates_.end());
    for (std::size_t c = 0; c < count; ++c) wanted_.push_back(candidates_[c].second);
  }

  const Evaluator<T>& kernel_;
  const Settings& settings_;
  Limits& limits_;
  InnerTask<T>& task_;
  std::shared_ptr<Evaluator<T>> own_;  ///< on the objects of the slots
  Buffer<T>& matrix_;
  Index stride_ = 0, batch_ = 1;
  Index used_ = 0;  ///< rows of matrix_
  Index kernel_values_ = 0, hits_ = 0, misses_ = 0;
  RowStore<T>* store_;    ///< or null
  PinnedRows<T> pinned_;  ///< rows of the store that serve as they are
  RowSum<T> filler_;
  std::vector<Index> object_;  ///< of a slot, its position in the store
  Index run_ = 0;              ///< slots whose objects stand one behind the other there
  bool in_place_ = false;      ///< whether rows of the store are rows of this problem
  bool covers_ = false;        ///< whether most columns of such a row are used
  bool by_parts_ = false;      ///< whether single entries are shared with other problems
  Buffer<T> tile_;
  std::vector<Index> fresh_slots_;
  Query<T> query_;
  std::vector<Index> wanted_;
  std::vector<std::pair<T, Index>> candidates_;
};

}  // namespace mercer
