// Programs over dense and sparse rows against direct evaluation.
#include <numeric>
#include <random>

#include "evaluator.hpp"
#include "harness.hpp"
#include "isa/dispatch.hpp"

using namespace mercer;

namespace {

struct Rows {
  Index n, d;
  std::vector<double> x;
  double at(Index i, Index k) const { return x[i * d + k]; }
};

Rows random_rows(Index n, Index d, double density, unsigned seed, bool histogram = false) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  Rows r{n, d, {}};
  for (Index k = 0; k < n * d; ++k) {
    const double v = uniform(random) < density ? normal(random) : 0.0;
    r.x.push_back(histogram ? std::fabs(v) : v);
  }
  return r;
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

double statistic(Stat stat, const Rows& a, Index i, const Rows& b, Index j) {
  double sum = 0;
  for (Index k = 0; k < a.d; ++k) {
    const double u = a.at(i, k), v = b.at(j, k);
    const double total = u + v > 0 ? u + v : 1;
    sum += stat == Stat::dot        ? u * v
           : stat == Stat::sqdist   ? (u - v) * (u - v)
           : stat == Stat::l1       ? std::fabs(u - v)
           : stat == Stat::minimum  ? std::min(u, v)
           : stat == Stat::harmonic ? u * v / total
                                    : (u - v) * (u - v) / total;
  }
  return sum;
}

template <class T>
void check_program(Stat stat, bool sparse, double tolerance) {
  const bool histogram = stat >= Stat::minimum;
  const Rows a = random_rows(37, 23, sparse ? 0.2 : 1.0, 3, histogram),
             b = random_rows(301, 23, sparse ? 0.2 : 1.0, 4, histogram);
  // (exp(-0.1 s) * 2 + 1) + (0.1 s)^3
  Program p;
  p.n_leaves = 1;
  p.code = {{Op::leaf, 0, 0, 0}, {Op::exp, 0, -0.1, 0},   {Op::affine, 0, 2, 1},
            {Op::leaf, 0, 0, 0}, {Op::affine, 0, 0.1, 0}, {Op::powi, 3, 0, 0},
            {Op::add, 0, 0, 0}};
  LeafSource<T> source;
  source.stat = stat;
  const auto oa = objects_of<T>(a, sparse), ob = objects_of<T>(b, sparse);
  const Evaluator<T> e(p, {source}, oa, ob);
  Query<T> q;
  std::vector<Index> ids;
  for (Index i = 0; i < std::min<Index>(e.block(), 37); ++i) ids.push_back(36 - i);
  e.prepare(q, ids.data(), static_cast<int>(ids.size()));
  const Index stride = round_up(b.n, e.panel()) + 64;
  Buffer<T> tile(static_cast<Index>(ids.size()) * stride);
  e.tile(q, 0, b.n, tile.data(), stride);
  for (std::size_t r = 0; r < ids.size(); ++r)
    for (Index j = 0; j < b.n; ++j) {
      const double s = statistic(stat, a, ids[r], b, j);
      const double exact = 2 * std::exp(-0.1 * s) + 1 + std::pow(0.1 * s, 3);
      CHECK_NEAR(tile[static_cast<Index>(r) * stride + j], exact, tolerance * (1 + exact));
    }
  // Products agree with tiles and do not depend on the number of threads.
  std::vector<double> v, one(37), two(37);
  for (Index j = 0; j < b.n; ++j) v.push_back(std::sin(static_cast<double>(j)));
  const auto multiplier = e.multiplier({{0, b.n, 1, 0, v.data()}}, 1, false);
  e.product(*multiplier, one.data(), 1, nullptr);
  e.product(*multiplier, two.data(), 2, nullptr);
  for (std::size_t r = 0; r < ids.size(); ++r) {
    double sum = 0;
    for (Index j = 0; j < b.n; ++j)
      sum += static_cast<double>(tile[static_cast<Index>(r) * stride + j]) * v[j];
    CHECK_NEAR(one[ids[r]], sum, 1e-9 * (1 + std::fabs(sum)) * 1e3);
  }
  CHECK(one == two);
}

/// (1 + r) exp(-r) + log(1 + r^2) + u(a) + u(b) with r = sqrt(s), by dup, swap, sqrt and the rest.
template <class T>
void check_stack_program(double tolerance) {
  const Rows a = random_rows(19, 6, 1.0, 7), b = random_rows(300, 6, 1.0, 8);
  Program p;
  p.n_leaves = 1;
  p.n_aux = 1;
  p.polynomials = {{1, 1}};
  p.code = {{Op::leaf, 0, 0, 0}, {Op::sqrt, 0, 0, 0}, {Op::dup, 0, 0, 0},
            {Op::exp, 0, -1, 0}, {Op::swap, 0, 0, 0}, {Op::polynomial, 0, 0, 0},
            {Op::mul, 0, 0, 0},  {Op::leaf, 0, 0, 0}, {Op::affine, 0, 1, 1},
            {Op::log, 0, 0, 0},  {Op::add, 0, 0, 0},  {Op::aux_add, 0, 0, 0}};
  LeafSource<T> source;
  source.stat = Stat::sqdist;
  const auto oa = objects_of<T>(a, false), ob = objects_of<T>(b, false);
  for (const auto& o : {oa, ob}) {
    Buffer<T> u(o->n);
    for (Index i = 0; i < o->n; ++i) u[i] = static_cast<T>(std::cos(static_cast<double>(i)));
    o->aux.push_back(std::move(u));
  }
  const Evaluator<T> e(p, {source}, oa, ob);
  Query<T> q;
  std::vector<Index> ids;
  for (Index i = 0; i < e.block(); ++i) ids.push_back(i);
  e.prepare(q, ids.data(), static_cast<int>(ids.size()));
  const Index stride = round_up(b.n, e.panel());
  Buffer<T> tile(static_cast<Index>(ids.size()) * stride);
  e.tile(q, 0, b.n, tile.data(), stride);
  for (Index i : ids)
    for (Index j = 0; j < b.n; ++j) {
      const double s = statistic(Stat::sqdist, a, i, b, j), r = std::sqrt(s);
      const double u = std::cos(static_cast<double>(i)) + std::cos(static_cast<double>(j));
      CHECK_NEAR(tile[i * stride + j], (1 + r) * std::exp(-r) + std::log(1 + s) + u, tolerance);
    }
  const Evaluator<T> own(p, {source}, ob, ob);
  std::vector<T> diagonal(static_cast<std::size_t>(b.n));
  Leaving leaving;
  own.diag(diagonal.data(), 2, leaving);
  for (Index j = 0; j < b.n; ++j)
    CHECK_NEAR(diagonal[j], 1 + 2 * std::cos(static_cast<double>(j)), tolerance);
}

template <class T>
void check_symmetric_bits(bool sparse, Stat stat = Stat::sqdist) {
  const Rows a = random_rows(70, 40, sparse ? 0.3 : 1.0, 5, stat == Stat::chi);
  Program p;
  p.n_leaves = 1;
  p.code = {{Op::leaf, 0, 0, 0}, {Op::exp, 0, -0.05, 0}};
  LeafSource<T> source;
  source.stat = stat;
  const auto o = objects_of<T>(a, sparse);
  const Evaluator<T> e(p, {source}, o, o);
  std::vector<std::vector<T>> k(70, std::vector<T>(70));
  Buffer<T> row(256);
  for (Index i = 0; i < 70; ++i) {
    Query<T> q;
    e.prepare(q, &i, 1);
    e.tile(q, 0, 70, row.data(), 256);
    for (Index j = 0; j < 70; ++j) k[i][j] = row[j];
  }
  for (Index i = 0; i < 70; ++i) {
    CHECK(k[i][i] == T(1));
    for (Index j = 0; j < i; ++j) CHECK(k[i][j] == k[j][i]);
  }
}

/// Values that are kept are read, and kept where they are not known yet.
template <class T>
void check_kept_statistics(bool sparse) {
  const Rows a = random_rows(70, 40, sparse ? 0.3 : 1.0, 6);
  Program p;
  p.n_leaves = 1;
  p.code = {{Op::leaf, 0, 0, 0}};
  LeafSource<T> source;
  source.stat = Stat::sqdist;
  const auto o = objects_of<T>(a, sparse);
  const Evaluator<T> direct(p, {source}, o, o);
  o->id.resize(70);
  std::iota(o->id.begin(), o->id.end(), Index(0));
  // Compressed rows are computed together: one that finds no room has them all computed.
  const Index room = sparse ? 12 : 9;
  source.cache =
      std::make_shared<StatisticCache<T>>(70, (static_cast<double>(room) + 0.5) * 70 * sizeof(T));
  const Evaluator<T> keeping(p, {source}, o, o);
  const Index third = 3, fourth = 4;
  const T wrong = -1;
  source.cache->write(source.cache->row(3), &fourth, 1, &wrong);
  const Index rows[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
  Buffer<T> one(12 * 128), two(12 * 128), again(12 * 128);
  Query<T> q;
  direct.prepare(q, rows, 12);
  direct.tile(q, 0, 70, one.data(), 128);
  keeping.prepare(q, rows, 12);
  // Row 3 lacks all values but one, so that all of them are computed.
  keeping.tile(q, 0, 70, two.data(), 128);
  for (Index k = 0; k < 12; ++k)
    for (Index j = 0; j < 70; ++j) CHECK(one[k * 128 + j] == two[k * 128 + j]);
  CHECK(source.cache->rows() == room);
  source.cache->write(source.cache->row(3), &fourth, 1, &wrong);
  keeping.tile(q, 0, 70, again.data(), 128);
  for (Index k = 0; k < 12; ++k)
    for (Index j = 0; j < 70; ++j)
      CHECK(again[k * 128 + j] == (rows[k] == third && j == fourth ? wrong : one[k * 128 + j]));
}

/// 2 u(a) u(b) <a, b>_1 + <a, b>_2 + 3, with 1 dense and 2 sparse or the other way round.
template <class T>
std::shared_ptr<Evaluator<T>> sum_of_dot_products(bool first_sparse, Index n, Index m) {
  Program p;
  p.n_leaves = 2;
  p.n_aux = 1;
  p.code = {{Op::leaf, 0}, {Op::affine, 0, 2, 0}, {Op::aux, 0}, {Op::leaf, 1},
            {Op::add},     {Op::affine, 0, 1, 3}};
  const auto both = [&](Index rows, unsigned seed) {
    const auto all = objects_of<T>(random_rows(rows, 37, 0.5, seed), first_sparse);
    const auto other = objects_of<T>(random_rows(rows, 5, 0.5, seed + 1), !first_sparse);
    all->stores.push_back(other->stores[0]);
    all->aux.emplace_back(rows);
    for (Index i = 0; i < rows; ++i) all->aux[0][i] = static_cast<T>(0.1 + 0.01 * (i % 17));
    return all;
  };
  return std::make_shared<Evaluator<T>>(p, std::vector<LeafSource<T>>(2), both(n, 1), both(m, 3));
}

/// Products by weight vectors against products by values.
template <class T>
void check_weights(bool first_sparse, double tolerance) {
  const Index n = 1100, m = 300;
  const auto kernel = sum_of_dot_products<T>(first_sparse, n, m);
  CHECK(kernel->linear());
  std::vector<Index> ids(static_cast<std::size_t>(kernel->block()));
  std::vector<T> tile(ids.size() * 320);
  std::vector<double> v(m * 3);
  for (std::size_t k = 0; k < v.size(); ++k) v[k] = std::sin(1.0 + static_cast<double>(k));
  // Objects 0..9 with one column, 7..299 with two.
  const std::vector<Segment> segments{{0, 10, 1, 0, v.data()}, {7, m, 2, 1, v.data() + 10}};
  std::vector<double> one(n * 3), two(n * 3);
  const auto alone = kernel->multiplier(segments, 1, true);
  const auto both = kernel->multiplier(segments, 2, true);
  CHECK(alone->weights);
  CHECK(kernel->product(*alone, one.data(), 1, nullptr));
  CHECK(kernel->product(*both, two.data(), 2, nullptr));
  CHECK(one == two);
  Query<T> q;
  for (Index first = 0; first < n; first += kernel->block()) {
    const int rows = static_cast<int>(std::min<Index>(kernel->block(), n - first));
    std::iota(ids.begin(), ids.begin() + rows, first);
    kernel->prepare(q, ids.data(), rows);
    kernel->tile(q, 0, m, tile.data(), 320);
    for (int r = 0; r < rows; ++r)
      for (const Segment& s : segments)
        for (Index c = 0; c < s.cols; ++c) {
          double sum = 0, size = 0;
          for (Index j = s.begin; j < s.end; ++j) {
            const double term = tile[r * 320 + j] * s.v[(j - s.begin) * s.cols + c];
            sum += term, size += std::fabs(term);
          }
          CHECK(std::fabs(one[(first + r) * 3 + s.offset + c] - sum) <= tolerance * size);
        }
  }
}

}  // namespace

TEST(memory_that_cannot_be_had_is_refused_with_its_size) {
  for (const Index n : {Index(1) << 50, Index(1) << 61, (Index(1) << 61) + 8}) {
    std::string text;
    try {
      Buffer<double> never(n);
    } catch (const std::bad_alloc& e) {
      text = e.what();
    }
    CHECK(text.find(std::to_string(n) + " values of 8 bytes") != std::string::npos);
  }
}

TEST(products_of_dot_products_need_no_values) {
  for (bool first_sparse : {false, true}) {
    check_weights<float>(first_sparse, 1e-6);
    check_weights<double>(first_sparse, 1e-14);
  }
}
TEST(only_sums_of_dot_products_have_weights) {
  Program p;
  p.n_leaves = 1;
  const auto objects = objects_of<double>(random_rows(20, 3, 1.0, 5), false);
  const auto linear = [&](std::vector<Instruction> code, Stat stat) {
    p.code = std::move(code);
    std::vector<LeafSource<double>> sources(1);
    sources[0].stat = stat;
    return Evaluator<double>(p, sources, objects, objects).linear();
  };
  CHECK(linear({{Op::leaf, 0}}, Stat::dot));
  CHECK(!linear({{Op::leaf, 0}}, Stat::sqdist));
  CHECK(!linear({{Op::leaf, 0}, {Op::powi, 2}}, Stat::dot));
  CHECK(!linear({{Op::leaf, 0}, {Op::dup}, {Op::mul}}, Stat::dot));
  p.code = {{Op::leaf, 0}};
  const Evaluator<double> few(p, std::vector<LeafSource<double>>(1), objects, objects);
  const std::vector<double> v(20 * 6, 1.0);
  CHECK(!few.multiplier({{0, 20, 6, 0, v.data()}}, 1, true)->weights);
}
TEST(statistics_are_kept) {
  for (bool sparse : {false, true}) {
    check_kept_statistics<float>(sparse);
    check_kept_statistics<double>(sparse);
  }
}
TEST(programs_on_dense_and_sparse_rows) {
  for (Stat stat : {Stat::dot, Stat::sqdist, Stat::l1, Stat::minimum, Stat::harmonic, Stat::chi})
    for (bool sparse : {false, true}) {
      check_program<float>(stat, sparse, 3e-6);
      check_program<double>(stat, sparse, 1e-13);
    }
}
TEST(programs_that_use_the_stack) {
  check_stack_program<float>(2e-6);
  check_stack_program<double>(1e-14);
}
TEST(kernel_values_are_symmetric_to_the_last_bit) {
  for (bool sparse : {false, true}) {
    check_symmetric_bits<double>(sparse);
    // Without fused multiply-add a compressed row's norm and its dot product round differently.
    if (std::string(current_isa().name) != "plain" || !sparse) check_symmetric_bits<float>(sparse);
    check_symmetric_bits<float>(sparse, Stat::chi);
    check_symmetric_bits<double>(sparse, Stat::chi);
  }
}
TEST(malformed_programs_are_refused) {
  Program p;
  p.n_leaves = 1;
  p.code = {{Op::add, 0, 0, 0}};
  CHECK_THROWS(p.depth());
  p.code = {{Op::leaf, 0, 0, 0}, {Op::leaf, 0, 0, 0}};
  CHECK_THROWS(p.depth());
  p.code = {{Op::leaf, 1, 0, 0}};
  CHECK_THROWS(p.depth());
  for (Op op : {Op::dup, Op::sqrt, Op::swap}) {
    p.code = {{op, 0, 0, 0}};
    CHECK_THROWS(p.depth());
  }
  for (Op op : {Op::table, Op::polynomial, Op::aux_add}) {
    p.code = {{Op::leaf, 0, 0, 0}, {op, 0, 0, 0}};
    CHECK_THROWS(p.depth());
  }
}
