#include "decomposition.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <type_traits>

#include "isa/dispatch.hpp"
#include "polish.hpp"
#include "row_cache.hpp"
#include "thread_pool.hpp"

namespace mercer {

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
/// Slots of a group start at a multiple of this (the widest vector of all paths).
constexpr Index slot_align = 32;
/// Up to this size SMO works on all variables at once.
constexpr Index small_size = 2048;
/// Columns one task of a gradient update owns.
constexpr Index task_columns = 1024;

/// An objective that falls by less than this part of itself over many steps no longer falls.
constexpr double stagnation = 1e-14;

using Clock = std::chrono::steady_clock;

/// Time, iteration and interrupt limits, asked at every outer step.
class Limits {
 public:
  Limits(const Settings& s, std::atomic<bool>* stop) : s_(s), stop_(stop) {}

  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
  /// True when the solver must stop; says why.
  bool reached(Index n_iter, Status* why) {
    if (stop_->load(std::memory_order_relaxed)) return *why = Status::interrupted, true;
    if (s_.interrupted && s_.interrupted()) {
      stop_->store(true);
      return *why = Status::interrupted, true;
    }
    if (s_.max_iter >= 0 && n_iter >= s_.max_iter) return *why = Status::iteration_limit, true;
    if (s_.time_limit > 0 && seconds() > s_.time_limit) return *why = Status::time_limit, true;
    return false;
  }
  Index steps_left(Index n_iter, Index wish) const {
    return s_.max_iter < 0 ? wish : std::min(wish, s_.max_iter - n_iter);
  }
  const std::atomic<bool>* flag() const { return stop_; }

 private:
  const Settings& s_;
  std::atomic<bool>* stop_;
  Clock::time_point begin_ = Clock::now();
};

/// The slots of an inner problem and their arrays.
template <class T>
class Slots {
 public:
  /// Room for `count[g]` variables of each group.
  void layout(int groups, const Index* count) {
    task.groups = groups;
    Index at = 0;
    for (int g = 0; g < std::max(groups, 1); ++g) {
      task.group_begin[g] = at;
      at += round_up(std::max<Index>(count[g], 1), slot_align);
      task.group_end[g] = at;
    }
    task.size = at;
    for (Buffer<T>* b : {&values_, &up_, &down_, &curve_up_, &curve_down_}) b->require(at);
    for (Buffer<double>* b : {&beta_, &lower_, &upper_, &slope_left_, &slope_right_, &curv_left_,
                              &curv_right_, &kink_, &diag_})
      b->require(at);
    rows_.assign(static_cast<std::size_t>(at), nullptr);
    task.values = values_.data();
    task.up = up_.data();
    task.down = down_.data();
    task.curve_up = curve_up_.data();
    task.curve_down = curve_down_.data();
    task.beta = beta_.data();
    task.lower = lower_.data();
    task.upper = upper_.data();
    task.slope_left = slope_left_.data();
    task.slope_right = slope_right_.data();
    task.curv_left = curv_left_.data();
    task.curv_right = curv_right_.data();
    task.kink = kink_.data();
    task.diag = diag_.data();
    task.rows = rows_.data();
    for (Index k = 0; k < at; ++k) clear(k);
  }

  /// Nobody lives here: lower > upper, no move possible.
  void clear(Index k) {
    values_[k] = T(0);
    up_[k] = std::numeric_limits<T>::infinity();
    down_[k] = -std::numeric_limits<T>::infinity();
    curve_up_[k] = curve_down_[k] = T(1);
    beta_[k] = 0;
    lower_[k] = 1;
    upper_[k] = -1;
    slope_left_[k] = slope_right_[k] = curv_left_[k] = curv_right_[k] = kink_[k] = 0;
    diag_[k] = 1;
  }

  void set(Index k, const Problem& p, Index i, double beta, double value, double diag) {
    values_[k] = static_cast<T>(value);
    beta_[k] = beta;
    lower_[k] = p.lower[i];
    upper_[k] = p.upper[i];
    slope_left_[k] = p.slope_left[i];
    slope_right_[k] = p.slope_right[i];
    curv_left_[k] = p.curv_left[i];
    curv_right_[k] = p.curv_right[i];
    kink_[k] = p.kink[i];
    diag_[k] = diag;
  }

  InnerTask<T> task;

