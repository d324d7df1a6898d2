// Every instruction set against plain formulas, and the profiles against the standard library.
#include <algorithm>
#include <random>
#include <vector>

#include "every_isa.hpp"
#include "harness.hpp"
#include "isa/dispatch.hpp"

using namespace mercer;
using mercer::testing::on_every_isa;

namespace {

template <class T>
void check_exp(double tolerance) {
  std::vector<T> x;
  for (double v = -80; v < 80; v += 0.37) x.push_back(static_cast<T>(v));
  std::vector<T> y = x;
  ops<T>().exp_affine(y.data(), y.data(), static_cast<Index>(y.size()), T(1), T(0));
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double exact = std::exp(static_cast<double>(x[k]));
    CHECK_NEAR(static_cast<double>(y[k]) / exact, 1.0, tolerance * (2 + std::fabs(x[k])));
  }
  T zero = 0;
  ops<T>().exp_affine(&zero, &zero, 1, T(-3), T(0));
  CHECK(zero == T(1));
}

template <class T>
void check_stats() {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  const Ops<T>& o = ops<T>();
  for (Index d : {1, 3, 17}) {
    for (int nq = 1; nq <= query_block; ++nq) {
      const Index panels = 5, width = o.panel * panels;
      std::vector<T> query(static_cast<std::size_t>(d * query_block)),
          packed(static_cast<std::size_t>(width * d)), out(static_cast<std::size_t>(width * nq));
      for (T& v : query) v = static_cast<T>(normal(random));
      for (T& v : packed) v = static_cast<T>(normal(random));
      for (Stat stat :
           {Stat::dot, Stat::sqdist, Stat::l1, Stat::minimum, Stat::harmonic, Stat::chi}) {
        if (stat == Stat::minimum) {
          // From here on no entry is negative, and about half of them are 0.
          for (T& v : query) v = std::max(v, T(0));
          for (T& v : packed) v = std::max(v, T(0));
        }
        o.stat[static_cast<int>(stat)](query.data(), nq, packed.data(), panels, d, out.data(),
                                       width);
        for (int r = 0; r < nq; ++r)
          for (Index j = 0; j < width; ++j) {
            double sum = 0;
            for (Index k = 0; k < d; ++k) {
              const double a = query[k * query_block + r];
              const double b = packed[(j / o.panel * d + k) * o.panel + j % o.panel];
              const double total = a + b > 0 ? a + b : 1;
              sum += stat == Stat::dot        ? a * b
                     : stat == Stat::sqdist   ? (a - b) * (a - b)
                     : stat == Stat::l1       ? std::fabs(a - b)
                     : stat == Stat::minimum  ? std::min(a, b)
                     : stat == Stat::harmonic ? a * b / total
                                              : (a - b) * (a - b) / total;
            }
            CHECK_NEAR(out[r * width + j], sum, sizeof(T) == 4 ? 1e-4 : 1e-12);
          }
      }
    }
  }
}

template <class T>
void check_position_independence() {
  // The same argument gives the same bits in a whole vector and in every remainder.
  for (Index n = 1; n < 40; ++n) {
    std::vector<T> x(static_cast<std::size_t>(n), T(-0.7531));
    ops<T>().exp_affine(x.data(), x.data(), n, T(1.3), T(0.1));
    for (T v : x) CHECK(v == x[0]);
    std::vector<T> y(static_cast<std::size_t>(n), T(-0.7531));
    ops<T>().tanh(y.data(), y.data(), n);
    for (T v : y) CHECK(v == y[0]);
    CHECK_NEAR(y[0], std::tanh(-0.7531), 1e-6);
  }
}

template <class T>
void check_axpy_rows() {
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  for (Index n : {1, 7, 64, 1500}) {
    for (int rows : {1, 2, 9, 21}) {
      std::vector<std::vector<T>> row(static_cast<std::size_t>(rows));
      std::vector<const T*> pointer;
      std::vector<double> coef, f(static_cast<std::size_t>(n), 0.5), g = f;
      for (auto& r : row) {
        for (Index k = 0; k < n; ++k) r.push_back(static_cast<T>(normal(random)));
        pointer.push_back(r.data());
        coef.push_back(normal(random));
      }
      ops<T>().axpy_rows(f.data(), pointer.data(), coef.data(), rows, n);
      // One row at a time must give the same bits as all at once.
      for (int r = 0; r < rows; ++r)
        ops<T>().axpy_rows(g.data(), pointer.data() + r, coef.data() + r, 1, n);
      for (Index k = 0; k < n; ++k) {
        double sum = 0.5;
        for (int r = 0; r < rows; ++r) sum += coef[r] * row[r][k];
        CHECK_NEAR(f[k], sum, 1e-12);
        CHECK(f[k] == g[k]);
      }
    }
  }
}

/// Rows of a compressed store whose row i has the entries i + 1, i + 2, ... in its columns.
template <class T>
struct SomeRows {
  std::vector<T> value;
  std::vector<std::int32_t> column;
  std::vector<Index> first{0}, run;
  std::vector<double> square, mass;

