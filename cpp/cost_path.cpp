#include "cost_path.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <type_traits>
#include <utility>

#include "isa/dispatch.hpp"
#include "memory.hpp"
#include "solver_parts.hpp"
#include "thread_pool.hpp"

namespace mercer {

namespace {

/// Memory that consecutive tasks share; one per thread.
template <class R>
struct PathWorkspace {
  Buffer<R> matrix, gathered, columns;
};

/// Consecutive rows of the matrix.
struct Run {
  Index from, to, count;  ///< row of the matrix, position in the list
};

std::vector<Run> runs_of(const Index* rows, Index n) {
  std::vector<Run> runs;
  for (Index k = 0; k < n;) {
    Index end = k + 1;
    while (end < n && rows[end] == rows[end - 1] + 1) ++end;
    runs.push_back({rows[k], k, end - k});
    k = end;
  }
  return runs;
}

template <class T>
void copy_runs(const std::vector<Run>& runs, const T* from, T* to) {
  for (const Run& run : runs) {
    if (run.count == 1)
      to[run.to] = from[run.from];
    else
      std::copy_n(from + run.from, run.count, to + run.to);
  }
}

/// One task along the whole path.
template <class R>
class TaskSolver {
 public:
  TaskSolver(const CostPath& path, Index task, const StoredMatrix<R>& matrix, const Settings& s,
             double gap_limit, std::atomic<bool>* stop, PathWorkspace<R>& workspace)
      : path_(path),
        task_(task),
        first_(task == 0 ? 0 : path.ends[task - 1]),
        n_(path.ends[task] - first_),
        rows_(path.rows.data() + first_),
        matrix_(matrix),
        settings_(s),
        gap_limit_(gap_limit),
        limits_(s, stop),
        workspace_(workspace),
        runs_(runs_of(rows_, n_)),
        valid_runs_(runs_of(path.valid.data(), static_cast<Index>(path.valid.size()))) {
    const Index count[2] = {n_, 0};
    p_.groups = path.equality ? 1 : 0;
    if (p_.groups) p_.group.assign(static_cast<std::size_t>(n_), 0);
    slots_.layout(p_.groups, count);
    size_ = slots_.task.size;
    workspace_.matrix.require(size_ * size_);
    sol_.beta.assign(static_cast<std::size_t>(n_), 0.0);
    sol_.values.assign(static_cast<std::size_t>(n_), 0.0);
    valued_ = evaluated_ = sol_.beta;
    values_.assign(static_cast<std::size_t>(size_), 0.0);
    valid_.assign(path.valid.size(), 0.0);
  }

  void run(const PathResults& to) {
    const Index tasks = path_.tasks(), m = static_cast<Index>(path_.valid.size());
    for (std::size_t c = 0; c < path_.steps.size(); ++c) {
      const Index at = static_cast<Index>(c) * tasks + task_;
      if (limits_.interrupted() || limits_.out_of_time()) {
        to.status[at] = static_cast<signed char>(limits_.interrupted() ? Status::interrupted
                                                                       : Status::time_limit);
        to.multiplier[at] = 0;
        to.violation[at] = to.gap[at] = std::numeric_limits<double>::infinity();
        to.n_iter[at] = 0;
        std::fill_n(to.beta + static_cast<Index>(c) * path_.variables() + first_, n_, 0.0);
        std::fill_n(to.valid + at * m, m, 0.0);
        continue;
      }
      advance(path_.steps[c], c == 0);
      evaluate();
      to.status[at] = static_cast<signed char>(sol_.status);
      to.multiplier[at] = sol_.multiplier[0];
      to.violation[at] = sol_.violation;
      to.gap[at] = sol_.relative_gap;
      to.n_iter[at] = static_cast<int>(std::min<Index>(sol_.n_iter, 2147483647));
      std::copy(sol_.beta.begin(), sol_.beta.end(),
                to.beta + static_cast<Index>(c) * path_.variables() + first_);
      std::copy(valid_.begin(), valid_.end(), to.valid + at * m);
    }
  }

 private:
  static constexpr Index burst = 50000;
  static constexpr Index worth_shrinking = 256;
  /// Steps after which a problem is left to other methods.
  static constexpr Index patience = 400000, patience_per_row = 400;
  /// Pair steps for every row between conjugate steps, and the length of these.
  static constexpr Index steps_per_row = 8, few_free = 32;
  static constexpr int products = 24;
  static constexpr int closer_attempts = 6;
  static constexpr double closer = 0.1;
  /// A violation that rounding still resolves.
  static constexpr double finest = 1e-10;

