// Working sets and shrinking for large problems; see decomposition.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "decomposition.hpp"
#include "extrapolation.hpp"
#include "isa/dispatch.hpp"
#include "row_cache.hpp"
#include "row_sum.hpp"
#include "solver_parts.hpp"
#include "thread_pool.hpp"

namespace mercer {

template <class T>
class BlockSolver {
 public:
  /// `store`: rows of a larger set of objects, in which those of the kernel have a number; or null.
  BlockSolver(const Problem& p, const Evaluator<T>& kernel, const Settings& s,
              std::atomic<bool>* stop, RowStore<T>* store)
      : full_(p),
        full_kernel_(kernel),
        settings_(s),
        limits_(s, stop),
        threads_(kernel.threads_allowed() ? std::max(s.threads, 1) : 1),
        sum_(limits_, threads_) {
    use_store(store);
  }

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
    definite_ = std::all_of(full_diag_.begin(), full_diag_.end(), [](T k) { return k > T(0); });
    sol_.fresh = start.empty();
    if (sol_.fresh)
      begin_sums();
    else
      rebuild();
    activate_all();
    choose_sizes();
    objective_ = starting_objective();
    sol_.status = Status::optimal;
    int since_shrink = 0, idle = 0;
    bool shrinks = settings_.shrinking && settings_.gap_tol <= 0;
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
        if (active() < n) {  // the values of the others are outdated
          write_back();
          if (!(accurate() && !store_ ? catch_up() : rebuild())) continue;
          activate_all();
          shrinks = false;  // the end is near
          continue;
        }
        // Running values suffice to see that the gap is too large. That it is small enough is
        // confirmed by values on which the certificate is based, without the rounding of each step.
        write_back();
        summarise(full_, sol_);
        if (closed<T>(settings_, sol_)) {
          if (sol_.fresh || accurate()) break;
          if (rebuild()) activate_all();
          continue;
        }
      }
      if (shrinks && ++since_shrink >= shrink_every) {
        since_shrink = 0;
        shrink();
      }
      if (sol_.outer > 0 && sol_.outer % grow_every == 0) grow_set();
      select();
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
    sol_.fresh = sol_.fresh || (active() == n && accurate());
    if (!sol_.fresh) rebuild();
    summarise(full_, sol_);
    confirm(settings_, sol_);
    sol_.n_kernel_values = kernel_values_;
    return std::move(sol_);
  }

 private:
  static constexpr int shrink_every = 4;
  static constexpr int grow_every = 32;
  static constexpr Index usual_set = 1024;
  /// Working-set size of a linear kernel: a local matrix of 64 MB.
  static constexpr Index largest_set = sizeof(T) == 4 ? 4096 : 2816;
  /// Multiply-adds of a step that lasts a few tenths of a second.
  static constexpr double dear_step = 4e9;

  // ---- kernel rows that are kept

  void use_store(RowStore<T>* store) {
    store_ = store;
    if (!store) {
      own_store_ =
          std::make_unique<RowStore<T>>(full_kernel_.on(full_kernel_.a(), full_kernel_.a()));
      store_ = own_store_.get();
    }
    const Index n = full_.size();
    full_object_.resize(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i) full_object_[i] = store ? full_kernel_.b().id[i] : i;
    if (!store_->useful()) {
      store_ = nullptr;
      return;
    }
    store_->allow(settings_.cache_bytes);
  }

  /// Whether a problem on these objects uses the columns of whole rows in their order.
  bool straight(const std::vector<Index>& object) const {
    if (!store_ || static_cast<Index>(object.size()) != store_->size()) return false;
    for (std::size_t k = 0; k < object.size(); ++k)
      if (object[k] != static_cast<Index>(k)) return false;
    return true;
  }

  /// Looks up the rows of a sum in the store. Missing rows are computed whole and stored if enough
  /// of their columns are used; `evict`: unused rows may be evicted for them.
  /// Returns false if the computation was aborted.
  bool find_rows(const std::vector<Index>& object, bool in_place, bool evict,
                 PinnedRows<T>& pinned) {
    if (!store_) return true;
    using Row = typename RowSum<T>::Row;
    for (Row& r : sum_.rows) {
      if (r.known) continue;
      const T* found = pinned.find(object[r.row]);
      if (found && in_place) {
        r.own = const_cast<T*>(found);  // known: never written to
        r.known = true;
      } else {
        r.longer = found;
      }
    }
    const Index columns = static_cast<Index>(object.size());
    if (!in_place && 2 * columns < store_->size()) return true;
    std::vector<Index> objects;
    std::vector<T*> room;
    for (Row& r : sum_.rows) {
      if (r.known || r.longer) continue;
      T* row = pinned.claim(object[r.row], evict);
      if (!row) continue;
      if (in_place) {
        r.own = row;  // computed on the way
      } else {
        objects.push_back(object[r.row]);
        room.push_back(row);
        r.longer = row;
      }
    }
    kernel_values_ += static_cast<Index>(objects.size()) * store_->size();
    return sum_.fill(store_->kernel(), objects, room, threads_);
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
    left_.clear();
    idle_support_ = 0;
    load();
    short_rows_ = RowCache<T>(0, 0);
    if (store_ && !in_place_)
      short_rows_ = RowCache<T>(active(), store_->left_of(settings_.cache_bytes));
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
    object_.resize(size);
    for (Index k = 0; k < n; ++k) object_[k] = full_object_[active_[k]];
    in_place_ = straight(object_);
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
      const Range<double> r =
          range_of(values_.data(), up_.data(), down_.data(), begin_[g], end_[g]);
      worst = std::max(worst, full_.groups == 0 ? std::max(r.max_down, -r.min_up) : r.violation());
      // Without an equality every move is judged against zero.
      min_up_[g] = full_.groups == 0 ? 0 : r.min_up;
      max_down_[g] = full_.groups == 0 ? 0 : r.max_down;
    }
    return worst;
  }

  double starting_objective() const {
    double sum = 0;
    for (Index i = 0; i < full_.size(); ++i)
      sum += 0.5 * sol_.beta[i] * sol_.values[i] + full_.phi(i, sol_.beta[i]);
    return sum;
  }

  // ---- recomputed values

  /// Recomputes the values K beta from the current support: all of them or, after an interrupt,
  /// those of inactive variables alone. Returns false if it was aborted; values that were not
  /// reached are NaN then, unless the solver has kept them up to date.
  bool rebuild() {
    const Index n = full_.size();
    const bool hasty = sol_.status == Status::interrupted;
    std::vector<char> is_active(static_cast<std::size_t>(n), 0);
    for (Index i : active_) is_active[i] = 1;
    std::vector<Index> support, rows;
    std::vector<double> coef;
    for (Index i = 0; i < n; ++i) {
      if (sol_.beta[i] != 0) support.push_back(i), coef.push_back(sol_.beta[i]);
      if (!hasty || !is_active[i]) rows.push_back(i);
    }
    std::vector<double> fresh(rows.size(), 0.0);
    bool complete = true;
    if (!support.empty() && !rows.empty())
      complete = hasty || full_kernel_.linear() ? multiply(rows, support, coef, fresh.data())
                                                : sum_support(support, coef, fresh.data());
    for (std::size_t k = 0; k < rows.size(); ++k)
      if (complete || !is_active[rows[k]]) sol_.values[rows[k]] = fresh[k];
    sol_.fresh = complete && !hasty;
    if (sol_.fresh) begin_sums();
    return complete;
  }

  /// Restarts the rounding bound of the running values: number and size of the terms of K beta.
  void begin_sums() {
    mass_ = 0;
    additions_ = 0;
    for (Index i = 0; i < full_.size(); ++i) {
      mass_ += std::fabs(sol_.beta[i]) * std::sqrt(std::fabs(static_cast<double>(full_diag_[i])));
      additions_ += sol_.beta[i] != 0;
    }
    peak_ = mass_;
  }

  /// Whether the running values are as accurate as recomputed ones: accumulation in double
  /// precision has added less than a hundredth of the rounding error of float32 kernel values.
  /// With r_i = k(i, i)^1/2, each of `additions_` terms rounds value i by at most r_i `peak_`.
  bool accurate() const {
    constexpr double unit = 0.5 * std::numeric_limits<double>::epsilon(), single = 1e-9;
    if (!summed()) return false;
    double squares = 0;
    for (Index i = 0; i < full_.size(); ++i)
      squares += sol_.beta[i] * sol_.beta[i] * static_cast<double>(full_diag_[i]);
    return static_cast<double>(additions_) * unit * peak_ <= single * std::sqrt(squares);
  }

  /// Whether running values can replace recomputed ones; in double precision they never can.
  bool summed() const { return sizeof(T) == 4 && definite_; }

  /// Updates the values of variables that have left the active set. Returns false if aborted.
  bool catch_up() {
    for (const Stage& left : left_) {
      std::vector<Index> changed;
      std::vector<double> delta;
      for (std::size_t k = 0; k < left.others.size(); ++k) {
        const double moved = sol_.beta[left.others[k]] - left.beta[k];
        if (moved != 0) changed.push_back(left.others[k]), delta.push_back(moved);
      }
      if (changed.empty()) continue;
      std::vector<double> more(left.variables.size(), 0.0);
      if (!multiply(left.variables, changed, delta, more.data())) return false;
      for (std::size_t k = 0; k < more.size(); ++k) sol_.values[left.variables[k]] += more[k];
      additions_ += static_cast<Index>(changed.size());
    }
    left_.clear();
    sol_.fresh = accurate();
    return sol_.fresh || rebuild();
  }

  /// out = K[rows, support] coef, without the row store.
  bool multiply(const std::vector<Index>& rows, const std::vector<Index>& support,
                const std::vector<double>& coef, double* out) {
    const Index n = static_cast<Index>(rows.size()), m = static_cast<Index>(support.size());
    const auto a = n < full_.size() ? full_kernel_.b().take(rows.data(), n) : full_kernel_.a();
    const auto kernel = full_kernel_.on(a, full_kernel_.b().take(support.data(), m));
    const std::vector<Segment> all{{0, m, 1, 0, coef.data()}};
    const auto multiplier = kernel->multiplier(all, threads_, true);
    if (!full_kernel_.linear()) kernel_values_ += n * m;
    return kernel->product(*multiplier, out, threads_, [&] { return limits_.leave(0); });
  }

  /// out = K[:, support] coef, a sum of the rows of the support. The store keeps as many of these
  /// rows as it has room for.
  bool sum_support(const std::vector<Index>& support, const std::vector<double>& coef,
                   double* out) {
    PinnedRows<T> pinned(store_);
    sum_.rows.clear();
    for (std::size_t s = 0; s < support.size(); ++s) sum_.rows.push_back({support[s], coef[s]});
    const bool complete = find_rows(full_object_, straight(full_object_), false, pinned) &&
                          sum_.add(full_kernel_, full_object_, out);
    kernel_values_ += sum_.computed() * full_.size();
    if (complete) pinned.publish();
    return complete;
  }

  /// Estimated seconds of another step and of the values of the returned point.
  double time_to_finish() {
    if (settings_.time_limit <= 0) return 0;
    const double now = limits_.seconds(), step = now - step_began_;
    step_began_ = now;
    if (sol_.outer == 0 || added_ == 0) return 0;
    Index support = idle_support_;
    for (const double b : beta_) support += b != 0;
    const double values = sol_.fresh || full_kernel_.linear()
                              ? 0
                              : static_cast<double>(support) * static_cast<double>(full_.size());
    return step + values * (now - began_) / added_;
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
    shorten_rows(kept);
    if (summed() && !store_) leave(next);
    idle_support_ =
        std::count_if(sol_.beta.begin(), sol_.beta.end(), [](double b) { return b != 0; });
    for (const Index i : next) idle_support_ -= sol_.beta[i] != 0;
    active_ = std::move(next);
    load();
    extremes();
  }

  /// Records the variables that leave the active set, and the coefficients of those that stay: only
  /// these change from now on.
  void leave(const std::vector<Index>& next) {
    std::vector<char> stays(static_cast<std::size_t>(full_.size()), 0);
    for (const Index i : next) stays[i] = 1;
    Stage stage{{}, next, {}};
    for (const Index i : active_)
      if (!stays[i]) stage.variables.push_back(i);
    for (const Index i : next) stage.beta.push_back(sol_.beta[i]);
    left_.push_back(std::move(stage));
  }

  /// The cache of shortened rows of the active set, in the bytes that whole rows leave.
  void shorten_rows(const std::vector<Index>& kept) {
    if (!store_) return;
    if (short_rows_.length() > 0)
      short_rows_.compact(kept);
    else
      short_rows_ =
          RowCache<T>(static_cast<Index>(kept.size()), store_->left_of(settings_.cache_bytes));
  }

  // ---- working set

  void choose_sizes() {
    const Index n = active();
    // A step computes a row for every variable it changes: small sets where rows are expensive.
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

  /// With dot products, a step updates all values at the cost of one row, and the local matrix
  /// dominates: long runs use fewer steps with larger working sets.
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

  /// Fills slots with the worst violators; members of the previous set keep their slots.
  void select() {
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
    PinnedRows<T> pinned(store_);
    computed_slots_.clear();
    for (const Index s : fresh_slots_)
      if (!pick_local(s, object, pinned)) computed_slots_.push_back(s);
    const Index count = static_cast<Index>(computed_slots_.size());
    const Index block = std::min<Index>(kernel->block(), rows_at_once);
    const auto body = [&](Index b, int worker) {
      if (limits_.leave(worker)) return;
      Query<T>& q = sum_.query_of(worker, 0);
      const Index from = b * block, rows = std::min(block, count - from);
      Buffer<T>& tile = sum_.tile_of(worker);
      tile.require(block * local_stride_);
      kernel->prepare(q, computed_slots_.data() + from, static_cast<int>(rows));
      kernel->tile(q, 0, size, tile.data(), local_stride_);
      for (Index r = 0; r < rows; ++r)
        std::copy_n(tile.data() + r * local_stride_, size,
                    local_.data() + computed_slots_[from + r] * local_stride_);
    };
    parallel_for(threads_, (count + block - 1) / block, body, [&] { limits_.leave(0); });
    kernel_values_ += count * size;
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

  /// The local row of a slot, if a longer one is kept.
  bool pick_local(Index slot, const std::vector<Index>& position, PinnedRows<T>& pinned) {
    if (!store_) return false;
    T* to = local_.data() + slot * local_stride_;
    const Index k = in_slot_[slot];
    if (const T* row = short_rows_.length() > 0 ? short_rows_.find(k) : nullptr) {
      for (std::size_t s = 0; s < position.size(); ++s) to[s] = row[position[s]];
      return true;
    }
    const T* row = pinned.find(object_[k]);
    if (!row) return false;
    for (std::size_t s = 0; s < position.size(); ++s) to[s] = row[object_[position[s]]];
    return true;
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
    t.tol = closing * violation;
    if (violation > settings_.tol) t.tol = std::max(t.tol, 0.5 * settings_.tol);
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
    double moved = 0;
    for (std::size_t c = 0; c < changed_.size(); ++c) {
      const Index k = changed_[c];
      const double r = std::sqrt(static_cast<double>(full_diag_[active_[k]]));
      change += 0.5 * delta_[c] * values_[k];
      moved += std::fabs(delta_[c]) * r;
      mass_ += (std::fabs(t.beta[member_[k]]) - std::fabs(beta_[k])) * r;
      beta_[k] = t.beta[member_[k]];
      refresh(k);
    }
    peak_ = std::max(peak_, mass_ + 2 * moved);
    additions_ += static_cast<Index>(changed_.size());
    objective_ += change;
    if (settings_.objective_floor > -infinite) extrapolate();
    return t.steps;
  }

  /// Repeats the last step as far as it still descends; see extrapolation.hpp.
  void extrapolate() {
    Extrapolation line;
    for (std::size_t c = 0; c < changed_.size(); ++c) {
      const Index k = changed_[c];
      line.add(full_, active_[k], beta_[k], delta_[c], values_[k], values_[k] - before_[k]);
    }
    const double step = line.step();
    if (step == 0) return;
    for (std::size_t c = 0; c < changed_.size(); ++c) {
      const Index k = changed_[c], i = active_[k];
      beta_[k] = std::clamp(beta_[k] + step * delta_[c], full_.lower[i], full_.upper[i]);
      refresh(k);
    }
    for (Index k = 0; k < active(); ++k) values_[k] += step * (values_[k] - before_[k]);
    peak_ = infinite;  // rounding of the step before has grown with it
    objective_ += line.change(step);
  }

  /// values += sum over changed_ of delta * row. Returns false after an interrupt, with values only
  /// partly updated.
  bool apply_change() {
    if (changed_.empty()) return true;
    sol_.fresh = false;
    return kernel_->linear() ? apply_weights() : apply_rows();
  }

  /// The same for dot products, by one weight vector instead of rows.
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

  /// The same from stored and newly computed rows.
  bool apply_rows() {
    const Index n = active(), m = static_cast<Index>(changed_.size());
    PinnedRows<T> pinned(store_);
    const std::uint64_t fence = short_rows_.now();
    const bool shrunk = short_rows_.length() > 0;
    sum_.rows.clear();
    for (Index c = 0; c < m; ++c) {
      sum_.rows.push_back({changed_[c], delta_[c]});
      if (!shrunk) continue;
      sum_.rows[c].own = short_rows_.find(changed_[c]);
      sum_.rows[c].known = sum_.rows[c].own != nullptr;
    }
    if (!find_rows(object_, in_place_, true, pinned)) return false;
    if (shrunk)
      for (auto& r : sum_.rows)
        if (!r.known) r.own = short_rows_.insert(r.row, fence);
    const Index computed = sum_.computed();
    if (!sum_.add(*kernel_, object_, values_.data()))
      return false;  // the solver ends: the shortened rows are not used again
    pinned.publish();
    sol_.cache_hits += m - computed;
    sol_.cache_misses += computed;
    kernel_values_ += computed * n;
    added_ += static_cast<double>(m) * static_cast<double>(n);
    return true;
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

  /// Variables that left the active set together, the others, and their coefficients then.
  struct Stage {
    std::vector<Index> variables, others;
    std::vector<double> beta;
  };
  std::vector<Stage> left_;
  bool definite_ = false;   ///< no k(i, i) shows that the kernel is not
  double mass_ = 0;         ///< sum of |beta_i| r_i
  double peak_ = infinite;  ///< the largest that it may have been; infinite: unknown
  Index additions_ = 0;     ///< terms that have been added to a value

  std::vector<Index> order_, active_;
  std::shared_ptr<Objects<T>> objects_, local_objects_;  ///< of the active set, of the slots
  std::shared_ptr<Evaluator<T>> kernel_;
  std::vector<double> beta_, values_, up_, down_, before_;
  Index begin_[2] = {0, 0}, end_[2] = {0, 0};
  double min_up_[2] = {0, 0}, max_down_[2] = {0, 0};

  RowSum<T> sum_;
  RowStore<T>* store_ = nullptr;  ///< null: rows are not worth keeping
  std::unique_ptr<RowStore<T>> own_store_;
  std::vector<Index> full_object_, object_;  ///< positions in the store, of all and of the active
  bool in_place_ = false;                    ///< whether whole rows are those of the active set
  RowCache<T> short_rows_{0, 0};             ///< where the active set is a part of the store's
  double added_ = 0;                         ///< kernel values that steps have added up
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
  std::vector<Index> age_, fresh_slots_, chosen_, free_, changed_, computed_slots_;
  std::vector<double> delta_;
  std::vector<Candidate> rising_, falling_;
};

}  // namespace mercer