 private:
  Buffer<T> values_, up_, down_, curve_up_, curve_down_;
  Buffer<double> beta_, lower_, upper_, slope_left_, slope_right_, curv_left_, curv_right_, kink_,
      diag_;
  std::vector<const T*> rows_;
};

// ------------------------------------------------------------------ small problems

/// SMO on all variables; kernel rows appear when a pair first needs them.
template <class T>
class WholeSolver {
 public:
  WholeSolver(const Problem& p, const Evaluator<T>& kernel, const Settings& s,
              std::atomic<bool>* stop, Workspace<T>& workspace)
      : p_(p), kernel_(kernel), settings_(s), limits_(s, stop), matrix_(workspace.matrix) {}

  Solution run(const std::vector<double>& start) {
    const Index n = p_.size();
    place();
    slot_kernel_->diag(slot_diag_.data());
    Solution sol;
    sol.beta = start.empty() ? std::vector<double>(static_cast<std::size_t>(n), 0.0) : start;
    sol.values.assign(static_cast<std::size_t>(n), 0.0);
    for (Index i = 0; i < n; ++i)
      slots_.set(slot_[i], p_, i, sol.beta[i], 0.0, static_cast<double>(slot_diag_[slot_[i]]));
    if (!start.empty()) rebuild(sol);
    InnerTask<T>& t = slots_.task;
    t.tol = settings_.tol;
    t.stop = limits_.flag();
    t.fetch = [](void* owner, Index slot) -> const T* {
      return static_cast<WholeSolver*>(owner)->fetch(slot);
    };
    t.owner = this;
    sol.status = Status::optimal;
    const bool unbounded = settings_.objective_floor > -inf;
    double previous = inf;
    for (int round = 0;; ++round) {
      if (limits_.reached(sol.n_iter, &sol.status)) break;
      const std::vector<double> before = unbounded ? beta_of() : std::vector<double>();
      t.max_steps = limits_.steps_left(sol.n_iter, unbounded ? 20 * n + 100 : burst);
      if (settings_.gap_tol > 0) t.max_steps = std::min(t.max_steps, std::max<Index>(n, 64));
      ops<T>().inner(t);
      sol.n_iter += t.steps;
      ++sol.outer;
      sol.negative_curvature |= t.negative_curvature;
      if (settings_.callback || settings_.gap_tol > 0 || unbounded) {
        collect(sol);
        summarise(p_, sol);
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
      if (!(t.violation > settings_.tol)) {
        // The running values carry the rounding of every step: confirm on fresh ones.
        collect(sol);
        if (round > 0 || t.steps > 0) rebuild(sol);
        summarise(p_, sol);
        if (sol.violation <= settings_.tol * (1 + 1e-9) || sol.violation >= previous) break;
        previous = sol.violation;
        continue;
      }
      if (t.steps == 0 || (t.steps >= burst && !progress(sol))) {
        sol.status = settings_.max_iter >= 0 && sol.n_iter >= settings_.max_iter
                         ? Status::iteration_limit
                         : Status::stalled;
        break;
      }
      if (unbounded) extrapolate(before);
    }
    collect(sol);
    rebuild(sol);
    summarise(p_, sol);
    if (std::is_same_v<T, double> && sol.status == Status::optimal && settings_.gap_tol <= 0 &&
        !sol.negative_curvature)
      polish(sol);
    if (sol.status == Status::optimal && sol.violation > settings_.tol * 1.01 &&
        !(settings_.gap_tol > 0 && sol.relative_gap <= settings_.gap_tol))
      sol.status = Status::stalled;
    sol.n_kernel_values = misses_ * n;
    sol.cache_hits = hits_;
    sol.cache_misses = misses_;
    return sol;
  }

 private:
  static constexpr Index burst = 50000;
  static constexpr double polished = 1e-12;

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
    // Empty slots repeat object 0: finite values that nothing ever uses.
    const auto objects = kernel_.b().take(object.data(), slots_.task.size);
    slot_kernel_ = kernel_.on(objects, objects);
    stride_ = slots_.task.size + slot_align;
    matrix_.require(slots_.task.size * stride_);
    slot_diag_.resize(static_cast<std::size_t>(slots_.task.size));
    if (slot_kernel_->threads_allowed())
      batch_ = slot_kernel_->block() == sparse_block ? sparse_block
               : slot_kernel_->cost() >= 64          ? query_block
                                                     : 1;
    else
      batch_ = slot_kernel_->block();
  }

