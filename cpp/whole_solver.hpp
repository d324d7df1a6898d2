// SMO on all variables of a small problem; see decomposition.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

#include "decomposition.hpp"
#include "extrapolation.hpp"
#include "isa/dispatch.hpp"
#include "polish.hpp"
#include "row_sum.hpp"
#include "solver_parts.hpp"
#include "thread_pool.hpp"

namespace mercer {

/// SMO on all variables; kernel rows appear when a pair first needs them.
template <class T>
class WholeSolver {
 public:
  /// `rows`: see decomposition.hpp.
  WholeSolver(const Problem& p, const Evaluator<T>& kernel, const std::vector<Index>& rows,
              const Settings& s, std::atomic<bool>* stop, Workspace<T>& workspace,
              RowStore<T>* store)
      : p_(p),
        kernel_(kernel),
        rows_(rows),
        settings_(s),
        limits_(s, stop),
        matrix_(workspace.matrix),
        gathered_(workspace.gathered),
        store_(store),
        pinned_(store),
        filler_(limits_, std::max(s.threads, 1)) {
    query_.pair.leave = [this] { return limits_.leave(0); };
  }

  Solution run(const std::vector<double>& start) {
    const Index n = p_.size();
    place();
    Leaving leaving([this] { return limits_.leave(0); });
    if (!slot_kernel_->diag(slot_diag_.data(), settings_.threads, leaving)) {
      Solution none = untouched(p_, start);
      limits_.reached(0, &none.status);
      return none;
    }
    require_finite(slot_diag_);
    Solution sol;
    sol.beta = start.empty() ? std::vector<double>(static_cast<std::size_t>(n), 0.0) : start;
    sol.values.assign(static_cast<std::size_t>(n), 0.0);
    for (Index i = 0; i < n; ++i)
      slots_.set(slot_[i], p_, i, sol.beta[i], 0.0, static_cast<double>(slot_diag_[slot_[i]]));
    sol.status = Status::optimal;
    try {
      iterate(sol, start.empty());
    } catch (const Left&) {  // inside a kernel row: the last complete step counts
      sol.n_iter += slots_.task.steps;
      sol.fresh = false;
      limits_.reached(sol.n_iter, &sol.status);
    }
    limits_.finish();
    if (!sol.fresh) {
      collect(sol);
      rebuild(sol);
    }
    assess(sol);
    if (polishes(sol) && (sol.status == Status::optimal || sol.status == Status::stalled)) {
      polish(sol);
      if (sol.violation <= settings_.tol) sol.status = Status::optimal;
    }
    if (sol.status == Status::optimal && !(sol.violation <= settings_.tol * 1.01) &&
        !(settings_.gap_tol > 0 && sol.relative_gap <= settings_.gap_tol))
      sol.status = Status::stalled;
    confirm(settings_, sol);
    sol.n_kernel_values = kernel_values_;
    sol.cache_hits = hits_;
    sol.cache_misses = misses_;
    return sol;
  }

 private:
  static constexpr Index burst = 50000;
  static constexpr double polished = 1e-12;
  /// A change of the objective, relative to it, that may be rounding.
  static constexpr double indifferent = 1e-9;
  static constexpr Index worth_shrinking = 256;
  /// Multiply-adds of a kernel value (about 6 ns) from which sharing single entries pays off.
  static constexpr double parts_cost = 256;
  /// Multiply-adds that take a few milliseconds.
  static constexpr double dear_rows = 2e7;