  /// From the solution of the step before to that of this one.
  void advance(const CostTerms& terms, bool first) {
    const Problem before = first ? Problem() : p_;
    take(terms);
    sol_.n_iter = 0;
    sol_.status = Status::optimal;
    if (!first && !move_to_new_bounds(before)) {
      summarise(p_, sol_);  // only the primal value depends on the bounds
      if (sol_.relative_gap <= gap_limit_ && sol_.violation <= settings_.tol) return;
    }
    double tol = settings_.tol;
    solve(tol);
    for (int k = 0; k < closer_attempts && sol_.status == Status::optimal; ++k) {
      if (!(sol_.relative_gap > gap_limit_) || tol <= finest) break;
      tol = std::max(closer * std::min(tol, sol_.violation), finest);
      solve(tol);
    }
    if (sol_.status == Status::optimal && sol_.relative_gap > 1.01 * gap_limit_)
      sol_.status = Status::stalled;
  }

  double diagonal(Index i) const {
    return static_cast<double>(matrix_.values[rows_[i] * matrix_.stride + rows_[i]]);
  }

  void take(const CostTerms& terms) {
    const auto part = [&](const std::vector<double>& all, std::vector<double>& to) {
      to.assign(all.begin() + first_, all.begin() + first_ + n_);
    };
    part(terms.lower, p_.lower);
    part(terms.upper, p_.upper);
    part(terms.slope_left, p_.slope_left);
    part(terms.slope_right, p_.slope_right);
    part(terms.curv_left, p_.curv_left);
    part(terms.curv_right, p_.curv_right);
    part(terms.kink, p_.kink);
  }

  /// Makes the solution of the step before feasible; false where it is that of this step as well.
  bool move_to_new_bounds(const Problem& before) {
    const bool same_costs = before.slope_left == p_.slope_left &&
                            before.slope_right == p_.slope_right &&
                            before.curv_left == p_.curv_left && before.curv_right == p_.curv_right;
    const std::vector<double> old = sol_.beta;
    double rise = 0, fall = 0;
    bool moved = false;
    for (Index i = 0; i < n_; ++i) {
      double& b = sol_.beta[i];
      if (b == before.upper[i])
        b = p_.upper[i];
      else if (b == before.lower[i])
        b = p_.lower[i];
      else
        b = std::clamp(b, p_.lower[i], p_.upper[i]);
      moved |= b != old[i];
      (b > old[i] ? rise : fall) += std::fabs(b - old[i]);
    }
    if (!moved && same_costs) return false;
    if (p_.groups && rise != fall) repair(old, rise - fall, before);
    return true;
  }

  /// Takes back part of the moves that left the sum of the coefficients too large or too small.
  void repair(const std::vector<double>& old, double excess, const Problem& before) {
    const double sign = excess > 0 ? 1.0 : -1.0;
    std::vector<std::pair<double, Index>> order;
    for (Index i = 0; i < n_; ++i) {
      if (!(sign * (sol_.beta[i] - old[i]) > 0)) continue;
      // How far the row is inside the margin, before the bound moved.
      const double slope = sign > 0 ? before.slope_down(i, old[i]) : before.slope_up(i, old[i]);
      order.push_back({sign * (sol_.multiplier[0] - sol_.values[i] - slope), i});
    }
    std::sort(order.begin(), order.end());
    double left = std::fabs(excess);
    for (const auto& [margin, i] : order) {
      if (left <= 0) break;
      const double back = std::min(left, sign * (sol_.beta[i] - old[i]));
      sol_.beta[i] = back == left ? sol_.beta[i] - sign * back : old[i];
      left -= back;
    }
  }