  /// The row of a slot. Where several rows cost little more than one (sparse or wide data), the
  /// rows that violate optimality most come along: they are likely to be asked for next.
  const T* fetch(Index slot) {
    wanted_.assign(1, slot);
    if (batch_ > 1) add_violators();
    const Index size = slots_.task.size, count = static_cast<Index>(wanted_.size());
    tile_.require(batch_ * stride_);
    slot_kernel_->prepare(query_, wanted_.data(), static_cast<int>(count));
    if (count == 1) {
      slot_kernel_->tile(query_, 0, size, matrix_.data() + slot * stride_, stride_);
    } else {
      slot_kernel_->tile(query_, 0, size, tile_.data(), stride_);
      for (Index r = 0; r < count; ++r)
        std::copy_n(tile_.data() + r * stride_, size, matrix_.data() + wanted_[r] * stride_);
    }
    for (Index s : wanted_) slots_.task.rows[s] = matrix_.data() + s * stride_;
    misses_ += count;
    return slots_.task.rows[slot];
  }

  void add_violators() {
    const InnerTask<T>& t = slots_.task;
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

  /// Whether the objective fell by more than its rounding since the last call.
  bool progress(Solution& sol) {
    collect(sol);
    summarise(p_, sol);
    const bool fell = objective_ - sol.objective > stagnation * std::fabs(sol.objective);
    objective_ = sol.objective;
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
    std::vector<const T*> rows;
    std::vector<double> coef;
    for (Index i = 0; i < p_.size(); ++i) {
      if (sol.beta[i] == 0) continue;
      const Index s = slot_[i];
      rows.push_back(slots_.task.rows[s] ? slots_.task.rows[s] : fetch(s));
      coef.push_back(sol.beta[i]);
    }
    std::vector<double> f(static_cast<std::size_t>(size), 0.0);
    ops<T>().axpy_rows(f.data(), rows.data(), coef.data(), static_cast<int>(rows.size()), size);
    for (Index i = 0; i < p_.size(); ++i) {
      sol.values[i] = f[slot_[i]];
      slots_.task.values[slot_[i]] = static_cast<T>(f[slot_[i]]);
    }
  }

  /// Solves for the free variables; SMO mends the others in between. Keeps the best point seen.
  void polish(Solution& sol) {
    InnerTask<T>& t = slots_.task;
    const auto kernel = [&](Index i, Index j) {
      const T* row = t.rows[slot_[i]] ? t.rows[slot_[i]] : fetch(slot_[i]);
      return static_cast<double>(row[slot_[j]]);
    };
    Solution best = sol;
    constexpr int rounds = 12;
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
        sol.n_iter += t.steps;
        best.n_iter = sol.n_iter;
        if (t.steps > 0) {
          collect(sol);
          rebuild(sol);
          summarise(p_, sol);
          if (sol.violation < best.violation) best = sol;
        }
      }
    }
    sol = std::move(best);
  }

  /// A long step along the progress of the last burst. On data that no function can fit exactly
  /// the dual is unbounded, and pair steps alone would climb for ever.
  void extrapolate(const std::vector<double>& before) {
    InnerTask<T>& t = slots_.task;
    double slope = 0, curve = 0, limit = 1e6;
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
  Index stride_ = 0, batch_ = 1, hits_ = 0, misses_ = 0;
  double objective_ = inf;
  Query<T> query_;
  Buffer<T> tile_;
  std::vector<Index> wanted_;
  std::vector<std::pair<T, Index>> candidates_;
};

// ------------------------------------------------------------------ large problems

template <class T>
class BlockSolver {
 public:
  BlockSolver(const Problem& p, const Evaluator<T>& kernel, const Settings& s,
              std::atomic<bool>* stop)
      : full_(p),
        full_kernel_(kernel),
        settings_(s),
        limits_(s, stop),
        threads_(kernel.threads_allowed() ? std::max(s.threads, 1) : 1),
        cache_(p.size(), useful_cache(kernel, s.cache_bytes)),
        scratch_(static_cast<std::size_t>(threads_)) {}

