#include "cost_path.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "isa/dispatch.hpp"
#include "memory.hpp"
#include "newton_steps.hpp"
#include "solver_parts.hpp"
#include "thread_pool.hpp"

namespace mercer {

namespace {

/// Memory that consecutive tasks share; one per thread.
struct PathWorkspace {
  Buffer<float> matrix, gathered, columns;
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

void copy_runs(const std::vector<Run>& runs, const float* from, float* to) {
  for (const Run& run : runs) {
    if (run.count == 1)
      to[run.to] = from[run.from];
    else
      std::copy_n(from + run.from, run.count, to + run.to);
  }
}

/// One task along the whole path.
class TaskSolver {
 public:
  TaskSolver(const CostPath& path, Index task, const StoredMatrix& matrix, const Settings& s,
             double gap_limit, std::atomic<bool>* stop, PathWorkspace& workspace)
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
        valid_runs_(runs_of(path.valid.data(), static_cast<Index>(path.valid.size()))),
        newton_(p_, sol_, diag_, workspace.gathered, [this](Index i) { return row_of(i); }) {
    p_.groups = path.equality ? 1 : 0;
    if (p_.groups) p_.group.assign(static_cast<std::size_t>(n_), 0);
    before_ = p_;
    size_ = round_up(std::max<Index>(n_, 1), slot_align);
    table_.assign(static_cast<std::size_t>(size_), nullptr);
    workspace_.matrix.require(size_ * size_);
    sol_.beta.assign(static_cast<std::size_t>(n_), 0.0);
    sol_.values.assign(static_cast<std::size_t>(n_), 0.0);
    high_.known = low_.known = valid_high_.known = valid_low_.known = sol_.beta;
    high_.sums.assign(static_cast<std::size_t>(size_), 0.0);
    low_.sums = sol_.values;
    valid_high_.sums.assign(path.valid.size(), 0.0);
    valid_low_.sums = valid_high_.sums;
    for (Index i = 0; i < n_; ++i) {
      const Index at = rows_[i] * (matrix.stride + 1);
      const double d = static_cast<double>(matrix.values[at]) + static_cast<double>(matrix.low[at]);
      if (!std::isfinite(d))
        throw std::invalid_argument(
            "kernel values are not finite on these objects: k(x, x) overflows. Scale the data, or "
            "use a smaller degree or gamma");
      diag_.push_back(d);
      root_.push_back(std::sqrt(std::fabs(d)));
      largest_ = std::max(largest_, root_.back());
    }
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
        to.n_iter[at] = to.n_faces[at] = to.n_factorised[at] = 0;
        std::fill_n(to.beta + static_cast<Index>(c) * path_.variables() + first_, n_, 0.0);
        std::fill_n(to.valid + at * m, m, 0.0);
        continue;
      }
      advance(path_.steps[c], c == 0);
      evaluate();
      to.status[at] = static_cast<signed char>(sol_.status);
      to.multiplier[at] = sol_.multiplier[0];
      to.violation[at] = sol_.violation;
      to.gap[at] = gap_;
      to.n_iter[at] = static_cast<int>(std::min<Index>(sol_.n_iter, 2147483647));
      to.n_faces[at] = newton_.on_faces;
      to.n_factorised[at] = newton_.factorised;
      std::copy(sol_.beta.begin(), sol_.beta.end(),
                to.beta + static_cast<Index>(c) * path_.variables() + first_);
      for (Index k = 0; k < m; ++k) to.valid[at * m + k] = valid_high_.sums[k] + valid_low_.sums[k];
    }
  }

 private:
  /// K times coefficients, or what belongs to one part of the entries of K.
  struct Product {
    std::vector<double> known, sums;  ///< the coefficients, and the product
  };

  static constexpr Index burst = 50000;
  static constexpr Index worth_shrinking = 600;
  /// Steps after which a problem is left to other methods.
  static constexpr Index patience = 400000, patience_per_row = 400;
  static constexpr int closer_attempts = 6;
  static constexpr double closest = 0.1, closer = 0.4;
  /// A violation that rounding still resolves.
  static constexpr double finest = 1e-10;
  /// A tolerance that values in single precision resolve, relative to their size.
  static constexpr double resolved = 0x1p-24 * 32;
  /// Errors of values, relative to the tolerance, that do not matter.
  static constexpr double negligible = 0.05;