  void solve(double tol) {
    InnerTask<double, R>& t = slots_.task;
    refresh_values();
    for (Index i = 0; i < n_; ++i) {
      const double d = diagonal(i);
      if (!std::isfinite(d))
        throw std::invalid_argument(
            "kernel values are not finite on these objects: k(x, x) overflows. Scale the data, or "
            "use a smaller degree or gamma");
      slots_.set(i, p_, i, sol_.beta[i], sol_.values[i], d);
    }
    t.tol = tol;
    t.stop = limits_.flag();
    t.owner = this;
    t.fetch = [](void* owner, Index slot) -> const R* {
      return static_cast<TaskSolver*>(owner)->fetch(slot);
    };
    sol_.status = Status::optimal;
    const bool shrinking = settings_.shrinking && n_ >= worth_shrinking;
    const Index most = patience + patience_per_row * n_;
    const Index began = sol_.n_iter;
    Index eased = began;
    double previous = infinite;
    for (;;) {
      if (limits_.interrupted() || limits_.out_of_time()) {
        sol_.status = limits_.interrupted() ? Status::interrupted : Status::time_limit;
        break;
      }
      t.max_steps = shrinking ? n_ / 4 + 64 : burst;
      inner(t);
      const Index steps = std::exchange(t.steps, 0);
      sol_.n_iter += steps;
      sol_.negative_curvature |= t.negative_curvature;
      if (!(t.violation > t.tol)) {
        // The running values carry the rounding of every step: confirm on exact ones.
        collect();
        summarise(p_, sol_);
        if (sol_.violation <= tol * (1 + 1e-9)) return;
        if (sol_.violation >= 0.5 * previous) {
          sol_.status = Status::stalled;
          return;
        }
        previous = sol_.violation;
        continue;
      }
      if (steps == 0) {
        sol_.status = Status::stalled;
        break;
      }
      if (sol_.n_iter - began > most) {
        sol_.status = Status::iteration_limit;
        break;
      }
      if (shrinking) shrunk_pass();
      if (sol_.n_iter - eased >= steps_per_row * n_) {
        conjugate_steps();
        eased = sol_.n_iter;
      }
    }
    collect();
    summarise(p_, sol_);
  }

  static void inner(InnerTask<double, R>& task) {
    if constexpr (std::is_same_v<R, float>)
      ops<double>().inner_on_single(task);
    else
      ops<double>().inner(task);
  }

  /// The row of a variable over the variables of the task.
  const R* fetch(Index slot) {
    R* row = workspace_.matrix.data() + fetched_++ * size_;
    copy_runs(runs_, matrix_.values + rows_[slot] * matrix_.stride, row);
    std::fill(row + n_, row + size_, R(0));
    slots_.task.rows[slot] = row;
    return row;
  }

  const R* row_of(Index i) { return slots_.task.rows[i] ? slots_.task.rows[i] : fetch(i); }

  /// sol_.values = K beta in float64, from the last ones by the coefficients that changed.
  void refresh_values() {
    list_changes(valued_, values_);
    pointers_.clear();
    for (Index i : changed_) pointers_.push_back(row_of(i));
    ops<R>().axpy_rows(values_.data(), pointers_.data(), delta_.data(),
                       static_cast<int>(pointers_.size()), size_);
    std::copy_n(values_.begin(), n_, sol_.values.begin());
    for (Index i = 0; i < n_; ++i) slots_.task.values[i] = values_[i];
  }

  /// Reads coefficients from the slots, and makes values exact.
  void collect() {
    std::copy_n(slots_.task.beta, n_, sol_.beta.begin());
    refresh_values();
  }

  /// Lists the coefficients that differ from `known`, to which `sums` belong, and their changes.
  /// Where fewer are not zero, these are listed, and the sums begin at zero.
  void list_changes(std::vector<double>& known, std::vector<double>& sums) {
    Index support = 0, changes = 0;
    for (Index i = 0; i < n_; ++i) {
      support += sol_.beta[i] != 0;
      changes += sol_.beta[i] != known[i];
    }
    if (support < changes) {
      std::fill(known.begin(), known.end(), 0.0);
      std::fill(sums.begin(), sums.end(), 0.0);
    }
    changed_.clear();
    delta_.clear();
    for (Index i = 0; i < n_; ++i) {
      if (sol_.beta[i] == known[i]) continue;
      changed_.push_back(i);
      delta_.push_back(sol_.beta[i] - known[i]);
    }
    known = sol_.beta;
  }

