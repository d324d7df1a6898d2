// Paths of problems along growing C: optimality of every step, agreement with single problems.
#include <algorithm>
#include <cmath>
#include <random>

#include "cost_path.hpp"
#include "harness.hpp"

using namespace mercer;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

/// Gaussian kernel values of random points, and targets for them.
template <class T>
struct Data {
  Index n, stride;
  std::vector<T> kernel;
  mutable std::vector<float> high, low;  ///< the sum of which the kernel is
  std::vector<double> label, target;

  explicit Data(Index size, unsigned seed = 3) : n(size), stride(size + 5) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    std::vector<double> x(static_cast<std::size_t>(2 * n));
    for (double& v : x) v = normal(random);
    kernel.assign(static_cast<std::size_t>(n * stride), T(-1));
    for (Index i = 0; i < n; ++i) {
      target.push_back(std::sin(2 * x[2 * i]) + 0.2 * normal(random));
      label.push_back(target.back() + x[2 * i + 1] > 0 ? 1 : -1);
      for (Index j = 0; j < n; ++j)
        kernel[i * stride + j] = static_cast<T>(std::exp(
            -0.8 * (std::pow(x[2 * i] - x[2 * j], 2) + std::pow(x[2 * i + 1] - x[2 * j + 1], 2))));
    }
  }
  StoredMatrix matrix() const {
    high.assign(kernel.begin(), kernel.end());
    low.clear();
    for (std::size_t k = 0; k < kernel.size(); ++k)
      low.push_back(static_cast<float>(kernel[k] - static_cast<T>(high[k])));
    return {high.data(), low.data(), n, stride};
  }
  double k(Index i, Index j) const { return static_cast<double>(kernel[i * stride + j]); }
};

enum class Kind { hinge, squared_hinge, tube };

template <class T>
CostTerms terms(const Data<T>& data, const std::vector<Index>& rows, Kind kind, double C) {
  const std::vector<double> zero(rows.size(), 0.0);
  CostTerms t{zero, zero, zero, zero, zero, zero, zero};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double y = data.label[rows[i]], z = data.target[rows[i]];
    if (kind == Kind::tube) {
      t.lower[i] = -C;
      t.upper[i] = C;
      t.slope_left[i] = -z - 0.1;
      t.slope_right[i] = -z + 0.1;
      continue;
    }
    (y > 0 ? t.upper : t.lower)[i] = y * (kind == Kind::hinge ? C : inf);
    t.slope_left[i] = t.slope_right[i] = -y;
    if (kind == Kind::squared_hinge) t.curv_left[i] = t.curv_right[i] = 1 / (2 * C);
  }
  return t;
}

/// Two tasks: scattered rows and consecutive ones; every fifth row is for validation.
template <class T>
CostPath path_on(const Data<T>& data, Kind kind, const std::vector<double>& costs, bool equality) {
  CostPath path;
  for (Index i = 0; i < data.n; ++i) {
    if (i % 5 == 0)
      path.valid.push_back(i);
    else if (i % 3 != 1)
      path.rows.push_back(i);
  }
  path.ends.push_back(path.variables());
  for (Index i = data.n / 4; i < data.n / 2; ++i) path.rows.push_back(i);
  path.ends.push_back(path.variables());
  path.equality = equality;
  for (const double C : costs) path.steps.push_back(terms(data, path.rows, kind, C));
  return path;
}

struct Found {
  std::vector<double> multiplier, violation, gap, beta, valid;
  std::vector<int> n_iter, n_faces, n_factorised;
  std::vector<signed char> status;

  explicit Found(const CostPath& p) {
    const std::size_t results = p.steps.size() * p.ends.size();
    multiplier.assign(results, NAN);
    violation = gap = multiplier;
    beta.assign(p.steps.size() * p.rows.size(), NAN);
    valid.assign(results * p.valid.size(), NAN);
    n_iter.assign(results, -1);
    n_faces = n_factorised = n_iter;
    status.assign(results, -1);
  }
  PathResults results() {
    return {multiplier.data(), violation.data(), gap.data(),          beta.data(),  valid.data(),
            n_iter.data(),     n_faces.data(),   n_factorised.data(), status.data()};
  }
};

template <class T>
Found solved(const Data<T>& data, const CostPath& path, const Settings& settings) {
  Found found(path);
  solve_cost_paths({data.matrix()}, {{&path, 0, found.results()}}, settings, 1e-3);
  return found;
}

Settings exact(double tol, int threads = 1) {
  Settings s;
  s.tol = tol;
  s.threads = threads;
  return s;
}

bool has(const Found& found, Status status) {
  for (const signed char s : found.status)
    if (s != static_cast<signed char>(status)) return false;
  return true;
}

bool any(const std::vector<int>& counts) {
  return std::any_of(counts.begin(), counts.end(), [](int count) { return count > 0; });
}