  Solution run(const std::vector<double>& start) {
    const Index n = full_.size();
    sol_.beta = start.empty() ? std::vector<double>(static_cast<std::size_t>(n), 0.0) : start;
    sol_.values.assign(static_cast<std::size_t>(n), 0.0);
    sort_by_group();
    full_diag_.resize(static_cast<std::size_t>(n));
    full_kernel_.diag(full_diag_.data());
    if (!start.empty()) rebuild_all();
    activate_all();
    choose_sizes();
    objective_ = starting_objective();
    sol_.status = Status::optimal;
    int since_shrink = 0, idle = 0;
    double checked = inf;
    for (;;) {
      if (limits_.reached(sol_.n_iter, &sol_.status)) break;
      const double violation = extremes();
      if (report(violation)) break;
      if (settings_.gap_tol > 0 && active() == n && gap_reached()) break;
      if (!(violation > settings_.tol)) {
        write_back();
        if (active() < n) {
          rebuild_inactive();
          activate_all();
          since_shrink = -1000000;  // the end is near: no further shrinking
          continue;
        }
        break;
      }
      if (settings_.shrinking && settings_.gap_tol <= 0 && ++since_shrink >= shrink_every) {
        since_shrink = 0;
        shrink();
      }
      select(violation);
      const Index steps = solve_block(violation);
      sol_.n_iter += steps;
      ++sol_.outer;
      if (steps == 0) {
        if (++idle > 2) {
          sol_.status = settings_.max_iter >= 0 && sol_.n_iter >= settings_.max_iter
                            ? Status::iteration_limit
                            : Status::stalled;
          break;
        }
      } else {
        idle = 0;
      }
      if (objective_ < settings_.objective_floor) {
        sol_.status = Status::infeasible;
        break;
      }
      if (sol_.outer % 64 == 0) {
        if (!(checked - objective_ > stagnation * std::fabs(objective_))) {
          sol_.status = Status::stalled;
          break;
        }
        checked = objective_;
      }
    }
    write_back();
    if (active() < n) rebuild_inactive();
    summarise(full_, sol_);
    sol_.n_kernel_values = kernel_values_;
    return std::move(sol_);
  }

 private:
  static constexpr int shrink_every = 4;

  /// Fresh memory costs the system about as much as computing a cheap kernel value, so a cheap
  /// kernel keeps only the rows that come back soon.
  static double useful_cache(const Evaluator<T>& kernel, double bytes) {
    return kernel.cost() < 64 ? std::min(bytes, 128e6) : bytes;
  }

  // ---- the active set: everything below is indexed by position in active_

  Index active() const { return static_cast<Index>(active_.size()); }

  void sort_by_group() {
    const Index n = full_.size();
    order_.resize(static_cast<std::size_t>(n));
    std::iota(order_.begin(), order_.end(), Index(0));
    if (full_.groups == 2)
      std::stable_sort(order_.begin(), order_.end(),
                       [&](Index a, Index b) { return full_.group[a] < full_.group[b]; });
  }

  void activate_all() {
    active_ = order_;
    cache_.reset(active());
    load();
  }

  void load() {
    const Index n = active();
    const auto size = static_cast<std::size_t>(n);
    objects_ = full_kernel_.b().take(active_.data(), n);
    kernel_ = full_kernel_.on(objects_, objects_);
    beta_.resize(size);
    up_.resize(size);
    down_.resize(size);
    values_.resize(size);
    member_.assign(size, -1);
    begin_[0] = 0;
    end_[0] = begin_[1] = end_[1] = n;
    for (Index k = 0; k < n; ++k) {
      const Index i = active_[k];
      beta_[k] = sol_.beta[i];
      values_[k] = sol_.values[i];
      if (full_.groups == 2 && full_.group[i] == 1 && begin_[1] == n) end_[0] = begin_[1] = k;
      refresh(k);
    }
    set_.clear();
    fresh_set_ = true;
  }

  void refresh(Index k) {
    const Index i = active_[k];
    const double b = beta_[k];
    up_[k] = b < full_.upper[i] ? full_.slope_up(i, b) : inf;
    down_[k] = b > full_.lower[i] ? full_.slope_down(i, b) : -inf;
  }

  void write_back() {
    for (Index k = 0; k < active(); ++k) {
      sol_.beta[active_[k]] = beta_[k];
      sol_.values[active_[k]] = values_[k];
    }
  }

  int groups() const { return std::max(full_.groups, 1); }

  double extremes() {
    double worst = 0;
    for (int g = 0; g < groups(); ++g) {
      min_up_[g] = inf;
      max_down_[g] = -inf;
      if (end_[g] > begin_[g])
        ops<T>().extremes(values_.data() + begin_[g], up_.data() + begin_[g],
                          down_.data() + begin_[g], end_[g] - begin_[g], &min_up_[g],
                          &max_down_[g]);
      if (full_.groups == 0) {
        worst = std::max({0.0, max_down_[0], -min_up_[0]});
        min_up_[0] = max_down_[0] = 0;  // every move is judged against zero
      } else {
        worst = std::max(worst, max_down_[g] - min_up_[g]);
      }
    }
    return worst;
  }