  /// Steps until a limit or the optimum is reached.
  void iterate(Solution& sol, bool from_zero) {
    const Index n = p_.size();
    slots_.task.steps = 0;
    if (!from_zero) rebuild(sol);
    InnerTask<T>& t = slots_.task;
    // In single precision the values drift a little: stop with room to spare.
    const double tol = t.tol = std::is_same_v<T, float> ? 0.6 * settings_.tol : settings_.tol;
    t.stop = limits_.flag();
    t.fetch = [](void* owner, Index slot) -> const T* {
      return static_cast<WholeSolver*>(owner)->fetch(slot);
    };
    t.owner = this;
    const bool unbounded = settings_.objective_floor > -infinite;
    const bool shrinking =
        settings_.shrinking && n >= worth_shrinking && !unbounded && settings_.gap_tol <= 0;
    double previous = infinite;
    Index checked = 0;
    for (int round = 0;; ++round) {
      if (limits_.reached(sol.n_iter, &sol.status)) break;
      const std::vector<double> before = unbounded ? beta_of() : std::vector<double>();
      t.max_steps = limits_.steps_left(sol.n_iter, unbounded     ? 20 * n + 100
                                                   : t.tol < tol ? n / 4 + 64
                                                   : shrinking   ? n / 16 + 32
                                                                 : burst);
      if (settings_.gap_tol > 0) t.max_steps = std::min(t.max_steps, std::max<Index>(n, 64));
      ops<T>().inner(t);
      const Index steps = std::exchange(t.steps, 0);
      sol.n_iter += steps;
      sol.fresh = sol.fresh && steps == 0;
      ++sol.outer;
      sol.negative_curvature |= t.negative_curvature;
      if (settings_.callback || settings_.gap_tol > 0 || unbounded) {
        if (!sol.fresh) collect(sol);
        assess(sol);
        if (settings_.callback && settings_.callback({sol.n_iter, sol.violation, sol.objective,
                                                      sol.relative_gap, n, hits_, misses_})) {
          sol.status = Status::interrupted;
          break;
        }
        if (settings_.gap_tol > 0 && sol.relative_gap <= settings_.gap_tol) break;
        if (unbounded && sol.objective < settings_.objective_floor) {
          sol.status = Status::infeasible;
          break;
        }
      }
      if (!(t.violation > tol)) {
        // The running values carry the rounding of every step: they suffice to see that the gap is
        // too large; recomputed ones confirm that it is small enough.
        if (!sol.fresh) collect(sol);
        assess(sol);
        const bool ended = steps == 0 && t.tol < tol;  // no step closes the gap
        if (ended || sol.violation > settings_.tol || closed<T>(settings_, sol)) {
          if (!sol.fresh) rebuild(sol);
          assess(sol);
          const bool met = sol.violation <= settings_.tol * (1 + 1e-9);
          if (met && (ended || closed<T>(settings_, sol))) break;
          if (!met && !(sol.violation < 0.5 * previous)) break;  // NaN: values overflowed
          if (!met) previous = sol.violation;
        }
        t.tol = std::min(tol, closing * sol.violation);
        continue;
      }
      if (limits_.interrupted()) continue;
      const bool long_run = sol.n_iter - checked >= burst;
      if (long_run) checked = sol.n_iter;
      if (long_run && polishes(sol)) {
        // Pair steps crawl on badly scaled problems; the free variables solve a linear system.
        collect(sol);
        rebuild(sol);
        assess(sol);
        polish(sol);
        restart_from(sol);
        if (sol.violation <= settings_.tol) break;
      }
      if (steps == 0 || (long_run && (t.violation <= noise() || !progress(sol)))) {
        sol.status = settings_.max_iter >= 0 && sol.n_iter >= settings_.max_iter
                         ? Status::iteration_limit
                         : Status::stalled;
        break;
      }
      if (unbounded) {
        extrapolate(before);
        extrapolate(std::vector<double>(slot_.size(), 0.0));
        sol.fresh = false;
      }
      if (shrinking) shrunk_pass(sol);
    }
  }

