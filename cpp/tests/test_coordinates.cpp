// Statistics of single coordinates, dense and sparse, on every instruction set.
#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "coordinate_leaf.hpp"
#include "evaluator.hpp"
#include "every_isa.hpp"
#include "harness.hpp"
#include "isa/dispatch.hpp"

using namespace mercer;
using mercer::testing::on_every_isa;

namespace {

/// A function of the core and what it should compute.
struct Case {
  Coordinate function;
  double a, b;
  int count;
  std::vector<double> coefficients;
  double (*exact)(double x, double z);
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {Coordinate::product, 0, 0, 0, {}, [](double x, double z) { return x * z; }},
      {Coordinate::minimum, 0, 0, 0, {}, [](double x, double z) { return std::min(x, z); }},
      {Coordinate::power,
       1.3,
       0,
       0,
       {},
       [](double x, double z) { return std::pow(std::fabs(x - z), 1.3); }},
      {Coordinate::half_power,
       0,
       0,
       3,
       {},
       [](double x, double z) { return std::pow(std::fabs(x - z), 1.5); }},
      {Coordinate::half_power,
       0,
       0,
       6,
       {},
       [](double x, double z) { return std::pow(std::fabs(x - z), 3.0); }},
      {Coordinate::gaussian,
       0.7,
       0,
       0,
       {},
       [](double x, double z) { return std::exp(-0.7 * (x - z) * (x - z)); }},
      {Coordinate::laplacian,
       0.7,
       0,
       0,
       {},
       [](double x, double z) { return std::exp(-0.7 * std::fabs(x - z)); }},
      {Coordinate::spline,
       0,
       0,
       0,
       {},
       [](double x, double z) {
         const double m = std::min(x, z);
         return 1 + x * z + x * z * m - (x + z) / 2 * m * m + m * m * m / 3;
       }},
      // B_1(t) = 1 - |t|; B_3 as (2 - |t|)_+^3 - 4 (1 - |t|)_+^3, divided by its value 4 at 0.
      {Coordinate::bspline,
       0.8,
       0,
       1,
       {1},
       [](double x, double z) { return std::max(1 - 0.8 * std::fabs(x - z), 0.0); }},
      {Coordinate::bspline,
       0.8,
       0,
       2,
       {0.25, -1},
       [](double x, double z) {
         const double t = 0.8 * std::fabs(x - z);
         const double u = std::max(2 - t, 0.0), v = std::max(1 - t, 0.0);
         return (u * u * u - 4 * v * v * v) / 4;
       }},
      {Coordinate::cosines,
       0.6,
       0,
       6,
       {0.1, 0.3, 0.2, 0.2, 0.1, 0.1},
       [](double x, double z) {
         const double c[] = {0.1, 0.3, 0.2, 0.2, 0.1, 0.1};
         double sum = 0;
         for (int k = 0; k < 6; ++k) sum += c[k] * std::cos(M_PI * k * 0.6 * (x - z));
         return sum;
       }},
      // Three terms, 0.9 of the sum at 0, plus a constant that makes it 1 there.
      {Coordinate::wrapped,
       20.0,
       1.5,
       3,
       {0.9, 0.1},
       [](double x, double z) {
         double t = x - z, sum = 0;
         for (int m = -4; m <= 4; ++m) sum += std::exp(-20.0 * (t + 1.5 * m) * (t + 1.5 * m));
         return 0.9 * sum + 0.1;
       }},
  };
  return all;
}

struct Rows {
  Index n, d;
  std::vector<double> x;
};

Rows random_rows(Index n, Index d, double density, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform;
  Rows r{n, d, {}};
  for (Index k = 0; k < n * d; ++k)
    r.x.push_back(uniform(random) < density ? 0.1 + 1.3 * uniform(random) : 0.0);
  return r;
}

double combined(const std::vector<double>& f, Combination combination, int order) {
  if (combination == Combination::product) {
    double product = 1;
    for (double v : f) product *= v;
    return product;
  }
  if (combination == Combination::maximum) return *std::max_element(f.begin(), f.end());
  // By the definition: the coefficient of t^order in the product of the (1 + f t).
  std::vector<double> e(static_cast<std::size_t>(order) + 1, 0.0);
  e[0] = 1;
  for (double v : f)
    for (int j = order; j > 0; --j) e[j] += v * e[j - 1];
  return e[order];
}

template <class T>
std::shared_ptr<Objects<T>> objects_of(const Rows& r, bool sparse) {
  auto o = std::make_shared<Objects<T>>();
  o->n = r.n;
  const Strided<double> s{r.x.data(), r.n, r.d, r.d, 1};
  if (sparse)
    o->stores.push_back(std::make_shared<const Store<T>>(compress_dense<T>(s)));
  else
    o->stores.push_back(std::make_shared<const Store<T>>(pack_dense<T>(s, nullptr)));
  return o;
}

template <class T>
std::vector<std::vector<T>> tile_of(const Evaluator<T>& e) {
  std::vector<std::vector<T>> out;
  const Index stride = round_up(e.cols(), e.panel());
  Buffer<T> tile(e.block() * stride);
  Query<T> q;
  for (Index first = 0; first < e.rows(); first += e.block()) {
    std::vector<Index> ids;
    for (Index i = first; i < std::min<Index>(e.rows(), first + e.block()); ++i) ids.push_back(i);
    e.prepare(q, ids.data(), static_cast<int>(ids.size()));
    e.tile(q, 0, e.cols(), tile.data(), stride);
    for (std::size_t r = 0; r < ids.size(); ++r)
      out.emplace_back(tile.data() + r * stride, tile.data() + r * stride + e.cols());
  }
  return out;
}

