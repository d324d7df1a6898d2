// Weighted sums of kernel rows, from stored and newly computed rows.
//
//   out_k += sum_r coef_r K(row_r, k)   for all columns k of a kernel
//
// Rows are added in their order, in double precision, wherever they come from, so the sums do not
// depend on which rows are stored. Each thread owns some columns.
#pragma once
#include <algorithm>
#include <limits>
#include <vector>

#include "isa/dispatch.hpp"
#include "row_store.hpp"
#include "solver_parts.hpp"
#include "thread_pool.hpp"

namespace mercer {

/// Columns one task owns.
inline constexpr Index task_columns = 1024;
static_assert(task_columns % largest_panel == 0);
/// Rows computed together, whatever a kernel would take in one call.
inline constexpr Index rows_at_once = 128;

template <class T>
class RowSum {
 public:
  /// One row of a sum.
  struct Row {
    Index row;                  ///< position among the rows of the kernel
    double coef = 0;            ///< its weight
    T* own = nullptr;           ///< memory for the row over these columns, or null
    bool known = false;         ///< whether that memory holds the row
    const T* longer = nullptr;  ///< a row over all objects of the store, of which it is a part
  };

  RowSum(Limits& limits, int threads)
      : limits_(limits), threads_(threads), scratch_(static_cast<std::size_t>(threads)) {}

  std::vector<Row> rows;

  /// Adds the rows to out, and writes new rows into their own memory. `object`: positions of the
  /// columns in longer rows. Returns false if it was aborted; sums of columns that were not reached
  /// are NaN then.
  bool add(const Evaluator<T>& kernel, const std::vector<Index>& object, double* out) {
    kernel_ = &kernel;
    object_ = object.data();
    fresh_.clear();
    for (std::size_t r = 0; r < rows.size(); ++r)
      if (!rows[r].known) fresh_.push_back(static_cast<Index>(r));
    coef_.clear();
    for (const Row& r : rows) coef_.push_back(r.coef);
    const Index n = kernel.cols();
    const Index width = kernel.threads_allowed() ? task_columns : round_up(n, kernel.panel());
    const auto body = [&](Index task, int worker) {
      const Index from = task * width, count = std::min(width, n - from);
      if (!add_columns(worker, from, count, out))
        std::fill_n(out + from, count, std::numeric_limits<double>::quiet_NaN());
    };
    parallel_for(threads_, (n + width - 1) / width, body, [&] { limits_.leave(0); });
    return !limits_.left();
  }

  /// Number of rows whose values were not known anywhere.
  Index computed() const {
    return std::count_if(rows.begin(), rows.end(),
                         [](const Row& r) { return !r.known && !r.longer; });
  }

  /// Computes whole rows of a kernel; returns false if it was aborted.
  bool fill(const Evaluator<T>& kernel, const std::vector<Index>& row, const std::vector<T*>& to,
            int threads) {
    if (row.empty()) return true;
    const Index n = kernel.cols(), count = static_cast<Index>(row.size());
    const Index block = std::min<Index>(kernel.block(), rows_at_once);
    const Index width = kernel.threads_allowed() ? task_columns : round_up(n, kernel.panel());
    const auto body = [&](Index task, int worker) {
      Scratch& w = scratch_[worker];
      const Index from = task * width, columns = std::min(width, n - from);
      const Index stride = round_up(columns, kernel.panel());
      w.tile.require(block * stride);
      for (Index b = 0; b < count; b += block) {
        if (limits_.leave(worker)) return;
        const Index some = std::min(block, count - b);
        Query<T>& query = query_of(worker, 0);
        kernel.prepare(query, row.data() + b, static_cast<int>(some));
        kernel.tile(query, from, columns, w.tile.data(), stride);
        for (Index r = 0; r < some; ++r)
          std::copy_n(w.tile.data() + r * stride, columns, to[b + r] + from);
      }
    };
    parallel_for(threads, (n + width - 1) / width, body, [&] { limits_.leave(0); });
    return !limits_.left();
  }