  double starting_objective() const {
    double sum = 0;
    for (Index i = 0; i < full_.size(); ++i)
      sum += 0.5 * sol_.beta[i] * sol_.values[i] + full_.phi(i, sol_.beta[i]);
    return sum;
  }

  // ---- values from scratch

  /// values of the variables `rows`, as a product with the present support.
  void rebuild(const std::vector<Index>& rows) {
    std::vector<Index> support;
    std::vector<double> coef;
    for (Index i = 0; i < full_.size(); ++i)
      if (sol_.beta[i] != 0) support.push_back(i), coef.push_back(sol_.beta[i]);
    const Index m = static_cast<Index>(support.size()), n = static_cast<Index>(rows.size());
    if (m == 0) {
      for (Index i : rows) sol_.values[i] = 0;
      return;
    }
    const auto a = full_kernel_.b().take(rows.data(), n);
    const auto b = full_kernel_.b().take(support.data(), m);
    std::vector<double> out(rows.size());
    full_kernel_.on(a, b)->product({{0, m, 1, 0, coef.data()}}, out.data(), 1, threads_,
                                   settings_.interrupted);
    for (std::size_t k = 0; k < rows.size(); ++k) sol_.values[rows[k]] = out[k];
    kernel_values_ += n * m;
  }
  void rebuild_all() { rebuild(order_); }
  void rebuild_inactive() {
    std::vector<char> is_active(sol_.beta.size(), 0);
    for (Index i : active_) is_active[i] = 1;
    std::vector<Index> rows;
    for (Index i : order_)
      if (!is_active[i]) rows.push_back(i);
    rebuild(rows);
  }

  // ---- shrinking

  void shrink() {
    std::vector<Index> kept;
    kept.reserve(active_.size());
    for (int g = 0; g < groups(); ++g)
      for (Index k = begin_[g]; k < end_[g]; ++k) {
        const bool no_rise = values_[k] + up_[k] > max_down_[g];
        const bool no_fall = values_[k] + down_[k] < min_up_[g];
        if (!(no_rise && no_fall)) kept.push_back(k);
      }
    if (static_cast<double>(kept.size()) > 0.75 * static_cast<double>(active())) return;
    if (static_cast<Index>(kept.size()) < 2 * slot_align) return;
    write_back();
    std::vector<Index> next(kept.size());
    for (std::size_t k = 0; k < kept.size(); ++k) next[k] = active_[kept[k]];
    cache_.compact(kept);
    active_ = std::move(next);
    load();
    extremes();
  }

  // ---- working set

  void choose_sizes() {
    const Index n = active();
    Index q = settings_.working_set > 0 ? settings_.working_set : 1024;
    q = std::min(round_up(n, slot_align), std::max<Index>(q, 2 * slot_align));
    Index count[2] = {q, 0};
    if (full_.groups == 2) count[0] = count[1] = round_up(q / 2, slot_align);
    slots_.layout(full_.groups, count);
    const Index size = slots_.task.size;
    local_stride_ = size + slot_align;
    local_.reset(size * local_stride_);
    for (Index s = 0; s < size; ++s) slots_.task.rows[s] = local_.data() + s * local_stride_;
    in_slot_.assign(static_cast<std::size_t>(size), -1);
    age_.assign(static_cast<std::size_t>(size), 0);
  }

  /// Puts the worst violators into slots; members kept from before stay where they are.
  void select(double) {
    if (fresh_set_) {
      std::fill(in_slot_.begin(), in_slot_.end(), Index(-1));
      fresh_set_ = false;
    }
    ++now_;
    fresh_slots_.clear();
    for (int g = 0; g < groups(); ++g) {
      const Index first = slots_.task.group_begin[g], last = slots_.task.group_end[g];
      const Index room = last - first;
      Index vacant = 0;
      for (Index s = first; s < last; ++s) vacant += in_slot_[s] < 0;
      const Index quota = std::max(vacant, room / 2);
      rising_.clear();
      falling_.clear();
      for (Index k = begin_[g]; k < end_[g]; ++k) {
        const double u = values_[k] + up_[k], d = values_[k] + down_[k];
        if (full_.groups == 0) {
          const double v = std::max(-u, d);
          if (v > 0) rising_.push_back({-v, k});
        } else {
          if (u < max_down_[g]) rising_.push_back({u, k});
          if (d > min_up_[g]) falling_.push_back({-d, k});
        }
      }
      const Index half = full_.groups == 0 ? quota : (quota + 1) / 2;
      keep_best(rising_, quota);
      keep_best(falling_, quota);
      chosen_.clear();
      take_outside(rising_, half);
      take_outside(falling_, quota - static_cast<Index>(chosen_.size()));
      take_outside(rising_, quota - static_cast<Index>(chosen_.size()));
      place(first, last);
    }
    fill_local();
  }

