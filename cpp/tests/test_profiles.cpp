// The instructions on single values, on every instruction set, against the standard library.
#include <algorithm>
#include <limits>
#include <vector>

#include "every_isa.hpp"
#include "harness.hpp"
#include "isa/dispatch.hpp"

using namespace mercer;
using mercer::testing::on_every_isa;

namespace {

/// Numbers from tiny to huge, of the sign given, with 0.
template <class T>
std::vector<T> magnitudes(double sign = 1) {
  std::vector<T> x{T(0)};
  for (double v = 1e-30; v < 1e30; v *= 1.37) x.push_back(static_cast<T>(sign * v));
  for (double v = 0.01; v < 3; v += 0.0173) x.push_back(static_cast<T>(sign * v));
  return x;
}

template <class T>
std::vector<T> mapped(const std::vector<T>& x, void (*f)(const T*, T*, Index)) {
  std::vector<T> y(x.size());
  f(x.data(), y.data(), static_cast<Index>(x.size()));
  return y;
}

/// Roundings of a precision.
template <class T>
double ulps(double n) {
  return n * static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
}

template <class T>
void check_elementary() {
  const Ops<T>& o = ops<T>();
  const std::vector<T> x = magnitudes<T>();
  const auto roots = mapped(x, o.sqrt), logs = mapped(x, o.log), inverses = mapped(x, o.reciprocal);
  for (std::size_t k = 1; k < x.size(); ++k) {
    const double v = x[k];
    CHECK_NEAR(roots[k] / std::sqrt(v), 1, ulps<T>(2));
    CHECK_NEAR(logs[k], std::log(v), ulps<T>(4) * std::max(std::fabs(std::log(v)), 1e-3));
    CHECK_NEAR(inverses[k] * v, 1, ulps<T>(3));
  }
  CHECK(roots[0] == 0 && inverses[0] == std::numeric_limits<T>::infinity());
  CHECK(logs[0] * T(0) == 0);  // the logarithm of 0 is a finite number
  CHECK(mapped(std::vector<T>{T(-1e-9)}, o.sqrt)[0] == 0);
  CHECK(std::isnan(mapped(std::vector<T>{T(-1)}, o.log)[0]));
  CHECK(mapped(std::vector<T>{std::numeric_limits<T>::infinity()}, o.log)[0] ==
        std::numeric_limits<T>::infinity());
  CHECK(mapped(std::vector<T>{T(1)}, o.log)[0] == 0);
  const auto shifted = mapped(x, o.log1p), hyperbolic = mapped(x, o.tanh);
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double v = x[k], floor = std::numeric_limits<T>::min();
    CHECK_NEAR(shifted[k], std::log1p(v), ulps<T>(8) * std::log1p(v) + floor);
    CHECK_NEAR(hyperbolic[k], std::tanh(v), ulps<T>(8) * std::tanh(v) + floor);
  }
  CHECK(mapped(std::vector<T>{T(-0.5)}, o.tanh)[0] == -mapped(std::vector<T>{T(0.5)}, o.tanh)[0]);
  CHECK_NEAR(mapped(std::vector<T>{T(-0.5)}, o.log1p)[0], std::log(0.5), ulps<T>(8));
  CHECK(mapped(std::vector<T>{std::numeric_limits<T>::infinity()}, o.log1p)[0] ==
        std::numeric_limits<T>::infinity());
}

template <class T>
void check_power() {
  const Ops<T>& o = ops<T>();
  for (double a : {0.3, 0.5, 1.0, 1.7, 2.0, 3.0, 7.3, -0.5, -1.0, -2.6, 0.0}) {
    std::vector<T> x = magnitudes<T>(), y = x;
    o.power(x.data(), y.data(), static_cast<Index>(y.size()), a);
    const double largest = std::numeric_limits<T>::max(), smallest = std::numeric_limits<T>::min();
    for (std::size_t k = 1; k < x.size(); ++k) {
      const double exact = std::pow(static_cast<double>(x[k]), a);
      if (exact < 4 * smallest || exact > largest / 4) continue;
      CHECK_NEAR(y[k] / exact, 1, ulps<T>(6 + 3 * std::fabs(a)));
    }
    const double at_zero = a > 0 ? 0.0 : a < 0 ? INFINITY : 1.0;
    CHECK(static_cast<double>(y[0]) == at_zero);
    std::vector<T> ends{T(-1e-12), std::numeric_limits<T>::infinity(), T(1),
                        std::numeric_limits<T>::quiet_NaN()};
    o.power(ends.data(), ends.data(), 4, a);
    CHECK(static_cast<double>(ends[0]) == at_zero);
    CHECK(static_cast<double>(ends[1]) == (a > 0 ? INFINITY : a < 0 ? 0.0 : 1.0));
    CHECK(ends[2] == T(1));
    CHECK(std::isnan(ends[3]));
  }
}

template <class T>
void check_cos() {
  std::vector<T> x;
  for (double v = -20; v < 20; v += 0.0137) x.push_back(static_cast<T>(v));
  for (double v = 1; v < 1e5; v *= 1.0173) x.push_back(static_cast<T>(-v));
  for (int n = 1; n < 30000; n += 331) x.push_back(static_cast<T>(n * M_PI / 2));
  const auto y = mapped(x, ops<T>().cos);
  for (std::size_t k = 0; k < x.size(); ++k)
    CHECK_NEAR(y[k], std::cos(static_cast<double>(x[k])), ulps<T>(4));
  CHECK(mapped(std::vector<T>{T(0)}, ops<T>().cos)[0] == 1);
  const T far = mapped(std::vector<T>{T(1e30)}, ops<T>().cos)[0];
  CHECK(std::isfinite(far));
}