  SomeRows(Index n, Index d, Index run_columns) {
    for (Index i = 0; i < n; ++i) {
      double q = 0, m = 0;
      for (Index k = i % 3; k < d; k += 2) {
        if (column.empty() || k == i % 3 || k / run_columns != column.back() / run_columns)
          run.push_back(static_cast<Index>(value.size()));
        value.push_back(static_cast<T>(1 + (i + k) % 5));
        column.push_back(static_cast<std::int32_t>(k));
        q += static_cast<double>(value.back()) * static_cast<double>(value.back());
        m += static_cast<double>(value.back());
      }
      first.push_back(static_cast<Index>(run.size()));
      square.push_back(q);
      mass.push_back(m);
    }
    run.push_back(static_cast<Index>(value.size()));
  }
};

/// Values of small integers are exact, whatever the order of the sums.
template <class T>
void check_sparse(Index run_columns) {
  const Index n = 3, d = 9;
  const SomeRows<T> b(n, d, run_columns);
  constexpr T untouched = T(-77);
  for (int nq = 1; nq <= sparse_block; ++nq) {
    // Queries: row r has the entry 1 + r % 3 in every column. Slot 0 holds zeros.
    std::vector<T> slots(static_cast<std::size_t>((d + 1) * sparse_block), T(0));
    std::vector<std::int32_t> slot_of(static_cast<std::size_t>(d));
    for (Index c = 0; c < d; ++c) {
      slot_of[c] = static_cast<std::int32_t>(c + 1);
      for (int r = 0; r < nq; ++r) slots[(c + 1) * sparse_block + r] = static_cast<T>(1 + r % 3);
    }
    for (Stat stat : {Stat::dot, Stat::sqdist, Stat::l1, Stat::minimum}) {
      const bool squares = stat == Stat::dot || stat == Stat::sqdist;
      std::vector<double> norm(sparse_block, 0.0);
      for (int r = 0; r < nq; ++r)
        norm[r] = static_cast<double>(d) * (squares ? (1 + r % 3) * (1 + r % 3) : 1 + r % 3);
      const SparseRows<T> rows{b.value.data(),
                               b.column.data(),
                               b.first.data(),
                               b.run.data(),
                               run_columns,
                               (d + run_columns - 1) / run_columns,
                               squares ? b.square.data() : b.mass.data(),
                               n};
      // What lies behind the last row of the tile belongs to somebody else.
      std::vector<T> out(static_cast<std::size_t>((n + 4) * sparse_block), untouched);
      ops<T>().sparse[static_cast<int>(stat)](slots.data(), slot_of.data(), norm.data(), nq, rows,
                                              out.data());
      for (std::size_t k = static_cast<std::size_t>(n * sparse_block); k < out.size(); ++k)
        CHECK(out[k] == untouched);
      for (Index i = 0; i < n; ++i)
        for (int r = 0; r < nq; ++r) {
          std::vector<double> row(static_cast<std::size_t>(d), 0.0);
          for (Index e = b.run[b.first[i]]; e < b.run[b.first[i + 1]]; ++e)
            row[b.column[e]] = static_cast<double>(b.value[e]);
          double sum = 0;
          for (const double x : row) {
            const double q = 1 + r % 3;
            sum += stat == Stat::dot      ? q * x
                   : stat == Stat::sqdist ? (q - x) * (q - x)
                   : stat == Stat::l1     ? std::fabs(q - x)
                                          : std::min(q, x);
          }
          CHECK(out[i * sparse_block + r] == static_cast<T>(sum));
        }
    }
  }
}

template <class T>
void check_square() {
  // The sum of squares has the bits of the dot product of the row with itself.
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  const Ops<T>& o = ops<T>();
  for (Index d : {1, 8, 33}) {
    std::vector<T> query(static_cast<std::size_t>(d * query_block), T(0)),
        packed(static_cast<std::size_t>(d * o.panel), T(0)), out(static_cast<std::size_t>(o.panel));
    for (Index k = 0; k < d; ++k)
      query[k * query_block] = packed[k * o.panel + 1] = static_cast<T>(normal(random));
    o.stat[static_cast<int>(Stat::dot)](query.data(), 1, packed.data(), 1, d, out.data(), o.panel);
    CHECK(o.square(packed.data() + 1, d, o.panel) == out[1]);
  }
}

}  // namespace

TEST(exp_is_accurate_on_every_isa) {
  on_every_isa([] {
    check_exp<float>(1.2e-7);
    check_exp<double>(4e-16);
  });
}
TEST(pair_statistics_match_their_definition) {
  on_every_isa([] {
    check_stats<float>();
    check_stats<double>();
  });
}
TEST(a_value_does_not_depend_on_its_position) {
  on_every_isa([] {
    check_position_independence<float>();
    check_position_independence<double>();
  });
}
TEST(row_updates_do_not_depend_on_their_grouping) {
  on_every_isa([] {
    check_axpy_rows<float>();
    check_axpy_rows<double>();
  });
}
TEST(a_sparse_tile_of_any_number_of_queries_stays_in_its_block) {
  on_every_isa([] {
    for (Index run_columns : {9, 4}) {
      check_sparse<float>(run_columns);
      check_sparse<double>(run_columns);
    }
  });
}
TEST(norms_have_the_bits_of_dot_products) {
  on_every_isa([] {
    check_square<float>();
    check_square<double>();
  });
}
TEST(the_path_for_tests_is_never_the_usual_one) {
  CHECK(available_isas().front() == "wide");
  CHECK(available_isas().back() != "wide");
}
TEST(an_unknown_isa_is_refused) {
  CHECK_THROWS(set_isa("abacus"));
}