/// Bounds, sums, the violation from K beta as it is, and values on the validation rows, which may
/// lack a low part of the kernel values that is small beside the tolerance.
template <class T>
void check_every_step(const Data<T>& data, const CostPath& path, const Found& found, double tol) {
  const Index tasks = path.tasks(), m = static_cast<Index>(path.valid.size());
  for (std::size_t c = 0; c < path.steps.size(); ++c) {
    const CostTerms& t = path.steps[c];
    const double* beta = found.beta.data() + static_cast<Index>(c) * path.variables();
    const Problem p{
        t.lower, t.upper, t.slope_left, t.slope_right, t.curv_left, t.curv_right, t.kink, {}, 0};
    for (Index task = 0; task < tasks; ++task) {
      const Index first = task ? path.ends[task - 1] : 0, end = path.ends[task];
      const Index at = static_cast<Index>(c) * tasks + task;
      double sum = 0, size = 0, up = inf, down = -inf;
      for (Index i = first; i < end; ++i) {
        CHECK(t.lower[i] <= beta[i] && beta[i] <= t.upper[i]);
        sum += beta[i];
        size += std::fabs(beta[i]);
        double value = 0;
        for (Index j = first; j < end; ++j) value += data.k(path.rows[i], path.rows[j]) * beta[j];
        if (beta[i] < t.upper[i]) up = std::min(up, value + p.slope_up(i, beta[i]));
        if (beta[i] > t.lower[i]) down = std::max(down, value + p.slope_down(i, beta[i]));
      }
      const double violation = path.equality ? down - up : std::max(down, -up);
      const double error = 1e-12 * size + 0.05 * tol;
      CHECK(violation <= tol + 2 * error);
      CHECK_NEAR(std::max(violation, 0.0), found.violation[at], 2 * error);
      if (path.equality) CHECK_NEAR(sum, 0, 1e-13 * size);
      for (Index v = 0; v < m; ++v) {
        double value = 0;
        for (Index j = first; j < end; ++j) value += data.k(path.valid[v], path.rows[j]) * beta[j];
        CHECK_NEAR(value, found.valid[at * m + v], error);
      }
    }
  }
}

}  // namespace

TEST(every_step_of_a_cost_path_is_optimal) {
  const std::vector<double> costs = {0.01, 0.1, 1, 3, 100};
  for (const Kind kind : {Kind::hinge, Kind::squared_hinge, Kind::tube})
    for (const bool equality : {true, false})
      for (const Index n : {37, 90}) {
        const Data<double> data(n);
        const CostPath path = path_on(data, kind, costs, equality);
        const Found found = solved(data, path, exact(1e-6));
        CHECK(has(found, Status::optimal));
        check_every_step(data, path, found, 1e-6);
      }
}
TEST(cost_paths_with_shrinking_and_conjugate_steps_are_optimal) {
  const Data<float> data(1300);  // 693 rows in one task: enough for shrinking
  const CostPath path = path_on(data, Kind::squared_hinge, {1, 1000}, true);
  const Found found = solved(data, path, exact(1e-4));
  CHECK(has(found, Status::optimal) && any(found.n_faces));
  check_every_step(data, path, found, 1e-4);
}
TEST(cost_paths_with_factorised_steps_are_optimal) {
  const Data<float> data(1300);  // one task of 693 rows, with a kernel of falling spectrum
  for (const Kind kind : {Kind::hinge, Kind::tube})
    for (const bool equality : {true, false}) {
      const CostPath path = path_on(data, kind, {1, 100, 1000}, equality);
      const Found found = solved(data, path, exact(1e-4));
      CHECK(has(found, Status::optimal) && any(found.n_factorised));
      check_every_step(data, path, found, 1e-4);
    }
}
TEST(a_cost_path_gives_what_its_problems_give_alone) {
  const std::vector<double> costs = {0.05, 0.7, 20};
  const Data<double> data(120);
  for (const Kind kind : {Kind::hinge, Kind::squared_hinge, Kind::tube}) {
    const CostPath path = path_on(data, kind, costs, true);
    const Found all = solved(data, path, exact(1e-9));
    for (std::size_t c = 0; c < costs.size(); ++c) {
      const Found alone = solved(data, path_on(data, kind, {costs[c]}, true), exact(1e-9));
      for (std::size_t v = 0; v < alone.valid.size(); ++v)
        CHECK_NEAR(alone.valid[v], all.valid[c * alone.valid.size() + v], 1e-6);
    }
  }
}
TEST(a_larger_bound_that_no_coefficient_meets_takes_no_step) {
  Data<double> data(60);
  for (Index i = 0; i < data.n; ++i) data.kernel[i * data.stride + i] += 1;  // separable
  const CostPath path = path_on(data, Kind::hinge, {10, 20}, true);
  const Found found = solved(data, path, exact(1e-9));
  const auto half = static_cast<std::ptrdiff_t>(found.beta.size() / 2);
  for (Index task = 0; task < 2; ++task)
    CHECK(found.n_iter[task] > 0 && found.n_iter[2 + task] == 0);
  CHECK(std::equal(found.beta.begin(), found.beta.begin() + half, found.beta.begin() + half));
}
TEST(cost_paths_are_the_same_bits_for_any_number_of_threads) {
  const Data<float> data(200);
  const CostPath path = path_on(data, Kind::tube, {0.1, 1, 10}, true);
  const Found one = solved(data, path, exact(1e-4, 1)), three = solved(data, path, exact(1e-4, 3));
  CHECK(one.beta == three.beta && one.valid == three.valid && one.n_iter == three.n_iter);
}
TEST(limits_end_a_cost_path) {
  const Data<double> data(300);
  const CostPath path = path_on(data, Kind::hinge, {1, 1e4, 1e8}, true);
  Settings s = exact(1e-9);
  s.time_limit = 1e-9;
  const Found late = solved(data, path, s);
  CHECK(has(late, Status::time_limit));
  s.time_limit = 0;
  s.interrupted = [] { return true; };
  const Found stopped = solved(data, path, s);
  CHECK(has(stopped, Status::interrupted));
  for (const Found* found : {&late, &stopped})
    for (std::size_t i = 0; i < found->beta.size(); ++i) CHECK(std::isfinite(found->beta[i]));
}
TEST(a_cost_path_refuses_values_that_overflowed) {
  Data<double> data(20);
  data.kernel[11 * data.stride + 11] = inf;
  const CostPath path = path_on(data, Kind::hinge, {1}, true);
  CHECK_THROWS(solved(data, path, exact(1e-3)));
}