template <class T>
void check_polynomial() {
  const std::vector<T> c{T(0.5), T(-2), T(0), T(3)};
  std::vector<T> x;
  for (double v = -3; v < 3; v += 0.11) x.push_back(static_cast<T>(v));
  std::vector<T> y = x;
  ops<T>().polynomial(x.data(), y.data(), static_cast<Index>(y.size()), c.data(), 3);
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double v = x[k];
    CHECK_NEAR(y[k], 0.5 * v * v * v - 2 * v * v + 3, ulps<T>(120));
  }
}

template <class T>
void check_tables() {
  // Pieces 0 ... 15 of the value piece + f^2, whatever the grid.
  const Index pieces = 16;
  std::vector<T> c(static_cast<std::size_t>(3 * pieces), T(0));
  for (Index p = 0; p < pieces; ++p) c[p] = 1, c[2 * pieces + p] = static_cast<T>(p);
  TableView<T> table{Grid::even, pieces, 2, T(4), T(0), T(-7), T(-9), c.data()};
  const auto at = [&](double v) {
    T x = static_cast<T>(v);
    ops<T>().table(&x, &x, 1, table);
    return static_cast<double>(x);
  };
  CHECK(at(0) == 0);
  CHECK_NEAR(at(0.3), 1 + 0.2 * 0.2, ulps<T>(20));
  CHECK_NEAR(at(3.9), 15 + 0.6 * 0.6, ulps<T>(200));
  CHECK(at(4.0) == -9 && at(1e9) == -9 && at(INFINITY) == -9);
  CHECK(at(-0.5) == -7);
  CHECK(std::isnan(at(NAN)));
  table.grid = Grid::root;
  CHECK_NEAR(at(2.25), 6, ulps<T>(20));
  CHECK(at(16.0) == -9 && at(-1.0) == 0);
  CHECK(std::isnan(at(NAN)));
  // Two octaves from 1/2 on; the exponents of the numbers are biased.
  table.grid = Grid::octaves;
  const int bias = sizeof(T) == 4 ? 127 : 1023;
  table.first = static_cast<T>((bias - 1) * 8);
  CHECK(at(0.0) == -7 && at(0.49) == -7 && at(-1.0) == -7);
  CHECK(at(0.5) == 0 && at(1.0) == 8);
  CHECK_NEAR(at(1.5625), 12.25, ulps<T>(20));  // half of the fifth eighth of [1, 2)
  CHECK(at(2.0) == -9 && at(INFINITY) == -9);
  CHECK(std::isnan(at(NAN)));
}

/// The same argument gives the same bits in a whole vector and in every remainder.
template <class T>
void check_positions() {
  const Ops<T>& o = ops<T>();
  const std::vector<T> c{T(1), T(0.5), T(0.25)};
  const TableView<T> table{Grid::even, 1, 2, T(0.5), T(0), T(0), T(0), c.data()};
  for (Index n = 1; n < 40; ++n) {
    for (int which = 0; which < 7; ++which) {
      std::vector<T> x(static_cast<std::size_t>(n), T(0.7531));
      if (which == 0) o.sqrt(x.data(), x.data(), n);
      if (which == 1) o.log(x.data(), x.data(), n);
      if (which == 2) o.cos(x.data(), x.data(), n);
      if (which == 3) o.reciprocal(x.data(), x.data(), n);
      if (which == 4) o.power(x.data(), x.data(), n, 1.3);
      if (which == 5) o.polynomial(x.data(), x.data(), n, c.data(), 2);
      if (which == 6) o.table(x.data(), x.data(), n, table);
      CHECK(std::all_of(x.begin(), x.end(), [&](T v) { return v == x[0] && v != T(0.7531); }));
    }
    std::vector<T> x(static_cast<std::size_t>(n), T(1)), u(static_cast<std::size_t>(n), T(0.25));
    o.add_pair(x.data(), n, T(0.5), u.data());
    CHECK(std::all_of(x.begin(), x.end(), [](T v) { return v == T(1.75); }));
  }
}

template <class F>
void in_both_precisions(F f) {
  on_every_isa([&] {
    f(float());
    f(double());
  });
}

}  // namespace

TEST(roots_logarithms_and_inverses_are_accurate) {
  in_both_precisions([](auto t) { check_elementary<decltype(t)>(); });
}
TEST(real_powers_are_accurate_for_every_exponent) {
  in_both_precisions([](auto t) { check_power<decltype(t)>(); });
}
TEST(cosines_are_accurate_up_to_large_arguments) {
  in_both_precisions([](auto t) { check_cos<decltype(t)>(); });
}
TEST(polynomials_by_falling_power) {
  in_both_precisions([](auto t) { check_polynomial<decltype(t)>(); });
}
TEST(tables_find_their_piece_on_every_grid) {
  in_both_precisions([](auto t) { check_tables<decltype(t)>(); });
}
TEST(no_instruction_depends_on_the_position) {
  in_both_precisions([](auto t) { check_positions<decltype(t)>(); });
}