  void place() {
    const Index n = p_.size();
    Index count[2] = {0, 0};
    for (Index i = 0; i < n; ++i) ++count[p_.groups ? p_.group[i] : 0];
    slots_.layout(p_.groups, count);
    Index next[2] = {slots_.task.group_begin[0], slots_.task.group_begin[1]};
    slot_.resize(static_cast<std::size_t>(n));
    variable_.assign(static_cast<std::size_t>(slots_.task.size), 0);
    for (Index i = 0; i < n; ++i) {
      slot_[i] = next[p_.groups ? p_.group[i] : 0]++;
      variable_[slot_[i]] = i;
    }
    // Empty slots repeat the first object: their values are finite and never used.
    std::vector<Index> object = variable_;
    if (!rows_.empty())
      for (Index& i : object) i = rows_[i];
    const auto objects = kernel_.b().take(object.data(), slots_.task.size);
    slot_kernel_ = kernel_.on(objects, objects);
    if (store_) place_in_store(object);
    stride_ = slots_.task.size + slot_align;
    matrix_.require(slots_.task.size * stride_);
    slot_diag_.resize(static_cast<std::size_t>(slots_.task.size));
    if (!slot_kernel_->joint())
      batch_ = 1;
    else if (slot_kernel_->threads_allowed())
      batch_ = slot_kernel_->block() == sparse_block ? sparse_block
               : slot_kernel_->cost() >= 64          ? query_block
                                                     : 1;
    else
      batch_ = std::min(slot_kernel_->block(), 32);
  }

  /// Positions of the objects of the slots in the rows of the store.
  void place_in_store(const std::vector<Index>& object) {
    object_.clear();
    for (const Index i : object) object_.push_back(kernel_.b().id[i]);
    run_ = 0;
    while (run_ < static_cast<Index>(object_.size()) && object_[run_] == object_[0] + run_) ++run_;
    const Index n = p_.size(), all = store_->size();
    in_place_ = n == all && run_ >= n && object_[0] == 0 && slots_.task.size <= store_->stride();
    covers_ = 2 * n >= all;
    by_parts_ = !covers_ && kernel_.cost() >= parts_cost;
  }

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
    return slots_.task.rows[slot];
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
    else if (threads_for(count * slots_.task.size) > 1)
      compute_by_all_threads(rows);
    else
      compute(rows);
    for (Index r = 0; r < count; ++r) slots_.task.rows[wanted_[r]] = rows + r * stride_;
    used_ += count;
    misses_ += count;
  }

