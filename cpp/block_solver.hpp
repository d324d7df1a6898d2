// Working sets and shrinking for large problems; see decomposition.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "decomposition.hpp"
#include "isa/dispatch.hpp"
#include "row_cache.hpp"
#include "solver_parts.hpp"
#include "thread_pool.hpp"

namespace mercer {

/// Columns one task of a gradient update owns.
inline constexpr Index task_columns = 1024;
static_assert(task_columns % largest_panel == 0);
/// Rows computed together, whatever a kernel would take in one call.
inline constexpr Index rows_at_once = 128;

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
    Leaving leaving([this] { return limits_.leave(0); });
    if (!full_kernel_.diag(full_diag_.data(), threads_, leaving)) {
      Solution none = untouched(full_, start);
      limits_.reached(0, &none.status);
      return none;
    }
    require_finite(full_diag_);
    sol_.fresh = start.empty() || rebuild();
    activate_all();
    choose_sizes();
    objective_ = starting_objective();
    sol_.status = Status::optimal;
    int since_shrink = 0, idle = 0;
    double checked = infinite;
    began_ = step_began_ = limits_.seconds();
    for (;;) {
      if (limits_.reached(sol_.n_iter, &sol_.status, time_to_finish())) break;
      if (objective_ < settings_.objective_floor) {
        sol_.status = Status::infeasible;
        break;
      }
      const double violation = extremes();
      if (report(violation)) break;
      if (settings_.gap_tol > 0 && active() == n && gap_reached()) break;
      if (!(violation > settings_.tol)) {
        if (sol_.fresh) break;
        // The running values carry the rounding of every step, and those of inactive variables
        // are old: confirm on fresh ones, which also are what a certificate is made of.
        write_back();
        if (!rebuild()) continue;
        activate_all();
        since_shrink = -1000000;  // the end is near: no further shrinking
        continue;
      }
      if (settings_.shrinking && settings_.gap_tol <= 0 && ++since_shrink >= shrink_every) {
        since_shrink = 0;
        shrink();
      }
      if (sol_.outer > 0 && sol_.outer % grow_every == 0) grow_set();
      select(violation);
      if (limits_.left() || limits_.interrupted()) continue;
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
      if (sol_.outer % 64 == 0) {
        if (!(checked - objective_ > stagnation * std::fabs(objective_))) {
          sol_.status = Status::stalled;
          break;
        }
        checked = objective_;
      }
    }
    write_back();
    limits_.finish();
    if (!sol_.fresh) rebuild();
    summarise(full_, sol_);
    sol_.n_kernel_values = kernel_values_;
    return std::move(sol_);
  }

 private:
  static constexpr int shrink_every = 4;
  static constexpr int grow_every = 32;
  static constexpr Index usual_set = 1024;
  /// Slots of a linear kernel, whose local matrix has 64 MB then.
  static constexpr Index largest_set = sizeof(T) == 4 ? 4096 : 2816;
  /// Multiply-adds of a kernel value that is computed as fast as it is fetched from memory.
  static constexpr double cheap = 64;
  /// Columns of a step for narrow data: its panels, tile and values share the first-level cache.
  static constexpr Index step_columns = 256;
  static_assert(step_columns % largest_panel == 0);
  static constexpr double narrow_cost = 64;
  /// Multiply-adds of a step that lasts a few tenths of a second.
  static constexpr double dear_step = 4e9;

  struct Scratch {
    std::vector<Query<T>> query;
    Buffer<T> tile;
    std::vector<const T*> row;
    std::vector<Index> id;
  };

  /// Prepared rows number k of a thread; they stay from step to step.
  Query<T>& query_of(int worker, Index k) {
    auto& all = scratch_[worker].query;
    while (static_cast<Index>(all.size()) <= k) {
      all.emplace_back();
      all.back().pair.leave = [this, worker] { return limits_.leave(worker); };
    }
    return all[static_cast<std::size_t>(k)];
  }

  /// A cheap kernel value is computed again in the time that storing and fetching it would take;
  /// dot products need no rows.
  static double useful_cache(const Evaluator<T>& kernel, double bytes) {
    return kernel.linear() || (kernel.threads_allowed() && kernel.cost() < cheap) ? 0 : bytes;
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
    idle_support_ = 0;
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
    fresh_set_ = true;
  }

  void refresh(Index k) {
    const Index i = active_[k];
    const double b = beta_[k];
    up_[k] = b < full_.upper[i] ? full_.slope_up(i, b) : infinite;
    down_[k] = b > full_.lower[i] ? full_.slope_down(i, b) : -infinite;
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
      min_up_[g] = infinite;
      max_down_[g] = -infinite;
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

  /// Values as a product with the present support: all of them, or after an interrupt, where time
  /// is short, those of inactive variables. False when it did not come to an end; what it did not
  /// reach has no value then, unless the solver kept one up to date.
  bool rebuild() {
    const Index n = full_.size();
    const bool hasty = sol_.status == Status::interrupted;
    std::vector<char> is_active(static_cast<std::size_t>(n), 0);
    for (Index i : active_) is_active[i] = 1;
    std::vector<Index> support, rows;
    std::vector<double> coef;
    for (Index i = 0; i < n; ++i) {
      if (sol_.beta[i] != 0) support.push_back(i), coef.push_back(sol_.beta[i]);
      if (hasty && !is_active[i]) rows.push_back(i);
    }
    const Index m = static_cast<Index>(support.size());
    const Index count = hasty ? static_cast<Index>(rows.size()) : n;
    std::vector<double> fresh(static_cast<std::size_t>(count), 0.0);
    bool complete = true;
    if (m > 0 && count > 0) {
      const auto a = hasty ? full_kernel_.b().take(rows.data(), count) : nullptr;
      const auto b = full_kernel_.b().take(support.data(), m);
      const auto kernel = a ? full_kernel_.on(a, b) : full_kernel_.on(full_kernel_.a(), b);
      const std::vector<Segment> all{{0, m, 1, 0, coef.data()}};
      const auto multiplier = kernel->multiplier(all, threads_, true);
      complete = kernel->product(*multiplier, fresh.data(), threads_, [&] {
        return (limits_.finishing() ? limits_.impatient() : limits_.leave(0)) || limits_.overdue();
      });
    }
    if (!full_kernel_.linear()) kernel_values_ += count * m;
    for (Index k = 0; k < count; ++k) {
      const Index i = hasty ? rows[k] : k;
      if (complete || !is_active[i]) sol_.values[i] = fresh[k];
    }
    sol_.fresh = complete && !hasty;
    return complete;
  }

  /// Seconds that another step and the values of the returned point will take, by the speed so far.
  double time_to_finish() {
    if (settings_.time_limit <= 0) return 0;
    const double now = limits_.seconds(), step = now - step_began_;
    step_began_ = now;
    if (sol_.outer == 0 || kernel_values_ == 0) return 0;
    Index support = idle_support_;
    for (const double b : beta_) support += b != 0;
    const double values = sol_.fresh || full_kernel_.linear()
                              ? 0
                              : static_cast<double>(support) * static_cast<double>(full_.size());
    return step + values * (now - began_) / static_cast<double>(kernel_values_);
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
    idle_support_ =
        std::count_if(sol_.beta.begin(), sol_.beta.end(), [](double b) { return b != 0; });
    for (const Index i : next) idle_support_ -= sol_.beta[i] != 0;
    active_ = std::move(next);
    load();
    extremes();
  }

  // ---- working set

  void choose_sizes() {
    const Index n = active();
    // A step computes a row for every variable it changes: a few at a time where rows are dear.
    const double row = static_cast<double>(n) * full_kernel_.cost();
    Index q = settings_.working_set > 0 ? settings_.working_set : std::max(usual_set, grown_);
    if (!full_kernel_.joint() && !full_kernel_.linear())
      q = std::min(q, static_cast<Index>(dear_step / row));
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

  /// Dot products change the values of all variables at the price of one row, so that the local
  /// matrix is what a step costs: a long run takes fewer and larger ones.
  void grow_set() {
    const Index now = slots_.task.size, n = active();
    if (!full_kernel_.linear() || settings_.working_set > 0 || now >= largest_set || now >= n)
      return;
    grown_ = std::min(2 * now, largest_set);
    for (const Index k : in_slot_)
      if (k >= 0) member_[k] = -1;
    choose_sizes();
    fresh_set_ = true;
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
    local_objects_ = objects_->take(object.data(), size);
    const auto kernel = kernel_->on(local_objects_, local_objects_);
    const Index fresh = static_cast<Index>(fresh_slots_.size());
    const Index block = std::min<Index>(kernel->block(), rows_at_once);
    const Index blocks = (fresh + block - 1) / block;
    const auto body = [&](Index b, int worker) {
      if (limits_.leave(worker)) return;
      Query<T>& q = query_of(worker, 0);
      const Index from = b * block, count = std::min(block, fresh - from);
      Buffer<T>& tile = scratch_[worker].tile;
      tile.require(block * local_stride_);
      kernel->prepare(q, fresh_slots_.data() + from, static_cast<int>(count));
      kernel->tile(q, 0, size, tile.data(), local_stride_);
      for (Index r = 0; r < count; ++r)
        std::copy_n(tile.data() + r * local_stride_, size,
                    local_.data() + fresh_slots_[from + r] * local_stride_);
    };
    parallel_for(threads_, blocks, body, [&] { limits_.leave(0); });
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
      change += full_.phi(i, t.beta[member_[k]]);
    }
    before_ = values_;
    if (!apply_change()) {  // interrupted: the step has not been taken
      values_ = before_;
      return 0;
    }
    for (std::size_t c = 0; c < changed_.size(); ++c) {
      const Index k = changed_[c];
      change += 0.5 * delta_[c] * values_[k];
      beta_[k] = t.beta[member_[k]];
      refresh(k);
    }
    objective_ += change;
    if (settings_.objective_floor > -infinite) extrapolate();
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

  /// values += sum over changed_ of delta * row. Returns false, with values half changed, when the
  /// user interrupts it.
  bool apply_change() {
    if (changed_.empty()) return true;
    sol_.fresh = false;
    return kernel_->linear() ? apply_weights() : apply_rows();
  }

  /// The same for dot products: one weight vector takes the place of all rows.
  bool apply_weights() {
    const Index n = active(), size = slots_.task.size;
    if (limits_.interrupted()) return false;
    std::vector<double> delta(static_cast<std::size_t>(size), 0.0);
    for (std::size_t c = 0; c < changed_.size(); ++c) delta[member_[changed_[c]]] = delta_[c];
    Weights<T> weights = kernel_->empty_weights();
    weights.set(*local_objects_, 0, size, delta.data(), 1, 0, threads_);
    parallel_for(threads_, (n + task_columns - 1) / task_columns, [&](Index task, int) {
      const Index from = task * task_columns;
      weights.add_values(*objects_, from, std::min(n, from + task_columns), values_.data() + from,
                         1);
    });
    return true;
  }

  /// With rows from the cache or computed on the way.
  bool apply_rows() {
    const Index n = active(), m = static_cast<Index>(changed_.size());
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
    const auto body = [&](Index task, int worker) {
      const Index from = task * width;
      apply_columns(worker, from, std::min(width, n - from));
    };
    parallel_for(threads_, (n + width - 1) / width, body, [&] { limits_.leave(0); });
    if (limits_.left()) return false;  // the end: nobody looks into the cache any more
    kernel_values_ += static_cast<Index>(missing_.size()) * n;
    return true;
  }

  /// The part of apply_rows for the columns [from, from + count). Rows are added in the order of
  /// changed_, whether they come from the cache or not, so the cache leaves no trace in the sums.
  void apply_columns(int worker, Index from, Index count) {
    Scratch& w = scratch_[worker];
    const Index m = static_cast<Index>(changed_.size());
    const Index missing = static_cast<Index>(missing_.size());
    const Index block = std::min<Index>(kernel_->block(), rows_at_once);
    // Narrow data go in steps, with the prepared rows kept from step to step; others are prepared
    // once and take all columns.
    const bool narrow = kernel_->threads_allowed() && kernel_->cost() < narrow_cost;
    const Index step = narrow ? step_columns : count;
    const Index blocks = (missing + block - 1) / block;
    const Index stride = round_up(step, kernel_->panel());
    w.tile.require(block * stride);
    w.row.resize(static_cast<std::size_t>(m));
    for (Index at = 0; at < count; at += step) {
      const Index columns = std::min(step, count - at);
      double* values = values_.data() + from + at;
      for (Index c = 0; c < m; ++c) w.row[c] = row_[c] ? row_[c] + from + at : nullptr;
      Index done = 0;
      for (Index b = 0; b < blocks; ++b) {
        if (limits_.leave(worker)) return;
        const Index first = b * block, rows = std::min(block, missing - first);
        Query<T>& query = query_of(worker, narrow ? b : 0);
        if (!narrow || at == 0) {
          w.id.resize(static_cast<std::size_t>(rows));
          for (Index r = 0; r < rows; ++r) w.id[r] = changed_[missing_[first + r]];
          kernel_->prepare(query, w.id.data(), static_cast<int>(rows));
        }
        kernel_->tile(query, from + at, columns, w.tile.data(), stride);
        for (Index r = 0; r < rows; ++r) {
          const Index c = missing_[first + r];
          const T* tile = w.tile.data() + r * stride;
          if (row_[c]) std::copy_n(tile, columns, row_[c] + from + at);
          w.row[c] = tile;
        }
        const Index next = first + rows < missing ? missing_[first + rows] : m;
        ops<T>().axpy_rows(values, w.row.data() + done, delta_.data() + done,
                           static_cast<int>(next - done), columns);
        done = next;
      }
      if (done < m)
        ops<T>().axpy_rows(values, w.row.data() + done, delta_.data() + done,
                           static_cast<int>(m - done), columns);
    }
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
  std::shared_ptr<Objects<T>> objects_, local_objects_;  ///< of the active set, of the slots
  std::shared_ptr<Evaluator<T>> kernel_;
  std::vector<double> beta_, values_, up_, down_, before_;
  Index begin_[2] = {0, 0}, end_[2] = {0, 0};
  double min_up_[2] = {0, 0}, max_down_[2] = {0, 0};

  RowCache<T> cache_;
  std::vector<Scratch> scratch_;
  Slots<T> slots_;
  Buffer<T> local_;
  Index local_stride_ = 0;
  double began_ = 0, step_began_ = 0;  ///< seconds, of the first and of the last step
  Index idle_support_ = 0;             ///< inactive variables that are not 0
  bool fresh_set_ = true;
  Index grown_ = 0;
  Index now_ = 0;
  std::vector<Index> member_;   ///< active position -> slot, -1 outside
  std::vector<Index> in_slot_;  ///< slot -> active position, -1 empty
  std::vector<Index> age_, fresh_slots_, chosen_, free_, changed_, missing_;
  std::vector<double> delta_;
  std::vector<T*> row_;
  std::vector<Candidate> rising_, falling_;
};

}  // namespace mercer