  /// Prepared rows number k of a thread; they stay from step to step.
  Query<T>& query_of(int worker, Index k) {
    auto& all = scratch_[worker].query;
    while (static_cast<Index>(all.size()) <= k) {
      all.emplace_back();
      all.back().pair.leave = [this, worker] { return limits_.leave(worker); };
    }
    return all[static_cast<std::size_t>(k)];
  }
  Buffer<T>& tile_of(int worker) { return scratch_[worker].tile; }

 private:
  /// Columns of a step for narrow data: its panels, tile and values share the first-level cache.
  static constexpr Index step_columns = 256;
  static_assert(step_columns % largest_panel == 0);
  /// Multiply-adds of a value up to which data count as narrow.
  static constexpr double narrow_cost = 64;

  struct Scratch {
    std::vector<Query<T>> query;
    Buffer<T> tile;
    std::vector<const T*> row;
    std::vector<Index> id;
  };

  /// The sums of the columns [from, from + count).
  bool add_columns(int worker, Index from, Index count, double* out) {
    Scratch& w = scratch_[worker];
    const Index m = static_cast<Index>(rows.size()), fresh = static_cast<Index>(fresh_.size());
    const Index block = std::min<Index>(kernel_->block(), rows_at_once);
    // Narrow data go in steps, with the prepared rows kept from step to step; others are prepared
    // once and take all columns.
    const bool narrow = kernel_->threads_allowed() && kernel_->cost() < narrow_cost;
    const Index step = narrow ? step_columns : count;
    const Index blocks = (fresh + block - 1) / block;
    const Index stride = round_up(step, kernel_->panel());
    w.tile.require(block * stride);
    w.row.resize(static_cast<std::size_t>(m));
    for (Index at = 0; at < count; at += step) {
      const Index columns = std::min(step, count - at), begin = from + at;
      for (Index r = 0; r < m; ++r) w.row[r] = rows[r].known ? rows[r].own + begin : nullptr;
      Index done = 0;
      for (Index b = 0; b < blocks; ++b) {
        if (limits_.leave(worker)) return false;
        const Index first = b * block, last = std::min(fresh, first + block);
        fill_tile(worker, narrow ? b : 0, !narrow || at == 0, first, last, begin, columns, stride);
        const Index next = last < fresh ? fresh_[last] : m;
        ops<T>().axpy_rows(out + begin, w.row.data() + done, coef_.data() + done,
                           static_cast<int>(next - done), columns);
        done = next;
      }
      if (blocks == 0 && limits_.leave(worker)) return false;
      if (done < m)
        ops<T>().axpy_rows(out + begin, w.row.data() + done, coef_.data() + done,
                           static_cast<int>(m - done), columns);
    }
    return true;
  }

  /// Values of the rows fresh_[first, last): picked out of longer rows, or computed.
  void fill_tile(int worker, Index number, bool prepare, Index first, Index last, Index begin,
                 Index columns, Index stride) {
    Scratch& w = scratch_[worker];
    Query<T>& query = query_of(worker, number);
    w.id.clear();
    Index computed = 0;
    for (Index f = first; f < last; ++f)
      if (!rows[fresh_[f]].longer) w.id.push_back(rows[fresh_[f]].row), ++computed;
    if (computed > 0 && prepare) kernel_->prepare(query, w.id.data(), static_cast<int>(computed));
    if (computed > 0) kernel_->tile(query, begin, columns, w.tile.data(), stride);
    Index at = 0, picked = computed;
    for (Index f = first; f < last; ++f) {
      const Row& r = rows[fresh_[f]];
      T* tile = w.tile.data() + (r.longer ? picked++ : at++) * stride;
      if (r.longer)
        for (Index k = 0; k < columns; ++k) tile[k] = r.longer[object_[begin + k]];
      if (r.own) std::copy_n(tile, columns, r.own + begin);
      w.row[fresh_[f]] = tile;
    }
  }

  Limits& limits_;
  int threads_;
  std::vector<Scratch> scratch_;
  const Evaluator<T>* kernel_ = nullptr;
  const Index* object_ = nullptr;
  std::vector<Index> fresh_;  ///< rows that are not known over these columns
  std::vector<double> coef_;
};

}  // namespace mercer