  /// valid_ = K(valid rows, variables) beta, from the last ones by the coefficients that changed.
  void evaluate() {
    list_changes(evaluated_, valid_);
    const Index m = static_cast<Index>(valid_.size());
    if (m == 0 || changed_.empty()) return;
    pointers_.clear();
    const bool together = valid_runs_.size() == 1;
    const Index count = static_cast<Index>(changed_.size());
    if (!together) workspace_.columns.require(block * m);
    for (Index from = 0; from < count; from += block) {
      const Index rows = std::min(block, count - from);
      pointers_.clear();
      for (Index r = 0; r < rows; ++r) {
        const R* row = matrix_.values + rows_[changed_[from + r]] * matrix_.stride;
        if (together) {
          pointers_.push_back(row + valid_runs_[0].from);
        } else {
          R* to = workspace_.columns.data() + r * m;
          copy_runs(valid_runs_, row, to);
          pointers_.push_back(to);
        }
      }
      ops<R>().axpy_rows(valid_.data(), pointers_.data(), delta_.data() + from,
                         static_cast<int>(rows), m);
    }
  }

  /// Goes on with the variables that can still take part in a violating pair.
  void shrunk_pass() {
    InnerTask<double, R>& t = slots_.task;
    Range<double> range{0, 0};  // without an equality moves are judged against zero
    if (p_.groups > 0) range = range_of<double>(t.values, t.up, t.down, 0, n_);
    kept_.clear();
    for (Index s = 0; s < n_; ++s)
      if (!(t.values[s] + t.up[s] > range.max_down && t.values[s] + t.down[s] < range.min_up))
        kept_.push_back(s);
    const Index count[2] = {static_cast<Index>(kept_.size()), 0};
    if (10 * count[0] > 6 * n_) return;
    shrunk_.layout(p_.groups, count);
    InnerTask<double, R>& small = shrunk_.task;
    workspace_.gathered.require(small.size * small.size);
    gathered_ = 0;
    for (Index k = 0; k < count[0]; ++k) shrunk_.copy(k, t, kept_[k]);
    small.tol = t.tol;
    small.stop = t.stop;
    small.owner = this;
    small.fetch = [](void* owner, Index slot) -> const R* {
      return static_cast<TaskSolver*>(owner)->gather(slot);
    };
    small.max_steps = std::min(burst, steps_per_row * n_);
    small.steps = 0;
    inner(small);
    sol_.n_iter += small.steps;
    sol_.negative_curvature |= small.negative_curvature;
    for (Index k = 0; k < count[0]; ++k) t.beta[kept_[k]] = small.beta[k];
    collect();
  }

  /// Conjugate gradients on the free variables, their sum kept, within the bounds: pair steps crawl
  /// where many variables are free. A variable that meets a bound or its kink stays there.
  void conjugate_steps() {
    collect();
    free_.clear();
    for (Index i = 0; i < n_; ++i) {
      const double b = sol_.beta[i];
      if (b > p_.lower[i] && b < p_.upper[i] && b != p_.kink[i]) free_.push_back(i);
    }
    std::vector<double> residual(static_cast<std::size_t>(n_)), direction(residual), image;
    for (const Index i : free_) residual[i] = -sol_.values[i] - p_.slope_up(i, sol_.beta[i]);
    double length = -1;  // of the residual, squared; negative: begin anew
    for (int k = 0; k<products&& static_cast<Index>(free_.size())> few_free; ++k) {
      const double previous = length;
      length = centred(residual);
      if (!(length > 0)) break;
      const double keep = previous > 0 ? length / previous : 0.0;
      pointers_.clear();
      delta_.clear();
      for (const Index i : free_) {
        direction[i] = residual[i] + keep * direction[i];
        pointers_.push_back(row_of(i));
        delta_.push_back(direction[i]);
      }
      image.assign(static_cast<std::size_t>(size_), 0.0);
      ops<R>().axpy_rows(image.data(), pointers_.data(), delta_.data(),
                         static_cast<int>(pointers_.size()), size_);
      double curve = 0, room = infinite, largest = 0;
      for (const Index i : free_) {
        const double d = direction[i], b = sol_.beta[i];
        image[i] += d * (b > p_.kink[i] ? p_.curv_right[i] : p_.curv_left[i]);
        curve += d * image[i];
        if (d != 0) room = std::min(room, (end_of(i, d) - b) / d);
        largest = std::max(largest, std::fabs(residual[i]));
      }
      if (!(curve > 0) || largest <= 0.25 * slots_.task.tol) break;
      const double step = std::min(length / curve, room);
      for (const Index i : free_) {
        const double end = direction[i] != 0 ? end_of(i, direction[i]) : sol_.beta[i];
        const double b = sol_.beta[i] + step * direction[i];
        sol_.beta[i] = direction[i] > 0 ? std::min(b, end) : std::max(b, end);
        residual[i] -= step * image[i];
      }
      if (step < room) continue;
      length = -1;
      std::erase_if(free_, [&](Index i) {
        const double b = sol_.beta[i];
        return b == p_.lower[i] || b == p_.upper[i] || b == p_.kink[i];
      });
    }
    std::copy(sol_.beta.begin(), sol_.beta.end(), slots_.task.beta);
    collect();
  }

