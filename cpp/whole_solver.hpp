// SMO on all variables of a small problem; see decomposition.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

#include "decomposition.hpp"
#include "extrapolation.hpp"
#include "isa/dispatch.hpp"
#include "polish.hpp"
#include "slot_rows.hpp"
#include "solver_parts.hpp"

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
        rows_(rows),
        settings_(s),
        limits_(s, stop),
        slot_rows_(kernel, s, limits_, slots_.task, workspace.matrix, store),
        gathered_(workspace.gathered) {}

  Solution run(const std::vector<double>& start) {
    const Index n = p_.size();
    place();
    Leaving leaving([this] { return limits_.leave(0); });
    std::vector<T> diagonal(static_cast<std::size_t>(slots_.task.size));
    if (!slot_rows_.kernel().diag(diagonal.data(), settings_.threads, leaving)) {
      Solution none = untouched(p_, start);
      limits_.reached(0, &none.status);
      return none;
    }
    require_finite(diagonal);
    Solution sol;
    sol.beta = start.empty() ? std::vector<double>(static_cast<std::size_t>(n), 0.0) : start;
    sol.values.assign(static_cast<std::size_t>(n), 0.0);
    for (Index i = 0; i < n; ++i)
      slots_.set(slot_[i], p_, i, sol.beta[i], 0.0, static_cast<double>(diagonal[slot_[i]]));
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
    sol.n_kernel_values = slot_rows_.computed();
    sol.cache_hits = slot_rows_.hits();
    sol.cache_misses = slot_rows_.misses();
    return sol;
  }

 private:
  static constexpr Index burst = 50000;
  static constexpr double polished = 1e-12;
  /// A change of the objective, relative to it, that may be rounding.
  static constexpr double indifferent = 1e-9;
  static constexpr Index worth_shrinking = 256;

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
      return static_cast<SlotRows<T>*>(owner)->fetch(slot);
    };
    t.owner = &slot_rows_;
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
        if (settings_.callback &&
            settings_.callback({sol.n_iter, sol.violation, sol.objective, sol.relative_gap, n,
                                slot_rows_.hits(), slot_rows_.misses()})) {
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
          if (!met) {
            previous = sol.violation;
            continue;
          }
        }
        t.tol = closing * sol.violation;
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
    slot_rows_.place(object, p_.size());
  }

  /// Goes on with the variables that can still take part in a violating pair. Their rows are
  /// gathered from the full ones, which stay for the values of all the others.
  void shrunk_pass(Solution& sol) {
    InnerTask<T>& t = slots_.task;
    kept_.clear();
    resting_.clear();
    Index count[2] = {0, 0};
    for (int g = 0; g < std::max(p_.groups, 1); ++g) {
      const Range<T> range = range_of_group(t, g);
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
    const T* full = t.rows[s] ? t.rows[s] : slot_rows_.fetch(s);
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

  /// The rows of all variables that are not zero; false when interrupted.
  bool fetch_support(const Solution& sol) {
    std::vector<Index> missing;
    for (Index i = 0; i < p_.size(); ++i)
      if (sol.beta[i] != 0 && !slots_.task.rows[slot_[i]]) missing.push_back(slot_[i]);
    return slot_rows_.fetch_all(missing);
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
      const T* row = t.rows[slot_[i]] ? t.rows[slot_[i]] : slot_rows_.fetch(slot_[i]);
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
      rows.push_back(t.rows[s] ? t.rows[s] : slot_rows_.fetch(s));
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
  const std::vector<Index>& rows_;
  const Settings& settings_;
  Limits limits_;
  Slots<T> slots_;
  SlotRows<T> slot_rows_;
  std::vector<Index> slot_, variable_;  ///< slot of a variable, variable of a slot
  double objective_ = infinite;
  bool assessed_ = false;
  Slots<T> shrunk_;
  std::vector<Index> kept_, resting_;  ///< slots that are kept; others, at an outer bound
  std::vector<Index> full_slot_;       ///< of a shrunk slot
  Buffer<T>& gathered_;
  Index gathered_rows_ = 0;
};

}  // namespace mercer
