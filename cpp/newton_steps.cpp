#include "newton_steps.hpp"

#include <algorithm>
#include <cmath>

#include "isa/dispatch.hpp"
#include "solver_parts.hpp"

namespace mercer {

namespace {

/// Free variables that pair steps deal with, bounds that one Newton step may meet, and the
/// multiplications of a factorisation that cost as much as a pair step.
constexpr Index few_free = 32, most_met = 100, products_per_step = 8000;
constexpr Index least_wait = 4000;  ///< pair steps between Newton steps
/// Well-conditioned matrices, or more free variables than are factorised: pair steps for every
/// row between steps on faces; how many of these, the products for each.
constexpr Index most_factorised = 1000, steps_per_row = 8;
constexpr int faces = 8, products = 40, shorter = 4, halvings = 60;
constexpr double residual_left = 0.03;
/// Added to the diagonal before it is factorised in single precision, relative to it.
constexpr double ridge = 1e-6;

void add_multiple(std::vector<double>& v, double t, const std::vector<double>& w) {
  for (std::size_t k = 0; k < v.size(); ++k) v[k] += t * w[k];
}

}  // namespace

void NewtonSteps::begin() {
  if (!ill_conditioned_) since_ = 0, wait_ = steps_per_row * p_.size();
}

void NewtonSteps::step(double tol) {
  since_ = 0;
  if (factorises()) {
    ++factorised;
    newton_step();
  } else {
    ++on_faces;
    face_steps(tol);
  }
}

bool NewtonSteps::due() {
  free_.clear();
  for (Index i = 0; i < p_.size(); ++i)
    if (is_free(i)) free_.push_back(i);
  const Index f = static_cast<Index>(free_.size());
  wait_ = factorises() ? std::max(least_wait, f * f * f / (3 * products_per_step))
                       : steps_per_row * p_.size();
  return f > few_free && since_ >= wait_;
}

bool NewtonSteps::factorises() const {
  return ill_conditioned_ && static_cast<Index>(free_.size()) <= most_factorised;
}

bool NewtonSteps::is_free(Index i) const {
  const double b = sol_.beta[i];
  return b > p_.lower[i] && b < p_.upper[i] && b != p_.kink[i];
}

/// A Newton step on the free variables within the bounds, where many free variables make pair
/// steps crawl: it goes on from every bound that it meets without the variable that met it.
void NewtonSteps::newton_step() {
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
void NewtonSteps::factorise() {
  const Index n = static_cast<Index>(free_.size()), width = round_up(n, slot_align);
  storage_.require(width * width);
  factor_.clear();
  std::vector<double> sums(static_cast<std::size_t>(width));
  for (Index r = 0; r < n; ++r) {
    const Index i = free_[r], from = r / slot_align * slot_align;
    const float* full = row_(i);
    std::fill(sums.begin() + from, sums.end(), 0.0);
    for (Index k = r; k < n; ++k) sums[k] = static_cast<double>(full[free_[k]]);
    sums[r] += curvature(i) + ridge * diag_[i];
    pointers_.clear();
    delta_.clear();
    for (const float* above : factor_) {
      pointers_.push_back(above + from);
      delta_.push_back(-static_cast<double>(above[r]));
    }
    ops<float>().axpy_rows(sums.data() + from, pointers_.data(), delta_.data(), static_cast<int>(r),
                           width - from);
    const double root = std::sqrt(std::max(sums[r], 0.5 * ridge * diag_[i]));
    float* row = storage_.data() + r * width;
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
void NewtonSteps::substitute(std::vector<double>& v) const {
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
void NewtonSteps::confine(std::vector<double>& v) const {
  substitute(v);
  for (const Constraint& c : constraints_) {
    add_multiple(v, -c.of(v) / c.of(c.column), c.column);
    if (c.variable >= 0) v[c.variable] = 0;
  }
}

/// Gives what rounding has added to the sum of the free variables to one that has room for it.
void NewtonSteps::keep_sum(std::vector<double>& target) const {
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
bool NewtonSteps::move_if_better(const std::vector<double>& target) {
  pointers_.clear();
  delta_.clear();
  for (std::size_t k = 0; k < target.size(); ++k) {
    pointers_.push_back(row_(free_[k]));
    delta_.push_back(target[k] - sol_.beta[free_[k]]);
  }
  const Index size = round_up(p_.size(), slot_align);
  std::vector<double> image(static_cast<std::size_t>(size), 0.0);
  ops<float>().axpy_rows(image.data(), pointers_.data(), delta_.data(),
                         static_cast<int>(pointers_.size()), size);
  double change = 0;
  for (std::size_t k = 0; k < target.size(); ++k) {
    const Index i = free_[k];
    const double d = delta_[k], slope = sol_.values[i] + p_.slope_up(i, sol_.beta[i]);
    change += d * (slope + 0.5 * (image[i] + curvature(i) * d));
  }
  if (!(change < 0)) return false;
  for (std::size_t k = 0; k < target.size(); ++k) sol_.beta[free_[k]] = target[k];
  for (Index i = 0; i < p_.size(); ++i) sol_.values[i] += image[i];
  return true;
}

/// Curvature of the piece of phi_i that holds beta_i.
double NewtonSteps::curvature(Index i) const {
  return sol_.beta[i] > p_.kink[i] ? p_.curv_right[i] : p_.curv_left[i];
}

/// Where the piece of phi_i that holds beta_i ends in the direction d.
double NewtonSteps::end_of(Index i, double d) const {
  const bool right = sol_.beta[i] > p_.kink[i];
  if (d > 0) return right ? p_.upper[i] : std::min(p_.kink[i], p_.upper[i]);
  return right ? std::max(p_.kink[i], p_.lower[i]) : p_.lower[i];
}

/// The same without a factorisation: conjugate gradients nearly minimise over a face of the box,
/// and go on from the projection onto it, which takes some variables to the bounds of the face:
/// these stay there. Where they run out of products, the next steps factorise.
void NewtonSteps::face_steps(double tol) {
  const Index all = static_cast<Index>(free_.size());
  gather_free();
  for (int k = 0; k<faces&& static_cast<Index>(free_.size())> few_free; ++k) {
    if (!conjugate_gradients(all, tol) || !projected_step()) break;
    const auto stays = [&](Index i) { return !is_free(i); };
    if (std::none_of(free_.begin(), free_.end(), stays)) break;
    drop(stays);
  }
}

/// The kernel matrix of the free variables.
void NewtonSteps::gather_free() {
  const Index n = static_cast<Index>(free_.size()), width = round_up(n, slot_align);
  storage_.require(width * width);
  free_rows_.clear();
  for (Index r = 0; r < n; ++r) {
    const float* full = row_(free_[r]);
    float* row = storage_.data() + r * width;
    for (Index k = 0; k < n; ++k) row[k] = full[free_[k]];
    free_rows_.push_back(row);
  }
  place_.resize(static_cast<std::size_t>(n));
  std::iota(place_.begin(), place_.end(), Index(0));
}

/// Removes variables from the free ones; their columns stay.
template <class Condition>
void NewtonSteps::drop(Condition condition) {
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
bool NewtonSteps::conjugate_gradients(Index columns, double tol) {
  const std::size_t n = free_.size();
  std::vector<double> residual(n), search(n, 0.0), image(static_cast<std::size_t>(columns));
  direction_.assign(n, 0.0);
  double largest = 0;
  for (std::size_t k = 0; k < n; ++k)
    residual[k] = -sol_.values[free_[k]] - p_.slope_up(free_[k], sol_.beta[free_[k]]);
  double length = centred(residual), previous = 0;
  for (const double r : residual) largest = std::max(largest, std::fabs(r));
  if (!(largest > 0.25 * tol)) return false;
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
bool NewtonSteps::projected_step() {
  std::vector<double> target(free_.size());
  double part = 1;
  for (int k = 0; k < shorter; ++k, part *= 0.25) {
    project(part, target);
    if (move_if_better(target)) return true;
  }
  return false;
}

/// The point of the face next to beta + part * direction_ whose sum is that of beta.
void NewtonSteps::project(double part, std::vector<double>& target) const {
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
double NewtonSteps::centred(std::vector<double>& v) const {
  const double sum = std::accumulate(v.begin(), v.end(), 0.0);
  const double mean = p_.groups ? sum / static_cast<double>(v.size()) : 0.0;
  double squares = 0;
  for (double& x : v) {
    x -= mean;
    squares += x * x;
  }
  return squares;
}

}  // namespace mercer
