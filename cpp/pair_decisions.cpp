#include "pair_decisions.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace mercer {

namespace {

/// First classes of the pairs of one task.
constexpr Index group = 32;

/// The pairs of class i for L rows side by side, of which `here` are rows. `value`: columns x L,
/// `wins`: classes x L, `check`: L sums that stay 0 while all values are finite.
template <Index L>
void pairs_of_class(const PairCoefficients& c, Index i, const double* value, Index here,
                    double* values, double* wins, double* check) {
  const Index first = i ? c.ends[i - 1] : 0, last = c.ends[i], lines = c.classes - 1;
  const Index pairs = c.pairs(), pair = i * (2 * c.classes - i - 1) / 2;
  const double* line = c.coef + i * c.columns;
  double won[L] = {};
  for (Index j = i + 1; j < c.classes; ++j) {
    double f[L] = {};
    for (Index a = first; a < last; ++a) {
      const double coef = c.by_column[a * lines + j - 1];
      for (Index r = 0; r < L; ++r) f[r] += value[a * L + r] * coef;
    }
    for (Index b = c.ends[j - 1]; b < c.ends[j]; ++b)
      for (Index r = 0; r < L; ++r) f[r] += value[b * L + r] * line[b];
    const Index at = pair + j - i - 1;
    for (Index r = 0; r < L; ++r) f[r] += c.intercept[at];
    for (Index r = 0; r < L; ++r) check[r] += f[r] - f[r];
    if (values)
      for (Index r = 0; r < here; ++r) values[r * pairs + at] = f[r];
    if (!wins) continue;
    for (Index r = 0; r < L; ++r) {
      const double win = f[r] > 0.0 ? 1.0 : 0.0;
      won[r] += win;
      wins[j * L + r] += 1.0 - win;
    }
  }
  if (wins)
    for (Index r = 0; r < L; ++r) wins[i * L + r] += won[r];
}

template <Index L, class T>
bool decide(const PairCoefficients& c, const T* kernel, Index rows, PairDecisions& out, int threads,
            Leaving& leaving) {
  const Index blocks = (rows + L - 1) / L, groups = (c.classes - 1 + group - 1) / group;
  const Index size = c.classes * L;
  threads = std::max(threads, 1);
  // The rows of a block side by side; lanes without a row hold zeros.
  Buffer<double> value(std::max<Index>(blocks * c.columns * L, 1));
  for (Index k = 0; k < blocks; ++k)
    for (Index a = 0; a < c.columns; ++a)
      for (Index r = 0; r < L; ++r) {
        const Index row = k * L + r;
        value[(k * c.columns + a) * L + r] =
            row < rows ? static_cast<double>(kernel[row * c.columns + a]) : 0.0;
      }
  std::vector<double> wins(static_cast<std::size_t>(out.votes ? threads * blocks * size : 0), 0.0);
  std::vector<double> check(static_cast<std::size_t>(threads * L), 0.0);
  // Block after block: its kernel values stay in the cache while the coefficients pass.
  const bool whole = parallel_for(threads, blocks * groups, leaving, [&](Index task, int worker) {
    const Index k = task / groups, begin = task % groups * group;
    double* mine = out.votes ? wins.data() + (worker * blocks + k) * size : nullptr;
    double* values = out.values ? out.values + k * L * c.pairs() : nullptr;
    for (Index i = begin; i < std::min(begin + group, c.classes - 1); ++i)
      pairs_of_class<L>(c, i, value.data() + k * c.columns * L, std::min(L, rows - k * L), values,
                        mine, check.data() + worker * L);
  });
  for (Index row = 0; out.votes && row < rows; ++row)
    for (Index m = 0; m < c.classes; ++m) {
      double sum = 0;  // of whole numbers, in any order
      for (int w = 0; w < threads; ++w)
        sum += wins[(w * blocks + row / L) * size + m * L + row % L];
      out.votes[row * c.classes + m] = sum;
    }
  out.finite = std::all_of(check.begin(), check.end(), [](double x) { return x == 0; });
  return whole;
}

}  // namespace

template <class T>
bool pair_decisions(const PairCoefficients& c, const T* kernel, Index rows, PairDecisions& out,
                    int threads, Leaving& leaving) {
  constexpr Index several = 4, many = 16;
  if (rows < several) return decide<1>(c, kernel, rows, out, threads, leaving);
  if (rows < many) return decide<several>(c, kernel, rows, out, threads, leaving);
  return decide<many>(c, kernel, rows, out, threads, leaving);
}

void join_parts(const double* parts, Index rows, Index classes, const double* intercept,
                PairDecisions& out) {
  const Index lines = classes - 1, pairs = classes * lines / 2;
  std::vector<double> row(static_cast<std::size_t>(pairs));
  double check = 0;
  if (out.votes) std::fill_n(out.votes, rows * classes, 0.0);
  for (Index r = 0; r < rows; ++r, parts += classes * lines) {
    double* const values = out.values ? out.values + r * pairs : row.data();
    double* f = values;
    const double* b = intercept;
    for (Index i = 0; i < classes; ++i)
      for (Index j = i + 1; j < classes; ++j, ++f, ++b) {
        *f = parts[i * lines + j - 1] + parts[j * lines + i] + *b;
        check += *f - *f;
      }
    if (out.votes) count_votes(values, 1, classes, out.votes + r * classes);
  }
  out.finite = check == 0;
}

void count_votes(const double* values, Index rows, Index classes, double* votes) {
  for (Index r = 0; r < rows; ++r, votes += classes)
    for (Index i = 0; i < classes; ++i)
      for (Index j = i + 1; j < classes; ++j) votes[*values++ > 0.0 ? i : j] += 1.0;
}

template bool pair_decisions<float>(const PairCoefficients&, const float*, Index, PairDecisions&,
                                    int, Leaving&);
template bool pair_decisions<double>(const PairCoefficients&, const double*, Index, PairDecisions&,
                                     int, Leaving&);

}  // namespace mercer