template <class T>
Evaluator<T> evaluator_of(const Case& c, Combination combination, int order, double peak,
                          std::shared_ptr<Objects<T>> a, std::shared_ptr<Objects<T>> b) {
  auto leaf = std::make_shared<CoordinateLeaf<T>>();
  leaf->shape.function = c.function;
  leaf->shape.combination = combination;
  leaf->shape.order = order;
  leaf->shape.exponent = c.a;
  leaf->shape.a = static_cast<T>(c.a);
  leaf->shape.b = static_cast<T>(c.b);
  leaf->shape.count = c.count;
  leaf->peak = peak;
  for (double v : c.coefficients) leaf->coefficients.push_back(static_cast<T>(v));
  Program p;
  p.n_leaves = 1;
  p.code = {{Op::leaf, 0, 0, 0}};
  LeafSource<T> source;
  source.coordinates = leaf;
  return Evaluator<T>(p, {source}, a, b);
}

/// Values, symmetry and diagonal of one statistic.
template <class T>
void check_case(const Case& c, Combination combination, int order, bool sparse) {
  const double tolerance = sizeof(T) == 4 ? 3e-6 : 3e-14, peak = 1.25;
  const Rows a = random_rows(37, 9, sparse ? 0.4 : 0.9, 3),
             b = random_rows(75, 9, sparse ? 0.4 : 0.9, 4);
  const auto oa = objects_of<T>(a, sparse), ob = objects_of<T>(b, sparse);
  const auto tile = tile_of(evaluator_of<T>(c, combination, order, peak, oa, ob));
  double largest = 0;
  std::vector<double> exact;
  for (Index i = 0; i < a.n; ++i)
    for (Index j = 0; j < b.n; ++j) {
      std::vector<double> f;
      for (Index k = 0; k < a.d; ++k)
        f.push_back(peak * c.exact(a.x[i * a.d + k], b.x[j * b.d + k]));
      exact.push_back(combined(f, combination, order));
      if (combination == Combination::maximum) exact.back() = std::max(exact.back(), 0.0);
      largest = std::max(largest, std::fabs(exact.back()));
    }
  for (Index i = 0; i < a.n; ++i)
    for (Index j = 0; j < b.n; ++j)
      CHECK_NEAR(tile[i][j], exact[i * b.n + j], tolerance * std::max(largest, 1e-6));
  const auto own = evaluator_of<T>(c, combination, order, peak, ob, ob);
  const auto square = tile_of(own);
  std::vector<T> diagonal(static_cast<std::size_t>(b.n));
  Leaving leaving;
  own.diag(diagonal.data(), 2, leaving);
  for (Index i = 0; i < b.n; ++i) {
    CHECK(square[i][i] == diagonal[i]);
    for (Index j = 0; j < i; ++j) CHECK(square[i][j] == square[j][i]);
  }
}

template <class T>
void check_all(bool sparse) {
  for (const Case& c : cases()) {
    check_case<T>(c, Combination::product, 0, sparse);
    for (int order : {1, 2, 3, 5, 8}) check_case<T>(c, Combination::anova, order, sparse);
    if (c.function == Coordinate::power || c.function == Coordinate::half_power)
      check_case<T>(c, Combination::maximum, 0, sparse);
  }
}

/// A value has the same bits whatever rows stand beside its own.
template <class T>
void check_company(bool sparse) {
  const Rows r = random_rows(70, 30, sparse ? 0.2 : 1.0, 6);
  const auto all = objects_of<T>(r, sparse);
  const std::vector<Index> few{41, 3, 69};
  for (const Case& c : cases())
    for (int order : {0, 2}) {
      const auto combination = order ? Combination::anova : Combination::product;
      const auto whole = tile_of(evaluator_of<T>(c, combination, order, 1.0, all, all));
      const auto part = all->take(few.data(), 3);
      const auto small = tile_of(evaluator_of<T>(c, combination, order, 1.0, part, part));
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) CHECK(small[i][j] == whole[few[i]][few[j]]);
    }
}

}  // namespace

TEST(coordinate_statistics_on_dense_rows) {
  on_every_isa([] {
    check_all<float>(false);
    check_all<double>(false);
  });
}
TEST(coordinate_statistics_on_sparse_rows) {
  on_every_isa([] {
    check_all<float>(true);
    check_all<double>(true);
  });
}
TEST(a_coordinate_statistic_does_not_depend_on_its_company) {
  on_every_isa([] {
    for (bool sparse : {false, true}) {
      check_company<float>(sparse);
      check_company<double>(sparse);
    }
  });
}
TEST(an_absurd_number_of_columns_is_refused) {
  // A Gaussian is 1 where both rows are 0, so a sum over all columns cannot leave any out.
  auto o = std::make_shared<Objects<double>>();
  o->n = 1;
  const double value = 1;
  const std::int32_t column = 70000, start[] = {0, 1};
  o->stores.push_back(std::make_shared<const Store<double>>(
      pack_sparse<double, double, std::int32_t>(&value, &column, start, 1, 80000)));
  const Case& gaussian = cases()[5];
  const auto sum = evaluator_of<double>(gaussian, Combination::anova, 1, 1.0, o, o);
  CHECK_THROWS(tile_of(sum));
  const auto product = evaluator_of<double>(gaussian, Combination::product, 0, 1.0, o, o);
  CHECK(tile_of(product)[0][0] == 1);
}