  /// From the solution of the step before to that of this one.
  void advance(const CostTerms& terms, bool first) {
    std::swap(before_, p_);
    take(terms);
    sol_.n_iter = newton_.on_faces = newton_.factorised = 0;
    sol_.status = Status::optimal;
    if (!first && !move_to_new_bounds()) {
      find_multipliers(p_, sol_);
      prove();
      if (gap_ <= gap_limit_ && sol_.violation <= settings_.tol) return;
    }
    double tol = settings_.tol;
    solve(tol);
    prove();
    for (int k = 0; k < closer_attempts && sol_.status == Status::optimal; ++k) {
      if (!(gap_ > gap_limit_) || tol <= finest) break;
      const double part = std::clamp(closer * gap_limit_ / gap_, closest, closer);
      tol = std::max(part * std::min(tol, sol_.violation), finest);
      solve(tol);
      prove();
    }
    if (sol_.status == Status::optimal && gap_ > 1.01 * gap_limit_) sol_.status = Status::stalled;
  }

  /// The relative gap with what rounding can contribute, from exact values where stored ones do not
  /// suffice.
  void prove() {
    gap_ = proved_gap();
    if (!(gap_ > gap_limit_) || low_.known == sol_.beta) return;
    refresh_values(true);
    find_multipliers(p_, sol_);
    gap_ = proved_gap();
  }

  /// Values that are wrong by e_i change the term phi*_i(s) - s beta_i of the gap by at most e_i
  /// times the distance of beta_i from the maximisers of s beta - phi_i(beta) for s in
  /// [s_i - e_i, s_i + e_i]. A sum of coefficients that is not zero contributes that times the
  /// multiplier. Sums of n terms are wrong by n + few roundings of their size.
  double proved_gap() const {
    constexpr double unit = 0x1p-53, few = 8;
    const double error = value_error(low_.known);
    const double multiplier = p_.groups ? sol_.multiplier[0] : 0.0;
    double square = 0, gap = 0, scale = 0, terms = 0, contributed = 0, sum = 0, sizes = 0;
    for (Index i = 0; i < n_; ++i) {
      const double b = sol_.beta[i], e = error * root_[i];
      const double s = multiplier - sol_.values[i];
      sum += b;
      sizes += std::fabs(b);
      const double phi = p_.phi(i, b);
      square += b * sol_.values[i];
      terms += std::fabs(phi) + std::fabs(s * b);
      const bool stays = (b <= p_.lower[i] || p_.slope_down(i, b) <= s - e) &&
                         (b >= p_.upper[i] || p_.slope_up(i, b) >= s + e);
      double c = s * b - phi;  // the conjugate, where beta_i is a maximiser
      if (!stays) {
        c = p_.conjugate(i, s);
        gap += c + phi - s * b;
        contributed += e * std::max(std::fabs(p_.maximiser(i, s - e) - b),
                                    std::fabs(p_.maximiser(i, s + e) - b));
      }
      scale += std::fabs(c);
    }
    scale += 0.5 * std::fabs(square);
    const double rounding = (static_cast<double>(n_) + few) * unit;
    contributed += std::fabs(multiplier) * (std::fabs(sum) + rounding * sizes);
    gap += contributed + rounding * (terms + scale);
    return scale > 0 ? gap / scale : gap;
  }