  using Candidate = std::pair<double, Index>;

  static void keep_best(std::vector<Candidate>& c, Index count) {
    if (static_cast<Index>(c.size()) > count) {
      std::nth_element(c.begin(), c.begin() + count, c.end());
      c.resize(static_cast<std::size_t>(count));
    }
    std::sort(c.begin(), c.end());
  }

  void take_outside(const std::vector<Candidate>& c, Index count) {
    for (const Candidate& x : c) {
      if (count <= 0) return;
      if (member_[x.second] == -1) {
        member_[x.second] = -2;  // chosen, not placed yet
        chosen_.push_back(x.second);
        --count;
      }
    }
  }

  /// Slots for chosen_: empty ones first, then those of the oldest members.
  void place(Index first, Index last) {
    free_.clear();
    for (Index s = first; s < last; ++s) free_.push_back(s);
    std::stable_sort(free_.begin(), free_.end(), [&](Index a, Index b) {
      const bool ea = in_slot_[a] < 0, eb = in_slot_[b] < 0;
      return ea != eb ? ea : age_[a] < age_[b];
    });
    for (std::size_t c = 0; c < chosen_.size(); ++c) {
      const Index s = free_[c];
      if (in_slot_[s] >= 0) member_[in_slot_[s]] = -1;
      in_slot_[s] = chosen_[c];
      member_[chosen_[c]] = s;
      age_[s] = now_;
      fresh_slots_.push_back(s);
    }
  }

  /// Local kernel rows of the fresh slots, and their columns in the rows of the others.
  void fill_local() {
    const Index size = slots_.task.size;
    std::vector<Index> object(static_cast<std::size_t>(size), 0);
    for (Index s = 0; s < size; ++s)
      if (in_slot_[s] >= 0) object[s] = in_slot_[s];
    const auto objects = objects_->take(object.data(), size);
    const auto kernel = kernel_->on(objects, objects);
    const Index fresh = static_cast<Index>(fresh_slots_.size());
    const Index block = kernel->block();
    const Index blocks = (fresh + block - 1) / block;
    parallel_for(threads_, blocks, [&](Index b, int worker) {
      Query<T>& q = scratch_[worker].query;
      const Index from = b * block, count = std::min(block, fresh - from);
      Buffer<T>& tile = scratch_[worker].tile;
      tile.require(block * local_stride_);
      kernel->prepare(q, fresh_slots_.data() + from, static_cast<int>(count));
      kernel->tile(q, 0, size, tile.data(), local_stride_);
      for (Index r = 0; r < count; ++r)
        std::copy_n(tile.data() + r * local_stride_, size,
                    local_.data() + fresh_slots_[from + r] * local_stride_);
    });
    kernel_values_ += fresh * size;
    if (fresh == size) return;
    std::vector<char> is_fresh(static_cast<std::size_t>(size), 0);
    for (Index s : fresh_slots_) is_fresh[s] = 1;
    constexpr Index rows_per_task = 64;
    parallel_for(threads_, (size + rows_per_task - 1) / rows_per_task, [&](Index t, int) {
      const Index end = std::min(size, (t + 1) * rows_per_task);
      for (Index f : fresh_slots_) {
        const T* row = local_.data() + f * local_stride_;
        for (Index s = t * rows_per_task; s < end; ++s)
          if (!is_fresh[s]) local_[s * local_stride_ + f] = row[s];
      }
    });
  }

  // ---- one outer step