  /// One thread, unless these values take milliseconds.
  int threads_for(Index values) const {
    const double work = static_cast<double>(values) * slot_kernel_->cost();
    return work >= dear_rows && slot_kernel_->threads_allowed() ? settings_.threads : 1;
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
      slots_.task.rows[slot] = whole;
      return;
    }
    T* row = matrix_.data() + used_++ * stride_;
    std::copy_n(whole + object_[0], run_, row);
    for (Index s = run_; s < slots_.task.size; ++s) row[s] = whole[object_[s]];
    slots_.task.rows[slot] = row;
  }

  /// Rows of a problem on few of the store's objects: entries that other problems have left are
  /// taken, the others computed, in pieces, and left to others.
  void compute_parts(T* rows) {
    constexpr Index piece = 256;
    static_assert(piece % largest_panel == 0);
    const Index size = slots_.task.size, count = static_cast<Index>(wanted_.size());
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
      own_tile_.require(n * piece);
      slot_kernel_->prepare(query_, fresh_slots_.data(), n);
      for (std::size_t c = 0; c < lacks.size(); ++c) {
        if (!lacks[c]) continue;
        const Index begin = static_cast<Index>(c) * piece, width = std::min(piece, size - begin);
        slot_kernel_->tile(query_, begin, width, own_tile_.data(), piece);
        if (limits_.left()) throw Left();
        kernel_values_ += n * width;
        for (int k = 0; k < n; ++k) {
          const T* values = own_tile_.data() + k * piece;
          std::copy_n(values, width, rows + some[k] * stride_ + begin);
          if (T* to = shared[some[k]])
            for (Index s = 0; s < width; ++s) RowStore<T>::write(to, object_[begin + s], values[s]);
        }
      }
    }
  }

  // ---- rows of this problem alone

  void compute(T* rows) {
    const Index size = slots_.task.size;
    slot_kernel_->prepare(query_, wanted_.data(), static_cast<int>(wanted_.size()));
    slot_kernel_->tile(query_, 0, size, rows, stride_);
    if (limits_.left()) throw Left();
    kernel_values_ += static_cast<Index>(wanted_.size()) * size;
  }

  /// The rows of wanted_, which take milliseconds each.
  void compute_by_all_threads(T* rows) {
    const Index size = slots_.task.size, count = static_cast<Index>(wanted_.size());
    constexpr Index least = 64;
    static_assert(least % largest_panel == 0);
    const Index width = round_up(std::max(size / (4 * settings_.threads), least), least);
    std::vector<Query<T>> queries(static_cast<std::size_t>(std::max(settings_.threads, 1)));
    for (std::size_t w = 0; w < queries.size(); ++w)
      queries[w].pair.leave = [this, w] { return limits_.leave(static_cast<int>(w)); };
    const auto body = [&](Index task, int worker) {
      if (limits_.leave(worker)) return;
      Query<T>& q = queries[worker];
      slot_kernel_->prepare(q, wanted_.data(), static_cast<int>(count));
      slot_kernel_->tile(q, task * width, std::min(width, size - task * width), rows + task * width,
                         stride_);
    };
    parallel_for(settings_.threads, (size + width - 1) / width, body, [&] { limits_.leave(0); });
    if (limits_.left()) throw Left();
    kernel_values_ += count * size;
  }

  void add_violators() {
    const InnerTask<T>& t = slots_.task;
    candidates_.clear();
    for (int g = 0; g < std::max(p_.groups, 1); ++g) {
      const Range<T> range = range_of_group(g);
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

  /// The range (max down, min up) of a group; without an equality both ends are zero.
  Range<T> range_of_group(int g) const {
    const InnerTask<T>& t = slots_.task;
    if (p_.groups == 0) return {T(0), T(0)};
    return range_of<T>(t.values, t.up, t.down, t.group_begin[g], t.group_end[g]);
  }

  /// Goes on with the variables that can still take part in a violating pair. Their rows are
  /// gathered from the full ones, which stay for the values of all the others.
  void shrunk_pass(Solution& sol) {
    InnerTask<T>& t = slots_.task;
    kept_.clear();
    resting_.clear();
    Index count[2] = {0, 0};
    for (int g = 0; g < std::max(p_.groups, 1); ++g) {
      const Range<T> range = range_of_group(g);
      for (Index s = t.group_begin[g]; s < t.group_end[g]; ++s) {
        const bool idle =
            t.values[s] + t.up[s] > range.max_down && t.values[s] + t.down[s] < range.min_up;
        if (t.lower[s] > t.upper[s]) continue;
        if (!idle)
          kept_.push_back(s), ++count[g];
        else if (t.beta[s] != 0)
          resting_.push_back(s);
      }
    }
    if (10 * static_cast<Index>(kept_.size()) > 6 * p_.size()) return;
    shrunk_.layout(p_.groups, count);
    InnerTask<T>& small = shrunk_.task;
    gathered_.require(small.size * small.size);
    gathered_rows_ = 0;
    full_slot_.assign(static_cast<std::size_t>(small.size), 0);
    Index next[2] = {small.group_begin[0], small.group_begin[1]};
    for (std::size_t k = 0; k < kept_.size(); ++k) {
      const int g = p_.groups == 2 && kept_[k] >= t.group_begin[1] ? 1 : 0;
      const Index c = next[g]++;
      full_slot_[c] = kept_[k];
      shrunk_.copy(c, t, kept_[k]);
    }
    small.tol = t.tol;
    small.stop = t.stop;
    small.owner = this;
    small.fetch = [](void* owner, Index slot) -> const T* {
      return static_cast<WholeSolver*>(owner)->gather(slot);
    };
    bool left = false, open = true;
    for (Index most = burst; open && !left; most = small.size / 4 + 64) {
      small.max_steps = limits_.steps_left(sol.n_iter, most);
      small.steps = 0;
      try {
        ops<T>().inner(small);
      } catch (const Left&) {
        left = true;
      }
      sol.n_iter += small.steps;
      sol.negative_curvature |= small.negative_curvature;
      open = small.steps > 0 && !(small.violation > t.tol) && !limits_.out_of_time() &&
             !closed<T>(settings_, shrunk_gap(), small.violation);
      small.tol = closing * small.violation;
    }
    for (std::size_t k = 0, c = 0; k < kept_.size(); ++k, ++c) {
      if (p_.groups == 2 && kept_[k] >= t.group_begin[1] &&
          c < static_cast<std::size_t>(small.group_begin[1]))
        c = static_cast<std::size_t>(small.group_begin[1]);
      t.beta[kept_[k]] = small.beta[c];
    }
    if (left) throw Left();
    collect(sol);
    rebuild(sol);
  }

  /// The relative gap of the shrunk problem, with the terms that the other variables had before.
  /// These are in no violating pair, and contribute nothing to the gap itself.
  double shrunk_gap() const {
    const InnerTask<T>& t = shrunk_.task;
    double m[2] = {0, 0};
    for (int g = 0; g < p_.groups; ++g) {
      double sum = 0;
      Index count = 0;
      for (Index c = t.group_begin[g]; c < t.group_end[g]; ++c)
        if (t.lower[c] < t.beta[c] && t.beta[c] < t.upper[c] &&
            (t.beta[c] != t.kink[c] || t.slope_left[c] == t.slope_right[c]))
          sum += static_cast<double>(t.values[c] + t.up[c]), ++count;
      const Range<T> r = range_of<T>(t.values, t.up, t.down, t.group_begin[g], t.group_end[g]);
      m[g] = count ? sum / static_cast<double>(count)
                   : 0.5 * static_cast<double>(r.min_up + r.max_down);
    }
    double square = 0, gap = 0, scale = 0;
    const auto add = [&](const InnerTask<T>& from, Index slot, Index full) {
      const Index i = variable_[full];
      const double b = from.beta[slot], v = static_cast<double>(from.values[slot]);
      const double s = (p_.groups ? m[p_.group[i]] : 0.0) - v, c = p_.conjugate(i, s);
      square += b * v;
      scale += std::fabs(c);
      return c + p_.phi(i, b) - s * b;
    };
    for (int g = 0; g < std::max(p_.groups, 1); ++g)
      for (Index c = t.group_begin[g]; c < t.group_end[g]; ++c)
        if (t.lower[c] <= t.upper[c]) gap += add(t, c, full_slot_[c]);
    for (const Index s : resting_) add(slots_.task, s, s);
    return gap / (0.5 * std::fabs(square) + scale);
  }

  /// The row of a shrunk slot: the kept columns of the full row.
  const T* gather(Index slot) {
    InnerTask<T>& t = slots_.task;
    const Index s = full_slot_[slot];
    const T* full = t.rows[s] ? t.rows[s] : fetch(s);
    T* row = gathered_.data() + gathered_rows_++ * shrunk_.task.size;
    for (Index c = 0; c < shrunk_.task.size; ++c) row[c] = full[full_slot_[c]];
    shrunk_.task.rows[slot] = row;
    return row;
  }

  /// Bound on the rounding error of a difference of two values.
  double noise() const {
    double sum = 0, largest = 0;
    for (const Index k : slot_) {
      const double size = std::sqrt(std::fabs(slots_.task.diag[k]));
      sum += std::fabs(slots_.task.beta[k]) * size;
      largest = std::max(largest, size);
    }
    return 4 * static_cast<double>(std::numeric_limits<T>::epsilon()) * sum * largest;
  }

  /// Whether the objective decreased by more than its rounding error since the last call. Uses
  /// recomputed values: over millions of steps the running ones drift, and the objective with them.
  bool progress(Solution& sol) {
    collect(sol);
    rebuild(sol);
    assess(sol);
    const bool fell = objective_ - sol.objective > stagnation * std::fabs(sol.objective);
    objective_ = std::min(objective_, sol.objective);
    return fell;
  }

  /// Multipliers and gap of the solution, unless they are known.
  void assess(Solution& sol) {
    if (!assessed_) summarise(p_, sol);
    assessed_ = true;
  }

  std::vector<double> beta_of() const {
    std::vector<double> b(slot_.size());
    for (std::size_t i = 0; i < slot_.size(); ++i) b[i] = slots_.task.beta[slot_[i]];
    return b;
  }

  void collect(Solution& sol) {
    assessed_ = false;
    for (std::size_t i = 0; i < slot_.size(); ++i) {
      sol.beta[i] = slots_.task.beta[slot_[i]];
      sol.values[i] = static_cast<double>(slots_.task.values[slot_[i]]);
    }
  }

  /// Recomputes values = K beta in float64, for the solution and the slots.
  void rebuild(Solution& sol) {
    assessed_ = false;
    const Index size = slots_.task.size;
    if (!fetch_support(sol)) {
      std::fill(sol.values.begin(), sol.values.end(), std::numeric_limits<double>::quiet_NaN());
      return;
    }
    std::vector<const T*> rows;
    std::vector<double> coef;
    for (Index i = 0; i < p_.size(); ++i) {
      if (sol.beta[i] == 0) continue;
      rows.push_back(slots_.task.rows[slot_[i]]);
      coef.push_back(sol.beta[i]);
    }
    std::vector<double> f(static_cast<std::size_t>(size), 0.0);
    ops<T>().axpy_rows(f.data(), rows.data(), coef.data(), static_cast<int>(rows.size()), size);
    for (Index i = 0; i < p_.size(); ++i) {
      sol.values[i] = f[slot_[i]];
      slots_.task.values[slot_[i]] = static_cast<T>(f[slot_[i]]);
    }
    sol.fresh = true;
  }

  /// The rows of all variables that are not zero, several at a time; false when interrupted.
  bool fetch_support(const Solution& sol) {
    const auto most = static_cast<std::size_t>(std::min<Index>(slot_kernel_->block(), 32));
    wanted_.clear();
    for (Index i = 0; i < p_.size(); ++i) {
      if (sol.beta[i] != 0 && !slots_.task.rows[slot_[i]]) wanted_.push_back(slot_[i]);
      if (wanted_.size() == most || (i + 1 == p_.size() && !wanted_.empty())) {
        if (limits_.impatient()) return false;
        try {
          fetch_wanted();
        } catch (const Left&) {
          if (limits_.finishing()) return false;
          throw;
        }
        wanted_.clear();
      }
    }
    return true;
  }

  bool polishes(const Solution& sol) const {
    return std::is_same_v<T, double> && settings_.gap_tol <= 0 && !sol.negative_curvature;
  }

  /// Copies the solution into the slots.
  void restart_from(Solution& sol) {
    for (Index i = 0; i < p_.size(); ++i) slots_.task.beta[slot_[i]] = sol.beta[i];
    rebuild(sol);
  }

  /// Polishes the free variables by a linear system, alternating with SMO. Keeps the best point of
  /// those that do not raise the objective, as a saddle point of an indefinite kernel does.
  void polish(Solution& sol) {
    InnerTask<T>& t = slots_.task;
    const double tol = t.tol, most = sol.objective + indifferent * std::fabs(sol.objective);
    const auto kernel = [&](Index i, Index j) {
      const T* row = t.rows[slot_[i]] ? t.rows[slot_[i]] : fetch(slot_[i]);
      return static_cast<double>(row[slot_[j]]);
    };
    Solution best = sol;
    constexpr int rounds = 12;
    try {
      for (int round = 0; round < rounds && best.violation > polished; ++round) {
        const double part = polish_step(p_, kernel, sol);
        if (part == 0) break;
        rebuild(sol);
        assess(sol);
        if (part == 1) {
          if (sol.violation < best.violation && sol.objective <= most)
            best = sol;
          else if (round > rounds / 2)
            break;
          for (Index i = 0; i < p_.size(); ++i) t.beta[slot_[i]] = sol.beta[i];
          t.tol = std::max(polished, 1e-3 * sol.violation);
          t.max_steps = limits_.steps_left(sol.n_iter, 4 * p_.size());
          ops<T>().inner(t);
          const Index steps = std::exchange(t.steps, 0);
          sol.n_iter += steps;
          best.n_iter = sol.n_iter;
          if (steps > 0) {
            collect(sol);
            rebuild(sol);
            assess(sol);
            if (sol.violation < best.violation && sol.objective <= most) best = sol;
          }
        }
      }
    } catch (const Left&) {  // the best point so far is what counts
    }
    sol = std::move(best);
    t.tol = tol;
  }

  /// A long step along beta - before: the progress of the last burst, or beta itself.
  void extrapolate(const std::vector<double>& before) {
    InnerTask<T>& t = slots_.task;
    std::vector<const T*> rows;
    std::vector<double> delta;
    for (std::size_t i = 0; i < slot_.size(); ++i) {
      const Index s = slot_[i];
      if (t.beta[s] == before[i]) continue;
      rows.push_back(t.rows[s] ? t.rows[s] : fetch(s));
      delta.push_back(t.beta[s] - before[i]);
    }
    std::vector<double> f(static_cast<std::size_t>(t.size), 0.0);
    ops<T>().axpy_rows(f.data(), rows.data(), delta.data(), static_cast<int>(rows.size()), t.size);
    Extrapolation line;
    for (std::size_t i = 0; i < slot_.size(); ++i) {
      const Index s = slot_[i];
      line.add(p_, static_cast<Index>(i), t.beta[s], t.beta[s] - before[i],
               static_cast<double>(t.values[s]), f[s]);
    }
    const double step = line.step();
    if (step == 0) return;
    for (std::size_t i = 0; i < slot_.size(); ++i) {
      const Index s = slot_[i];
      t.beta[s] = std::clamp(t.beta[s] + step * (t.beta[s] - before[i]), t.lower[s], t.upper[s]);
    }
    for (Index s = 0; s < t.size; ++s)
      t.values[s] = static_cast<T>(static_cast<double>(t.values[s]) + step * f[s]);
  }

  const Problem& p_;
  const Evaluator<T>& kernel_;
  const std::vector<Index>& rows_;
  const Settings& settings_;
  Limits limits_;
  Slots<T> slots_;
  std::vector<Index> slot_, variable_;  ///< slot of a variable, variable of a slot
  std::shared_ptr<Evaluator<T>> slot_kernel_;
  std::vector<T> slot_diag_;
  Buffer<T>& matrix_;
  Index stride_ = 0, batch_ = 1;
  Index used_ = 0;  ///< rows of matrix_
  Index hits_ = 0, misses_ = 0;
  double objective_ = infinite;
  bool assessed_ = false;
  Slots<T> shrunk_;
  std::vector<Index> kept_, resting_;  ///< slots that are kept; others, at an outer bound
  std::vector<Index> full_slot_;       ///< of a shrunk slot
  Buffer<T>& gathered_;
  Index gathered_rows_ = 0;
  RowStore<T>* store_;    ///< or null
  PinnedRows<T> pinned_;  ///< rows of the store that serve as they are
  RowSum<T> filler_;
  std::vector<Index> object_;  ///< of a slot, its position in the store
  Index run_ = 0;              ///< slots whose objects stand one behind the other there
  bool in_place_ = false;      ///< whether rows of the store are rows of this problem
  bool covers_ = false;        ///< whether most columns of such a row are used
  bool by_parts_ = false;      ///< whether single entries are shared with other problems
  Index kernel_values_ = 0;
  Buffer<T> own_tile_;
  std::vector<Index> fresh_slots_;
  Query<T> query_;
  std::vector<Index> wanted_;
  std::vector<std::pair<T, Index>> candidates_;
};

}  // namespace mercer