  /// Estimated error of (K beta)_i relative to sqrt(k_ii), as for other fits: that of kernel values
  /// and sums in double precision, and that of entries of which `corrected` lacks the low part.
  double value_error(const std::vector<double>& corrected) const {
    constexpr double unit = 0x1p-53, independent = 8, systematic = 0.5, single = 0x1p-24;
    double all = 0, sizes = 0, lacking = 0;
    for (Index i = 0; i < n_; ++i) {
      const double b = sol_.beta[i];
      if (b == 0 && corrected[i] == 0) continue;
      const double size = b * root_[i], missing = (b - corrected[i]) * root_[i];
      all += size * size;
      sizes += std::fabs(size);
      lacking += missing * missing;
    }
    return unit * (independent * std::sqrt(all) + systematic * sizes) + single * std::sqrt(lacking);
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
  bool move_to_new_bounds() {
    const std::vector<double> old = sol_.beta;
    long double excess = 0;  // the sum of the coefficients, which was zero
    double largest = 0;
    bool moved = false;
    for (Index i = 0; i < n_; ++i) {
      double& b = sol_.beta[i];
      if (b == before_.upper[i])
        b = p_.upper[i];
      else if (b == before_.lower[i])
        b = p_.lower[i];
      else
        b = std::clamp(b, p_.lower[i], p_.upper[i]);
      moved |= b != old[i];
      excess += b;
      largest = std::max(largest, std::fabs(b));
    }
    if (!moved && before_.slope_left == p_.slope_left && before_.slope_right == p_.slope_right &&
        before_.curv_left == p_.curv_left && before_.curv_right == p_.curv_right)
      return false;
    if (p_.groups && std::fabs(excess) > p_.rounding_of_sum(largest))
      repair(old, static_cast<double>(excess));
    return true;
  }

  /// Takes back part of the moves that left the sum of the coefficients too large or too small.
  void repair(const std::vector<double>& old, double excess) {
    const double sign = excess > 0 ? 1.0 : -1.0;
    std::vector<std::pair<double, Index>> order;
    for (Index i = 0; i < n_; ++i) {
      if (!(sign * (sol_.beta[i] - old[i]) > 0)) continue;
      // How far the row is inside the margin, before the bound moved.
      const double slope = sign > 0 ? before_.slope_down(i, old[i]) : before_.slope_up(i, old[i]);
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

  /// To a violation of at most tol, by steps on values in single precision where it resolves tol.
  void solve(double tol) {
    tol_ = tol;
    refresh_values(false);
    double size = 1;
    for (Index i = 0; i < n_; ++i)
      size = std::max({size, std::fabs(sol_.values[i]), std::fabs(p_.slope_up(i, sol_.beta[i]))});
    if (tol > resolved * size) solve_on(quick_);
    if (!(tol > resolved * size) || sol_.status == Status::stalled) solve_on(fine_);
  }

  template <class V>
  void layout(Slots<V, float>& slots) {
    const Index count[2] = {n_, 0};
    slots.layout(p_.groups, count);
    slots.task.rows = table_.data();
  }

  template <class V>
  void solve_on(Slots<V, float>& slots) {
    InnerTask<V, float>& t = slots.task;
    if (!t.values) layout(slots);
    for (Index i = 0; i < n_; ++i) slots.set(i, p_, i, sol_.beta[i], sol_.values[i], diag_[i]);
    t.tol = tol_;
    t.stop = limits_.flag();
    t.owner = this;
    t.fetch = [](void* owner, Index slot) -> const float* {
      return static_cast<TaskSolver*>(owner)->fetch(slot);
    };
    sol_.status = Status::optimal;
    const bool shrinking = settings_.shrinking && n_ >= worth_shrinking;
    const Index most = patience + patience_per_row * n_;
    const Index began = sol_.n_iter;
    newton_.begin();
    double previous = infinite;
    for (;;) {
      if (limits_.interrupted() || limits_.out_of_time()) {
        sol_.status = limits_.interrupted() ? Status::interrupted : Status::time_limit;
        break;
      }
      if (newton_.wait() <= 0) {
        collect(slots, false);
        if (newton_.due()) {
          newton_.step(tol_);
          std::copy(sol_.beta.begin(), sol_.beta.end(), t.beta);
          collect(slots, false);
        }
      }
      t.max_steps = shrinking ? n_ / 4 + 64 : burst;
      inner(t);
      const Index steps = std::exchange(t.steps, 0);
      count_steps(steps);
      sol_.negative_curvature |= t.negative_curvature;
      if (!(t.violation > t.tol)) {
        // The running values carry the rounding of every step: confirm on exact ones.
        collect(slots, true);
        settle();
        if (sol_.violation <= tol_ * (1 + 1e-9)) return;
        if (!(sol_.violation < 0.5 * previous)) {
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
      if (shrinking) shrunk_pass(slots);
    }
    collect(slots, true);
    settle();
  }

  /// Puts coefficients onto the bounds that rounding left them next to, and finds the multiplier.
  void settle() {
    double largest = 0;
    for (const double b : sol_.beta) largest = std::max(largest, std::fabs(b));
    for (Index i = 0; i < n_; ++i) sol_.beta[i] = p_.settled(i, sol_.beta[i], largest);
    find_multipliers(p_, sol_);
  }

  static void inner(InnerTask<float>& task) { ops<float>().inner(task); }
  static void inner(InnerTask<double, float>& task) { ops<double>().inner_on_single(task); }

  /// The row of a variable over the variables of the task.
  const float* fetch(Index slot) {
    float* row = workspace_.matrix.data() + fetched_++ * size_;
    copy_runs(runs_, matrix_.values + rows_[slot] * matrix_.stride, row);
    std::fill(row + n_, row + size_, 0.0f);
    table_[slot] = row;
    return row;
  }

  const float* row_of(Index i) { return table_[i] ? table_[i] : fetch(i); }

  /// sol_.values = K beta in float64, from the last ones by the coefficients that changed. The low
  /// part of the entries takes part with the coefficients of the last time that it had to.
  void refresh_values(bool exact) {
    list_changes(high_);
    pointers_.clear();
    for (Index i : changed_) pointers_.push_back(row_of(i));
    ops<float>().axpy_rows(high_.sums.data(), pointers_.data(), delta_.data(),
                           static_cast<int>(pointers_.size()), size_);
    if (exact && value_error(low_.known) * largest_ > negligible * tol_) {
      list_changes(low_);
      for (const Run& run : runs_) add_runs(matrix_.low, run, low_.sums.data() + run.to);
    }
    for (Index i = 0; i < n_; ++i) sol_.values[i] = high_.sums[i] + low_.sums[i];
  }

  /// Adds the changed coefficients times some columns of one part of the matrix.
  void add_runs(const float* part, const Run& run, double* sums) {
    pointers_.clear();
    for (Index i : changed_) pointers_.push_back(part + rows_[i] * matrix_.stride + run.from);
    ops<float>().axpy_rows(sums, pointers_.data(), delta_.data(),
                           static_cast<int>(pointers_.size()), run.count);
  }

  /// Reads coefficients from the slots, and brings the values up to date.
  template <class V>
  void collect(Slots<V, float>& slots, bool exact) {
    std::copy_n(slots.task.beta, n_, sol_.beta.begin());
    refresh_values(exact);
    for (Index i = 0; i < n_; ++i) slots.task.values[i] = static_cast<V>(sol_.values[i]);
  }

  /// Lists the coefficients that differ from those of a product, and their changes. Where fewer are
  /// not zero, these are listed, and the sums begin at zero.
  void list_changes(Product& product) {
    auto& [known, sums] = product;
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

  /// The values on the validation rows, from the last ones by the coefficients that changed.
  void evaluate() {
    add_valid(matrix_.values, valid_high_);
    if (value_error(valid_low_.known) * largest_ > negligible * settings_.tol)
      add_valid(matrix_.low, valid_low_);
  }

  void add_valid(const float* part, Product& product) {
    list_changes(product);
    if (changed_.empty()) return;
    if (valid_runs_.size() == 1) {
      add_runs(part, valid_runs_[0], product.sums.data());
      return;
    }
    const Index m = static_cast<Index>(product.sums.size());
    const Index count = static_cast<Index>(changed_.size());
    workspace_.columns.require(block * m);
    for (Index from = 0; from < count; from += block) {
      const Index rows = std::min(block, count - from);
      pointers_.clear();
      for (Index r = 0; r < rows; ++r) {
        float* to = workspace_.columns.data() + r * m;
        copy_runs(valid_runs_, part + rows_[changed_[from + r]] * matrix_.stride, to);
        pointers_.push_back(to);
      }
      ops<float>().axpy_rows(product.sums.data(), pointers_.data(), delta_.data() + from,
                             static_cast<int>(rows), m);
    }
  }

  /// Goes on with the variables that can still take part in a violating pair.
  template <class V>
  void shrunk_pass(Slots<V, float>& slots) {
    InnerTask<V, float>& t = slots.task;
    Range<V> range{0, 0};  // without an equality moves are judged against zero
    if (p_.groups > 0) range = range_of<V>(t.values, t.up, t.down, 0, n_);
    kept_.clear();
    for (Index s = 0; s < n_; ++s)
      if (!(t.values[s] + t.up[s] > range.max_down && t.values[s] + t.down[s] < range.min_up))
        kept_.push_back(s);
    const Index count[2] = {static_cast<Index>(kept_.size()), 0};
    if (10 * count[0] > 6 * n_) return;
    Slots<V, float> shrunk;
    shrunk.layout(p_.groups, count);
    InnerTask<V, float>& small = shrunk.task;
    workspace_.gathered.require(small.size * small.size);
    gathered_ = 0;
    shrunk_rows_ = small.rows;
    shrunk_size_ = small.size;
    for (Index k = 0; k < count[0]; ++k) shrunk.copy(k, t, kept_[k]);
    small.tol = t.tol;
    small.stop = t.stop;
    small.owner = this;
    small.fetch = [](void* owner, Index slot) -> const float* {
      return static_cast<TaskSolver*>(owner)->gather(slot);
    };
    small.max_steps = std::clamp(newton_.wait(), n_ / 4, burst);
    small.steps = 0;
    inner(small);
    count_steps(small.steps);
    sol_.negative_curvature |= small.negative_curvature;
    for (Index k = 0; k < count[0]; ++k) t.beta[kept_[k]] = small.beta[k];
    collect(slots, false);
  }

  void count_steps(Index steps) {
    sol_.n_iter += steps;
    newton_.count(steps);
  }

  /// The row of a shrunk slot: the kept columns of the full row.
  const float* gather(Index slot) {
    const float* full = row_of(kept_[slot]);
    float* row = workspace_.gathered.data() + gathered_++ * shrunk_size_;
    const Index n = static_cast<Index>(kept_.size());
    for (Index k = 0; k < n; ++k) row[k] = full[kept_[k]];
    std::fill(row + n, row + shrunk_size_, 0.0f);
    shrunk_rows_[slot] = row;
    return row;
  }

  static constexpr Index block = 64;

  const CostPath& path_;
  Index task_, first_, n_;
  const Index* rows_;
  const StoredMatrix& matrix_;
  const Settings& settings_;
  double gap_limit_, gap_ = 0;       ///< the last gap
  std::vector<double> diag_, root_;  ///< k(x, x) of the variables, and its roots
  double largest_ = 0;               ///< the largest of these
  Limits limits_;
  PathWorkspace& workspace_;
  std::vector<Run> runs_, valid_runs_;
  Problem p_, before_;  ///< of this value of C, and of the one before
  Solution sol_;
  Slots<float> quick_;
  Slots<double, float> fine_;
  std::vector<const float*> table_;      ///< rows of the slots
  const float** shrunk_rows_ = nullptr;  ///< rows of the shrunk slots
  Index size_ = 0, fetched_ = 0, shrunk_size_ = 0, gathered_ = 0;
  double tol_ = 0;  ///< of the steps that are being made
  Product high_, low_, valid_high_, valid_low_;
  std::vector<Index> kept_, changed_;
  std::vector<double> delta_;
  std::vector<const float*> pointers_;
  NewtonSteps newton_;
};

}  // namespace

void solve_cost_paths(const std::vector<StoredMatrix>& matrices, const std::vector<PathJob>& jobs,
                      const Settings& settings, double gap_limit) {
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
  std::vector<PathWorkspace> workspace(static_cast<std::size_t>(threads));
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
        TaskSolver(*job.path, piece.task, matrices[job.matrix], s, gap_limit, &stop,
                   workspace[worker])
            .run(job.results);
      },
      [&] {
        if (settings.interrupted && settings.interrupted()) stop.store(true);
      });
}

}  // namespace mercer
