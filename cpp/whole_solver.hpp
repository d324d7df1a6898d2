// SMO on all variables of a small problem; see decomposition.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

#include "decomposition.hpp"
#include "isa/dispatch.hpp"
#include "polish.hpp"
#include "solver_parts.hpp"
#include "thread_pool.hpp"

namespace mercer {

/// SMO on all variables; kernel rows appear when a pair first needs them.
template <class T>
class WholeSolver {
 public:
  WholeSolver(const Problem& p, const Evaluator<T>& kernel, const Settings& s,
              std::atomic<bool>* stop, Workspace<T>& workspace)
      : p_(p),
        kernel_(kernel),
        settings_(s),
        limits_(s, stop),
        matrix_(workspace.matrix),
        gathered_(workspace.gathered),
        shared_(workspace.shared),
        segments_(workspace.segments) {
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
    } catch (const Left&) {  // in the middle of a kernel row: the last whole step stands
      sol.n_iter += slots_.task.steps;
      sol.fresh = false;
      limits_.reached(sol.n_iter, &sol.status);
    }
    limits_.finish();
    if (!sol.fresh) {
      collect(sol);
      rebuild(sol);
    }
    summarise(p_, sol);
    if (polishes(sol) && (sol.status == Status::optimal || sol.status == Status::stalled)) {
      polish(sol);
      if (sol.violation <= settings_.tol) sol.status = Status::optimal;
    }
    if (sol.status == Status::optimal && sol.violation > settings_.tol * 1.01 &&
        !(settings_.gap_tol > 0 && sol.relative_gap <= settings_.gap_tol))
      sol.status = Status::stalled;
    sol.n_kernel_values = kernel_values_;
    sol.cache_misses = misses_;
    return sol;
  }

 private:
  static constexpr Index burst = 50000;
  static constexpr double polished = 1e-12;
  static constexpr Index worth_shrinking = 256;
  /// Multiply-adds that take a few milliseconds.
  static constexpr double dear_rows = 2e7;