  Index solve_block(double violation) {
    InnerTask<T>& t = slots_.task;
    for (Index s = 0; s < t.size; ++s) {
      slots_.clear(s);
      const Index k = in_slot_[s];
      if (k >= 0)
        slots_.set(s, full_, active_[k], beta_[k], values_[k],
                   static_cast<double>(full_diag_[active_[k]]));
    }
    t.tol = std::max(0.1 * violation, 0.5 * settings_.tol);
    t.stop = limits_.flag();
    t.max_steps = limits_.steps_left(sol_.n_iter, 16 * t.size);
    ops<T>().inner(t);
    sol_.negative_curvature |= t.negative_curvature;
    changed_.clear();
    delta_.clear();
    for (Index s = 0; s < t.size; ++s) {
      const Index k = in_slot_[s];
      if (k >= 0 && t.beta[s] != beta_[k]) {
        changed_.push_back(k);
        delta_.push_back(t.beta[s] - beta_[k]);
      }
    }
    double change = 0;
    for (std::size_t c = 0; c < changed_.size(); ++c) {
      const Index k = changed_[c], i = active_[k];
      change += 0.5 * delta_[c] * values_[k] - full_.phi(i, beta_[k]);
      beta_[k] = t.beta[member_[k]];
      change += full_.phi(i, beta_[k]);
    }
    if (settings_.objective_floor > -inf) before_ = values_;
    apply_rows();
    for (std::size_t c = 0; c < changed_.size(); ++c) {
      change += 0.5 * delta_[c] * values_[changed_[c]];
      refresh(changed_[c]);
    }
    objective_ += change;
    if (settings_.objective_floor > -inf) extrapolate();
    return t.steps;
  }

  /// Repeats the last step as far as it still descends; see WholeSolver::extrapolate.
  void extrapolate() {
    double slope = 0, curve = 0, limit = 1e6;
    for (std::size_t c = 0; c < changed_.size(); ++c) {
      const Index k = changed_[c], i = active_[k];
      const double d = delta_[c], b = beta_[k];
      limit = std::min(limit, ((d > 0 ? full_.upper[i] : full_.lower[i]) - b) / d);
      if ((d > 0) == (b < full_.kink[i]) && b != full_.kink[i])
        limit = std::min(limit, (full_.kink[i] - b) / d);
      slope += d * (values_[k] + (d > 0 ? full_.slope_up(i, b) : full_.slope_down(i, b)));
      curve += d * (values_[k] - before_[k] +
                    d * (b >= full_.kink[i] ? full_.curv_right[i] : full_.curv_left[i]));
    }
    if (!(slope < 0) || !(limit > 0) || !std::isfinite(limit)) return;
    const double step = curve > 0 ? std::min(limit, -slope / curve) : limit;
    for (std::size_t c = 0; c < changed_.size(); ++c) {
      const Index k = changed_[c], i = active_[k];
      beta_[k] = std::clamp(beta_[k] + step * delta_[c], full_.lower[i], full_.upper[i]);
      refresh(k);
    }
    for (Index k = 0; k < active(); ++k) values_[k] += step * (values_[k] - before_[k]);
    objective_ += step * slope + 0.5 * step * step * curve;
  }

  /// values += sum over changed_ of delta * row, rows from the cache or computed on the way.
  void apply_rows() {
    const Index n = active(), m = static_cast<Index>(changed_.size());
    if (m == 0) return;
    const std::uint64_t fence = cache_.now();
    row_.assign(static_cast<std::size_t>(m), nullptr);
    missing_.clear();
    for (Index c = 0; c < m; ++c) {
      row_[c] = cache_.find(changed_[c]);
      if (!row_[c]) missing_.push_back(c);
    }
    sol_.cache_hits += m - static_cast<Index>(missing_.size());
    sol_.cache_misses += static_cast<Index>(missing_.size());
    for (Index c : missing_) row_[c] = cache_.insert(changed_[c], fence);
    const Index width = kernel_->threads_allowed() ? task_columns : round_up(n, kernel_->panel());
    const Index block = kernel_->block();
    parallel_for(threads_, (n + width - 1) / width, [&](Index task, int worker) {
      Scratch& w = scratch_[worker];
      const Index from = task * width, count = std::min(width, n - from);
      std::vector<const T*> rows(static_cast<std::size_t>(m));
      Index homeless = 0;
      for (Index c = 0; c < m; ++c) {
        if (row_[c])
          rows[c] = row_[c] + from;
        else
          ++homeless;
      }
      w.rows.require(homeless * width);
      w.tile.require(block * width);
      std::vector<Index> ids(static_cast<std::size_t>(block));
      Index next_home = 0;
      for (std::size_t b = 0; b < missing_.size(); b += static_cast<std::size_t>(block)) {
        const Index nq = std::min<Index>(block, static_cast<Index>(missing_.size() - b));
        for (Index r = 0; r < nq; ++r) ids[r] = changed_[missing_[b + r]];
        kernel_->prepare(w.query, ids.data(), static_cast<int>(nq));
        kernel_->tile(w.query, from, count, w.tile.data(), width);
        for (Index r = 0; r < nq; ++r) {
          const Index c = missing_[b + r];
          T* to = row_[c] ? row_[c] + from : w.rows.data() + width * next_home++;
          std::copy_n(w.tile.data() + r * width, count, to);
          rows[c] = to;
        }
      }
      ops<T>().axpy_rows(values_.data() + from, rows.data(), delta_.data(), static_cast<int>(m),
                         count);
    });
    kernel_values_ += static_cast<Index>(missing_.size()) * n;
  }