  /// Where the piece of phi_i that holds beta_i ends in the direction d.
  double end_of(Index i, double d) const {
    const bool right = sol_.beta[i] > p_.kink[i];
    if (d > 0) return right ? p_.upper[i] : std::min(p_.kink[i], p_.upper[i]);
    return right ? std::max(p_.kink[i], p_.lower[i]) : p_.lower[i];
  }

  /// Removes the mean of the free entries where there is an equality; returns their sum of squares.
  double centred(std::vector<double>& v) const {
    double mean = 0, sum = 0;
    for (const Index i : free_) mean += v[i] / static_cast<double>(free_.size());
    for (const Index i : free_) {
      if (p_.groups) v[i] -= mean;
      sum += v[i] * v[i];
    }
    return sum;
  }

  /// The row of a shrunk slot: the kept columns of the full row.
  const R* gather(Index slot) {
    const R* full = row_of(kept_[slot]);
    R* row = workspace_.gathered.data() + gathered_++ * shrunk_.task.size;
    const Index n = static_cast<Index>(kept_.size());
    for (Index k = 0; k < n; ++k) row[k] = full[kept_[k]];
    std::fill(row + n, row + shrunk_.task.size, R(0));
    shrunk_.task.rows[slot] = row;
    return row;
  }

  static constexpr Index block = 64;

  const CostPath& path_;
  Index task_, first_, n_;
  const Index* rows_;
  const StoredMatrix<R>& matrix_;
  const Settings& settings_;
  double gap_limit_;
  Limits limits_;
  PathWorkspace<R>& workspace_;
  std::vector<Run> runs_, valid_runs_;
  Problem p_;
  Solution sol_;
  Slots<double, R> slots_, shrunk_;
  Index size_ = 0, fetched_ = 0, gathered_ = 0;
  std::vector<double> values_, valid_;      ///< K beta of the slots, on the validation rows
  std::vector<double> valued_, evaluated_;  ///< the coefficients that these belong to
  std::vector<Index> kept_, changed_, free_;
  std::vector<double> delta_;
  std::vector<const R*> pointers_;
};

}  // namespace

template <class T>
void solve_cost_paths(const std::vector<StoredMatrix<T>>& matrices,
                      const std::vector<PathJob>& jobs, const Settings& settings,
                      double gap_limit) {
  struct Piece {
    Index job, task, size;
  };
  std::vector<Piece> pieces;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const CostPath& path = *jobs[j].path;
    for (Index t = 0; t < path.tasks(); ++t)
      pieces.push_back({static_cast<Index>(j), t, path.ends[t] - (t ? path.ends[t - 1] : 0)});
  }
  // Large ones first: the last to finish are short.
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const Piece& a, const Piece& b) { return a.size > b.size; });
  const int threads = std::max(settings.threads, 1);
  std::vector<PathWorkspace<T>> workspace(static_cast<std::size_t>(threads));
  std::atomic<bool> stop{false};
  Settings silent = settings;
  silent.interrupted = nullptr;
  const auto begin = std::chrono::steady_clock::now();
  parallel_for(
      threads, static_cast<Index>(pieces.size()),
      [&](Index k, int worker) {
        const Piece& piece = pieces[k];
        const PathJob& job = jobs[piece.job];
        Settings s = worker == 0 ? settings : silent;
        if (s.time_limit > 0) {  // one limit for all of them
          const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
          s.time_limit = std::max(s.time_limit - spent.count(), 1e-9);
        }
        TaskSolver<T>(*job.path, piece.task, matrices[job.matrix], s, gap_limit, &stop,
                      workspace[worker])
            .run(job.results);
      },
      [&] {
        if (settings.interrupted && settings.interrupted()) stop.store(true);
      });
}

template void solve_cost_paths<float>(const std::vector<StoredMatrix<float>>&,
                                      const std::vector<PathJob>&, const Settings&, double);
template void solve_cost_paths<double>(const std::vector<StoredMatrix<double>>&,
                                       const std::vector<PathJob>&, const Settings&, double);

}  // namespace mercer