  /// Steps until a limit or the optimum is reached.
  void iterate(Solution& sol, bool from_zero) {
    const Index n = p_.size();
    slots_.task.steps = 0;
    if (!from_zero) rebuild(sol);
    InnerTask<T>& t = slots_.task;
    // In single precision the values drift a little: stop with room to spare.
    t.tol = std::is_same_v<T, float> ? 0.6 * settings_.tol : settings_.tol;
    t.stop = limits_.flag();
    t.fetch = [](void* owner, Index slot) -> const T* {
      return static_cast<WholeSolver*>(owner)->fetch(slot);
    };
    t.owner = this;
    const bool unbounded = settings_.objective_floor > -infinite;
    const bool shrinking = settings_.shrinking && n >= worth_shrinking && !unbounded &&
                           settings_.gap_tol <= 0 && !settings_.callback;
    double previous = infinite;
    Index checked = 0;
    for (int round = 0;; ++round) {
      if (limits_.reached(sol.n_iter, &sol.status)) break;
      const std::vector<double> before = unbounded ? beta_of() : std::vector<double>();
      t.max_steps = limits_.steps_left(sol.n_iter, unbounded   ? 20 * n + 100
                                                   : shrinking ? n / 4 + 64
                                                               : burst);
      if (settings_.gap_tol > 0) t.max_steps = std::min(t.max_steps, std::max<Index>(n, 64));
      ops<T>().inner(t);
      const Index steps = std::exchange(t.steps, 0);
      sol.n_iter += steps;
      sol.fresh = false;
      ++sol.outer;
      sol.negative_curvature |= t.negative_curvature;
      if (settings_.callback || settings_.gap_tol > 0 || unbounded) {
        collect(sol);
        summarise(p_, sol);
        if (settings_.callback && settings_.callback({sol.n_iter, sol.violation, sol.objective,
                                                      sol.relative_gap, n, 0, misses_})) {
          sol.status = Status::interrupted;
          break;
        }
        if (settings_.gap_tol > 0 && sol.relative_gap <= settings_.gap_tol) break;
        if (unbounded && sol.objective < settings_.objective_floor) {
          sol.status = Status::infeasible;
          break;
        }
      }
      if (!(t.violation > t.tol)) {
        // The running values carry the rounding of every step: confirm on fresh ones.
        collect(sol);
        rebuild(sol);
        summarise(p_, sol);
        if (sol.violation <= settings_.tol * (1 + 1e-9) || sol.violation >= 0.5 * previous) break;
        previous = sol.violation;
        continue;
      }
      if (limits_.interrupted()) continue;
      const bool long_run = sol.n_iter - checked >= burst;
      if (long_run) checked = sol.n_iter;
      if (long_run && polishes(sol)) {
        // Pair steps crawl on badly scaled problems; the free variables solve a linear system.
        collect(sol);
        rebuild(sol);
        summarise(p_, sol);
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
    std::vector<Index> object(static_cast<std::size_t>(slots_.task.size), 0);
    for (Index i = 0; i < n; ++i) {
      slot_[i] = next[p_.groups ? p_.group[i] : 0]++;
      object[slot_[i]] = i;
    }
    // A segment must be one run of slots too.
    std::erase_if(segments_, [&](PartSegment& g) {
      const Index first = slot_[g.begin];
      for (Index k = 1; k < g.count; ++k)
        if (slot_[g.begin + k] != first + k) return true;
      g.begin = first;
      return false;
    });
    // Empty slots repeat object 0: finite values that nothing ever uses.
    const auto objects = kernel_.b().take(object.data(), slots_.task.size);
    slot_kernel_ = kernel_.on(objects, objects);
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

  /// The row of a slot. Where several rows cost little more than one (sparse or wide data), the
  /// rows of the same part that violate optimality most come along: they are likely to be asked for
  /// next.
  const T* fetch(Index slot) {
    limits_.interrupted();  // the inner loop looks at the flag that this sets
    wanted_.assign(1, slot);
    if (batch_ > 1) add_violators();
    fetch_wanted();
    return slots_.task.rows[slot];
  }

  void fetch_wanted() {
    const Index count = static_cast<Index>(wanted_.size());
    // Rows stand in the order of their first use, so that memory is touched as it is needed.
    T* rows = matrix_.data() + misses_ * stride_;
    const double work = static_cast<double>(count * slots_.task.size) * slot_kernel_->cost();
    if (work >= dear_rows && segments_.empty() && slot_kernel_->threads_allowed()) {
      compute_by_all_threads(rows);
    } else {
      for (Index r = 0; r < count;) {
        const PartSegment* own = segment_of(wanted_[r]);
        Index end = r + 1;
        while (end < count && segment_of(wanted_[end]) == own) ++end;
        compute(wanted_.data() + r, end - r, own, rows + r * stride_);
        r = end;
      }
    }
    for (Index r = 0; r < count; ++r) slots_.task.rows[wanted_[r]] = rows + r * stride_;
    misses_ += count;
  }

  const PartSegment* segment_of(Index slot) const {
    for (const PartSegment& g : segments_)
      if (slot >= g.begin && slot < g.begin + g.count) return &g;
    return nullptr;
  }

  /// Rows of slots that all belong to the segment `own` or to none; over that segment they are
  /// shared with other problems.
  void compute(const Index* slots, Index count, const PartSegment* own, T* rows) {
    const Index size = slots_.task.size;
    const auto columns = [&](Index from, Index to) {
      const Index begin = from / slot_kernel_->panel() * slot_kernel_->panel();
      if (from >= to) return;
      slot_kernel_->tile(query_, begin, to - begin, rows + begin, stride_);
      if (limits_.left()) throw Left();
      kernel_values_ += count * (to - from);
    };
    slot_kernel_->prepare(query_, slots, static_cast<int>(count));
    if (!own) return columns(0, size);
    // Tiles may write a little into the segment, which is filled last.
    columns(0, own->begin);
    columns(own->begin + own->count, size);
    fresh_.clear();
    for (Index r = 0; r < count; ++r) {
      const T* known = shared_->find(own->part, slots[r] - own->begin);
      if (known)
        std::copy_n(known, own->count, rows + r * stride_ + own->begin);
      else
        fresh_.push_back(r);
    }
    if (fresh_.empty()) return;
    const Index panel = slot_kernel_->panel(), begin = own->begin / panel * panel;
    const Index width = own->begin + own->count - begin, wide = round_up(width, panel);
    fresh_slots_.clear();
    for (Index r : fresh_) fresh_slots_.push_back(slots[r]);
    own_tile_.require(static_cast<Index>(fresh_.size()) * wide);
    slot_kernel_->prepare(query_, fresh_slots_.data(), static_cast<int>(fresh_.size()));
    slot_kernel_->tile(query_, begin, width, own_tile_.data(), wide);
    if (limits_.left()) throw Left();
    kernel_values_ += static_cast<Index>(fresh_.size()) * own->count;
    for (std::size_t k = 0; k < fresh_.size(); ++k) {
      const T* row = own_tile_.data() + static_cast<Index>(k) * wide + (own->begin - begin);
      std::copy_n(row, own->count, rows + fresh_[k] * stride_ + own->begin);
      shared_->keep(own->part, fresh_slots_[k] - own->begin, row);
    }
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
    const PartSegment* own = segment_of(wanted_[0]);
    candidates_.clear();
    for (int g = 0; g < std::max(p_.groups, 1); ++g) {
      T lo = std::numeric_limits<T>::infinity(), hi = -lo;
      for (Index s = t.group_begin[g]; s < t.group_end[g]; ++s) {
        lo = std::min(lo, t.values[s] + t.up[s]);
        hi = std::max(hi, t.values[s] + t.down[s]);
      }
      if (p_.groups == 0) lo = hi = T(0);
      for (Index s = t.group_begin[g]; s < t.group_end[g]; ++s) {
        if (t.rows[s] || s == wanted_[0]) continue;
        if (own && (s < own->begin || s >= own->begin + own->count)) continue;
        const T v = std::max(hi - (t.values[s] + t.up[s]), t.values[s] + t.down[s] - lo);
        if (v > T(0)) candidates_.push_back({-v, s});
      }
    }
    const auto count =
        std::min<std::size_t>(static_cast<std::size_t>(batch_) - 1, candidates_.size());
    std::nth_element(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(count),
                     candidates_.end());
    for (std::size_t c = 0; c < count; ++c) wanted_.push_back(candidates_[c].second);
  }

  /// Goes on with the variables that can still take part in a violating pair. Their rows are
  /// gathered from the full ones, which stay for the values of all the others.
  void shrunk_pass(Solution& sol) {
    InnerTask<T>& t = slots_.task;
    kept_.clear();
    Index count[2] = {0, 0};
    for (int g = 0; g < std::max(p_.groups, 1); ++g) {
      T lo = std::numeric_limits<T>::infinity(), hi = -lo;
      for (Index s = t.group_begin[g]; s < t.group_end[g]; ++s) {
        lo = std::min(lo, t.values[s] + t.up[s]);
        hi = std::max(hi, t.values[s] + t.down[s]);
      }
      if (p_.groups == 0) lo = hi = T(0);
      for (Index s = t.group_begin[g]; s < t.group_end[g]; ++s) {
        const bool idle = t.values[s] + t.up[s] > hi && t.values[s] + t.down[s] < lo;
        if (!idle && t.lower[s] <= t.upper[s]) kept_.push_back(s), ++count[g];
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
    small.max_steps = limits_.steps_left(sol.n_iter, burst);
    small.steps = 0;
    bool left = false;
    try {
      ops<T>().inner(small);
    } catch (const Left&) {
      left = true;
    }
    sol.n_iter += small.steps;
    sol.negative_curvature |= small.negative_curvature;
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

  /// What rounding alone may add to a difference of two values.
  double noise() const {
    double sum = 0, largest = 0;
    for (const Index k : slot_) {
      const double size = std::sqrt(std::fabs(slots_.task.diag[k]));
      sum += std::fabs(slots_.task.beta[k]) * size;
      largest = std::max(largest, size);
    }
    return 4 * static_cast<double>(std::numeric_limits<T>::epsilon()) * sum * largest;
  }

  /// Whether the objective fell by more than its rounding since the last call.
  /// Fresh values: over millions of steps the running ones drift, and an objective with them.
  bool progress(Solution& sol) {
    collect(sol);
    rebuild(sol);
    summarise(p_, sol);
    const bool fell = objective_ - sol.objective > stagnation * std::fabs(sol.objective);
    objective_ = std::min(objective_, sol.objective);
    return fell;
  }

  std::vector<double> beta_of() const {
    std::vector<double> b(slot_.size());
    for (std::size_t i = 0; i < slot_.size(); ++i) b[i] = slots_.task.beta[slot_[i]];
    return b;
  }

  void collect(Solution& sol) const {
    for (std::size_t i = 0; i < slot_.size(); ++i) {
      sol.beta[i] = slots_.task.beta[slot_[i]];
      sol.values[i] = static_cast<double>(slots_.task.values[slot_[i]]);
    }
  }

  /// values = K beta, afresh and in float64, for the solution and the slots.
  void rebuild(Solution& sol) {
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

  /// Puts the slots where the solution is.
  void restart_from(Solution& sol) {
    for (Index i = 0; i < p_.size(); ++i) slots_.task.beta[slot_[i]] = sol.beta[i];
    rebuild(sol);
  }

  /// Solves for the free variables; SMO mends the others in between. Keeps the best point seen.
  void polish(Solution& sol) {
    InnerTask<T>& t = slots_.task;
    const double tol = t.tol;
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
        summarise(p_, sol);
        if (part == 1) {
          if (sol.violation < best.violation)
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
            summarise(p_, sol);
            if (sol.violation < best.violation) best = sol;
          }
        }
      }
    } catch (const Left&) {  // the best point so far is what counts
    }
    sol = std::move(best);
    t.tol = tol;
  }

  /// A long step along beta - before: the progress of the last burst, or beta itself. On data that
  /// no function can fit exactly the dual is unbounded, and pair steps alone would climb for ever.
  void extrapolate(const std::vector<double>& before) {
    InnerTask<T>& t = slots_.task;
    double slope = 0, curve = 0, limit = 1e9;
    std::vector<const T*> rows;
    std::vector<double> delta;
    for (std::size_t i = 0; i < slot_.size(); ++i) {
      const Index s = slot_[i];
      const double d = t.beta[s] - before[i];
      if (d == 0) continue;
      if (d > 0)
        limit = std::min(limit, (t.upper[s] - t.beta[s]) / d);
      else
        limit = std::min(limit, (t.lower[s] - t.beta[s]) / d);
      if ((d > 0 && t.beta[s] < t.kink[s]) || (d < 0 && t.beta[s] > t.kink[s]))
        limit = std::min(limit, (t.kink[s] - t.beta[s]) / d);
      rows.push_back(t.rows[s] ? t.rows[s] : fetch(s));
      delta.push_back(d);
    }
    if (rows.empty() || !(limit > 0)) return;
    std::vector<double> f(static_cast<std::size_t>(t.size), 0.0);
    ops<T>().axpy_rows(f.data(), rows.data(), delta.data(), static_cast<int>(rows.size()), t.size);
    for (std::size_t i = 0; i < slot_.size(); ++i) {
      const Index s = slot_[i];
      const double d = t.beta[s] - before[i];
      if (d == 0) continue;
      const auto k = static_cast<Index>(i);
      slope += d * (static_cast<double>(t.values[s]) +
                    (d > 0 ? p_.slope_up(k, t.beta[s]) : p_.slope_down(k, t.beta[s])));
      curve += d * (f[s] + d * (t.beta[s] >= t.kink[s] ? t.curv_right[s] : t.curv_left[s]));
    }
    if (!(slope < 0)) return;
    const double step = curve > 0 ? std::min(limit, -slope / curve) : limit;
    if (!(step > 0)) return;
    for (std::size_t i = 0; i < slot_.size(); ++i) {
      const Index s = slot_[i];
      t.beta[s] = std::clamp(t.beta[s] + step * (t.beta[s] - before[i]), t.lower[s], t.upper[s]);
    }
    for (Index s = 0; s < t.size; ++s)
      t.values[s] = static_cast<T>(static_cast<double>(t.values[s]) + step * f[s]);
  }

  const Problem& p_;
  const Evaluator<T>& kernel_;
  const Settings& settings_;
  Limits limits_;
  Slots<T> slots_;
  std::vector<Index> slot_;
  std::shared_ptr<Evaluator<T>> slot_kernel_;
  std::vector<T> slot_diag_;
  Buffer<T>& matrix_;
  Index stride_ = 0, batch_ = 1, misses_ = 0;
  double objective_ = infinite;
  Slots<T> shrunk_;
  std::vector<Index> kept_, full_slot_;  ///< kept full slots; full slot of a shrunk one
  Buffer<T>& gathered_;
  Index gathered_rows_ = 0;
  SharedRows<T>* shared_;
  std::vector<PartSegment> segments_;  ///< in slots
  Index kernel_values_ = 0;
  Buffer<T> own_tile_;
  std::vector<Index> fresh_, fresh_slots_;
  Query<T> query_;
  std::vector<Index> wanted_;
  std::vector<std::pair<T, Index>> candidates_;
};

}  // namespace mercer