  // ---- reporting

  bool report(double violation) {
    if (!settings_.callback) return false;
    double gap = std::numeric_limits<double>::quiet_NaN();
    if (active() == full_.size()) {
      write_back();
      summarise(full_, sol_);
      gap = sol_.relative_gap;
    }
    if (settings_.callback({sol_.n_iter, violation, objective_, gap, active(), sol_.cache_hits,
                            sol_.cache_misses})) {
      sol_.status = Status::interrupted;
      return true;
    }
    return false;
  }

  bool gap_reached() {
    write_back();
    summarise(full_, sol_);
    return sol_.relative_gap <= settings_.gap_tol;
  }

  struct Scratch {
    Query<T> query;
    Buffer<T> tile, rows;
  };

  const Problem& full_;
  const Evaluator<T>& full_kernel_;
  const Settings& settings_;
  Limits limits_;
  int threads_;
  Solution sol_;
  double objective_ = 0;
  Index kernel_values_ = 0;
  std::vector<T> full_diag_;

  std::vector<Index> order_, active_;
  std::shared_ptr<Objects<T>> objects_;
  std::shared_ptr<Evaluator<T>> kernel_;
  std::vector<double> beta_, values_, up_, down_, before_;
  Index begin_[2] = {0, 0}, end_[2] = {0, 0};
  double min_up_[2] = {0, 0}, max_down_[2] = {0, 0};

  RowCache<T> cache_;
  std::vector<Scratch> scratch_;
  Slots<T> slots_;
  Buffer<T> local_;
  Index local_stride_ = 0;
  bool fresh_set_ = true;
  Index now_ = 0;
  std::vector<Index> member_;   ///< active position -> slot, -1 outside
  std::vector<Index> in_slot_;  ///< slot -> active position, -1 empty
  std::vector<Index> age_, set_, fresh_slots_, chosen_, free_, changed_, missing_;
  std::vector<double> delta_;
  std::vector<T*> row_;
  std::vector<Candidate> rising_, falling_;
};

void check(const Problem& p, const std::vector<double>& start) {
  const std::size_t n = p.lower.size();
  for (const auto* v :
       {&p.upper, &p.slope_left, &p.slope_right, &p.curv_left, &p.curv_right, &p.kink})
    if (v->size() != n) throw std::invalid_argument("problem arrays differ in length");
  if (p.groups && p.group.size() != n) throw std::invalid_argument("group has the wrong length");
  if (!start.empty() && start.size() != n)
    throw std::invalid_argument("start has the wrong length");
  for (std::size_t i = 0; i < n; ++i) {
    if (!(p.lower[i] <= p.upper[i])) throw std::invalid_argument("lower exceeds upper");
    if (p.groups && (p.group[i] < 0 || p.group[i] >= p.groups))
      throw std::invalid_argument("no such group");
    if (!start.empty() && !(start[i] >= p.lower[i] && start[i] <= p.upper[i]))
      throw std::invalid_argument("the start is outside the bounds");
  }
}

}  // namespace

bool is_small(Index n) {
  return n <= small_size;
}

template <class T>
Solution solve(const Problem& problem, const Evaluator<T>& kernel, const Settings& settings,
               const std::vector<double>& start, std::atomic<bool>* stop, Workspace<T>* workspace) {
  check(problem, start);
  if (kernel.cols() != problem.size() || kernel.rows() != problem.size())
    throw std::invalid_argument("the kernel has another number of objects than the problem");
  if (problem.size() == 0) return {};
  if (is_small(problem.size()))
    return WholeSolver<T>(problem, kernel, settings, stop, *workspace).run(start);
  return BlockSolver<T>(problem, kernel, settings, stop).run(start);
}

template Solution solve<float>(const Problem&, const Evaluator<float>&, const Settings&,
                               const std::vector<double>&, std::atomic<bool>*, Workspace<float>*);
template Solution solve<double>(const Problem&, const Evaluator<double>&, const Settings&,
                                const std::vector<double>&, std::atomic<bool>*, Workspace<double>*);

}  // namespace mercer
