#include "cost_path.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

#include "isa/dispatch.hpp"
#include "memory.hpp"
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
        valid_runs_(runs_of(path.valid.data(), static_cast<Index>(path.valid.size()))) {
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
      to.gap[at] = gap_;
      to.n_iter[at] = static_cast<int>(std::min<Index>(sol_.n_iter, 2147483647));
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

  /// A linear function of the free variables that a step must not change: one of them, or the sum.
  struct Constraint {
    Index variable;              ///< -1: the sum
    std::vector<double> column;  ///< its coefficients times the inverse, under those before it

    double of(const std::vector<double>& v) const {
      return variable < 0 ? std::accumulate(v.begin(), v.end(), 0.0) : v[variable];
    }
  };

  static constexpr Index burst = 50000;
  static constexpr Index worth_shrinking = 600;
  /// Steps after which a problem is left to other methods.
  static constexpr Index patience = 400000, patience_per_row = 400;
  /// Free variables that pair steps deal with, bounds that one Newton step may meet, and the
  /// multiplications of a factorisation that cost as much as a pair step.
  static constexpr Index few_free = 32, most_met = 100, products_per_step = 8000;
  static constexpr Index least_wait = 4000;  ///< pair steps between Newton steps
  /// Well-conditioned matrices, or more free variables than are factorised: pair steps for every
  /// row between steps on faces; how many of these, the products for each.
  static constexpr Index most_factorised = 1000, steps_per_row = 8;
  static constexpr int faces = 8, products = 40, shorter = 4, halvings = 60;
  static constexpr double residual_left = 0.03;
  /// Added to the diagonal before it is factorised in single precision, relative to it.
  static constexpr double ridge = 1e-6;
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
    sol_.n_iter = 0;
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
    if (!ill_conditioned_) since_newton_ = 0, wait_ = steps_per_row * n_;
    double previous = infinite;
    for (;;) {
      if (limits_.interrupted() || limits_.out_of_time()) {
        sol_.status = limits_.interrupted() ? Status::interrupted : Status::time_limit;
        break;
      }
      if (since_newton_ >= wait_) {
        collect(slots, false);
        if (newton_is_due()) {
          since_newton_ = 0;
          if (factorises())
            newton_step();
          else
            face_steps();
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
    small.max_steps = std::clamp(wait_ - since_newton_, n_ / 4, burst);
    small.steps = 0;
    inner(small);
    count_steps(small.steps);
    sol_.negative_curvature |= small.negative_curvature;
    for (Index k = 0; k < count[0]; ++k) t.beta[kept_[k]] = small.beta[k];
    collect(slots, false);
  }

  void count_steps(Index steps) {
    sol_.n_iter += steps;
    since_newton_ += steps;
  }

  /// Whether the pair steps since the last Newton step, which may be those of the problem before,
  /// have cost more than the next one will.
  bool newton_is_due() {
    free_.clear();
    for (Index i = 0; i < n_; ++i)
      if (is_free(i)) free_.push_back(i);
    const Index f = static_cast<Index>(free_.size());
    wait_ = factorises() ? std::max(least_wait, f * f * f / (3 * products_per_step))
                         : steps_per_row * n_;
    return f > few_free && since_newton_ >= wait_;
  }

  bool factorises() const {
    return ill_conditioned_ && static_cast<Index>(free_.size()) <= most_factorised;
  }

  bool is_free(Index i) const {
    const double b = sol_.beta[i];
    return b > p_.lower[i] && b < p_.upper[i] && b != p_.kink[i];
  }

  /// A Newton step on the free variables within the bounds, where many free variables make pair
  /// steps crawl: it goes on from every bound that it meets without the variable that met it.
  void newton_step() {
    factorise();
    const std::size_t n = free_.size();
    std::vector<double> direction(n), target(n);
    for (std::size_t k = 0; k < n; ++k) {
      target[k] = sol_.beta[free_[k]];
      direction[k] = -sol_.values[free_[k]] - p_.slope_up(free_[k], target[k]);
    }
    confine(direction);
    for (Index met = 0; met <= most_met; ++met) {
      double part = 1;
      std::size_t last = n;
      for (std::size_t k = 0; k < n; ++k) {
        if (direction[k] == 0) continue;
        const double room = (end_of(free_[k], direction[k]) - target[k]) / direction[k];
        if (room < part) part = room, last = k;
      }
      add_multiple(target, part, direction);
      if (last == n) break;
      target[last] = end_of(free_[last], direction[last]);
      std::vector<double> column(n, 0.0);
      column[last] = 1;
      confine(column);
      if (!(column[last] > 0)) break;
      add_multiple(direction, -part, direction);
      add_multiple(direction, -direction[last] / column[last], column);
      constraints_.push_back({static_cast<Index>(last), std::move(column)});
      for (const Constraint& c : constraints_)
        if (c.variable >= 0) direction[c.variable] = 0;
    }
    for (std::size_t k = 0; k < n; ++k)  // rounding may have crossed a bound
      target[k] = std::clamp(target[k], end_of(free_[k], -1), end_of(free_[k], 1));
    keep_sum(target);
    move_if_better(target);
  }

  /// The Cholesky factor U'U of the kernel matrix of the free variables, row by row in single
  /// precision: the ridge is as large as its rounding.
  void factorise() {
    const Index n = static_cast<Index>(free_.size()), width = round_up(n, slot_align);
    workspace_.gathered.require(width * width);
    factor_.clear();
    std::vector<double> sums(static_cast<std::size_t>(width));
    for (Index r = 0; r < n; ++r) {
      const Index i = free_[r], from = r / slot_align * slot_align;
      const float* full = row_of(i);
      std::fill(sums.begin() + from, sums.end(), 0.0);
      for (Index k = r; k < n; ++k) sums[k] = static_cast<double>(full[free_[k]]);
      sums[r] += curvature(i) + ridge * diag_[i];
      pointers_.clear();
      delta_.clear();
      for (const float* above : factor_) {
        pointers_.push_back(above + from);
        delta_.push_back(-static_cast<double>(above[r]));
      }
      ops<float>().axpy_rows(sums.data() + from, pointers_.data(), delta_.data(),
                             static_cast<int>(r), width - from);
      const double root = std::sqrt(std::max(sums[r], 0.5 * ridge * diag_[i]));
      float* row = workspace_.gathered.data() + r * width;
      std::fill(row, row + width, 0.0f);
      row[r] = static_cast<float>(root);
      for (Index k = r + 1; k < n; ++k) row[k] = static_cast<float>(sums[k] / root);
      factor_.push_back(row);
    }
    constraints_.clear();
    if (!p_.groups) return;
    Constraint equality{-1, std::vector<double>(free_.size(), 1.0)};
    substitute(equality.column);
    constraints_.push_back(std::move(equality));
  }

  /// v = the inverse of the factorised matrix times v.
  void substitute(std::vector<double>& v) const {
    const Index n = static_cast<Index>(v.size()), width = round_up(n, slot_align);
    v.resize(static_cast<std::size_t>(width), 0.0);
    for (Index r = 0; r < n; ++r) {
      if (v[r] == 0) continue;
      const float* row = factor_[r] + r + 1;
      const double minus = -(v[r] /= static_cast<double>(factor_[r][r]));
      ops<float>().axpy_rows(v.data() + r + 1, &row, &minus, 1, n - r - 1);
    }
    for (Index r = n - 1; r >= 0; --r) {
      const Index from = r / slot_align * slot_align;
      double x = std::exchange(v[r], 0.0), lanes[largest_panel] = {};
      ops<float>().dot_lanes(factor_[r] + from, v.data() + from, width - from, lanes);
      for (const double lane : lanes) x -= lane;
      v[r] = x / static_cast<double>(factor_[r][r]);
    }
    v.resize(static_cast<std::size_t>(n));
  }

  /// x = the minimiser of 1/2 x'(U'U) x - v'x under all constraints, in place of v.
  void confine(std::vector<double>& v) const {
    substitute(v);
    for (const Constraint& c : constraints_) {
      add_multiple(v, -c.of(v) / c.of(c.column), c.column);
      if (c.variable >= 0) v[c.variable] = 0;
    }
  }

  static void add_multiple(std::vector<double>& v, double t, const std::vector<double>& w) {
    for (std::size_t k = 0; k < v.size(); ++k) v[k] += t * w[k];
  }

  /// Gives what rounding has added to the sum of the free variables to one that has room for it.
  void keep_sum(std::vector<double>& target) const {
    double excess = 0;
    for (std::size_t k = 0; k < target.size(); ++k) excess += target[k] - sol_.beta[free_[k]];
    for (std::size_t k = 0; p_.groups && k < target.size(); ++k) {
      const double to = target[k] - excess;
      if (to <= end_of(free_[k], -1) || to >= end_of(free_[k], 1)) continue;
      target[k] = to;
      return;
    }
  }

  /// Moves the free variables, and the values with them, where that lowers the objective.
  bool move_if_better(const std::vector<double>& target) {
    pointers_.clear();
    delta_.clear();
    for (std::size_t k = 0; k < target.size(); ++k) {
      pointers_.push_back(row_of(free_[k]));
      delta_.push_back(target[k] - sol_.beta[free_[k]]);
    }
    std::vector<double> image(static_cast<std::size_t>(size_), 0.0);
    ops<float>().axpy_rows(image.data(), pointers_.data(), delta_.data(),
                           static_cast<int>(pointers_.size()), size_);
    double change = 0;
    for (std::size_t k = 0; k < target.size(); ++k) {
      const Index i = free_[k];
      const double d = delta_[k], slope = sol_.values[i] + p_.slope_up(i, sol_.beta[i]);
      change += d * (slope + 0.5 * (image[i] + curvature(i) * d));
    }
    if (!(change < 0)) return false;
    for (std::size_t k = 0; k < target.size(); ++k) sol_.beta[free_[k]] = target[k];
    for (Index i = 0; i < n_; ++i) sol_.values[i] += image[i];
    return true;
  }

  /// Curvature of the piece of phi_i that holds beta_i.
  double curvature(Index i) const {
    return sol_.beta[i] > p_.kink[i] ? p_.curv_right[i] : p_.curv_left[i];
  }

  /// Where the piece of phi_i that holds beta_i ends in the direction d.
  double end_of(Index i, double d) const {
    const bool right = sol_.beta[i] > p_.kink[i];
    if (d > 0) return right ? p_.upper[i] : std::min(p_.kink[i], p_.upper[i]);
    return right ? std::max(p_.kink[i], p_.lower[i]) : p_.lower[i];
  }

  /// The same without a factorisation: conjugate gradients nearly minimise over a face of the box,
  /// and go on from the projection onto it, which takes some variables to the bounds of the face:
  /// these stay there. Where they run out of products, the next steps factorise.
  void face_steps() {
    const Index all = static_cast<Index>(free_.size());
    gather_free();
    for (int k = 0; k<faces&& static_cast<Index>(free_.size())> few_free; ++k) {
      if (!conjugate_gradients(all) || !projected_step()) break;
      const auto stays = [&](Index i) { return !is_free(i); };
      if (std::none_of(free_.begin(), free_.end(), stays)) break;
      drop(stays);
    }
  }

  /// The kernel matrix of the free variables.
  void gather_free() {
    const Index n = static_cast<Index>(free_.size()), width = round_up(n, slot_align);
    workspace_.gathered.require(width * width);
    free_rows_.clear();
    for (Index r = 0; r < n; ++r) {
      const float* full = row_of(free_[r]);
      float* row = workspace_.gathered.data() + r * width;
      for (Index k = 0; k < n; ++k) row[k] = full[free_[k]];
      free_rows_.push_back(row);
    }
    place_.resize(static_cast<std::size_t>(n));
    std::iota(place_.begin(), place_.end(), Index(0));
  }

  /// Removes variables from the free ones; their columns stay.
  template <class Condition>
  void drop(Condition condition) {
    std::size_t kept = 0;
    for (std::size_t k = 0; k < free_.size(); ++k) {
      if (condition(free_[k])) continue;
      free_[kept] = free_[k];
      place_[kept] = place_[k];
      free_rows_[kept++] = free_rows_[k];
    }
    free_.resize(kept);
    place_.resize(kept);
    free_rows_.resize(kept);
  }

  /// direction_ = the Newton step of the free variables, nearly; false where they are optimal.
  bool conjugate_gradients(Index columns) {
    const std::size_t n = free_.size();
    std::vector<double> residual(n), search(n, 0.0), image(static_cast<std::size_t>(columns));
    direction_.assign(n, 0.0);
    double largest = 0;
    for (std::size_t k = 0; k < n; ++k)
      residual[k] = -sol_.values[free_[k]] - p_.slope_up(free_[k], sol_.beta[free_[k]]);
    double length = centred(residual), previous = 0;
    for (const double r : residual) largest = std::max(largest, std::fabs(r));
    if (!(largest > 0.25 * tol_)) return false;
    const double enough = residual_left * residual_left * length;
    for (int step = 0; step < products && length > enough; ++step) {
      const double keep = previous > 0 ? length / previous : 0.0;
      for (std::size_t k = 0; k < n; ++k) search[k] = residual[k] + keep * search[k];
      std::fill(image.begin(), image.end(), 0.0);
      ops<float>().axpy_rows(image.data(), free_rows_.data(), search.data(), static_cast<int>(n),
                             columns);
      double curve = 0;
      for (std::size_t k = 0; k < n; ++k) {
        const Index i = free_[k];
        double& to = image[place_[k]];
        to += search[k] * curvature(i);
        curve += search[k] * to;
      }
      if (!(curve > 0)) break;
      const double along = length / curve;
      for (std::size_t k = 0; k < n; ++k) {
        direction_[k] += along * search[k];
        residual[k] -= along * image[place_[k]];
      }
      previous = length;
      length = centred(residual);
    }
    ill_conditioned_ |= length > enough;
    return true;
  }

  /// Moves the free variables along direction_, cut off at the bounds of the face, as far as the
  /// objective falls; false where it does not.
  bool projected_step() {
    std::vector<double> target(free_.size());
    double part = 1;
    for (int k = 0; k < shorter; ++k, part *= 0.25) {
      project(part, target);
      if (move_if_better(target)) return true;
    }
    return false;
  }

  /// The point of the face next to beta + part * direction_ whose sum is that of beta.
  void project(double part, std::vector<double>& target) const {
    const std::size_t n = free_.size();
    const auto shifted = [&](double shift) {
      double excess = 0;
      for (std::size_t f = 0; f < n; ++f) {
        const Index i = free_[f];
        const double b = sol_.beta[i];
        target[f] = std::clamp(b + part * direction_[f] - shift, end_of(i, -1), end_of(i, 1));
        excess += target[f] - b;
      }
      return excess;
    };
    double excess = shifted(0);
    if (!p_.groups || excess == 0) return;
    double low = 0, high = 0;  // between which the excess vanishes
    for (double step = excess / static_cast<double>(n); excess * step > 0; step *= 2) {
      double& end = step > 0 ? high : low;
      (step > 0 ? low : high) = end;
      end += step;
      excess = shifted(end);
    }
    for (int k = 0; k < halvings && excess != 0; ++k) {
      const double middle = 0.5 * (low + high);
      excess = shifted(middle);
      (excess > 0 ? low : high) = middle;
    }
    keep_sum(target);
  }

  /// Removes the mean where there is an equality; returns the sum of squares.
  double centred(std::vector<double>& v) const {
    const double sum = std::accumulate(v.begin(), v.end(), 0.0);
    const double mean = p_.groups ? sum / static_cast<double>(v.size()) : 0.0;
    double squares = 0;
    for (double& x : v) {
      x -= mean;
      squares += x * x;
    }
    return squares;
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
  Index since_newton_ = 0, wait_ = 0;  ///< pair steps since the last Newton step, until the next
  bool ill_conditioned_ = false;       ///< whether conjugate gradients ran out of products
  std::vector<Index> kept_, changed_, free_, place_;  ///< of free variables in their matrix
  std::vector<double> delta_, direction_;
  std::vector<const float*> pointers_, free_rows_, factor_;  ///< rows of the Cholesky factor
  std::vector<Constraint> constraints_;                      ///< of the Newton step
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
