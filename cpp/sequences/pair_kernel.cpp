#include "sequences/pair_kernel.hpp"

#include <cmath>
#include <limits>

#include "thread_pool.hpp"

namespace mercer {

void pair_values(const PairKernel& kernel, const SequenceStore& a, Index i, const SequenceStore& b,
                 Index begin, Index count, double* out, PairScratch& scratch) {
  kernel.row(a, i, b, begin, count, out, scratch);
  if (!kernel.logarithmic()) return;
  constexpr double none = -std::numeric_limits<double>::infinity();
  for (Index k = 0; k < count; ++k) {
    double log = out[k];
    if (!b.norm.empty() && log != none) log -= a.norm[i] + b.norm[begin + k];
    out[k] = std::exp(log);
  }
}

std::vector<double> pair_diagonal(const PairKernel& kernel, const SequenceStore& b, int threads) {
  std::vector<double> out(static_cast<std::size_t>(b.n));
  std::vector<PairScratch> scratch(static_cast<std::size_t>(std::max(threads, 1)));
  parallel_for(threads, b.n, [&](Index i, int worker) {
    kernel.row(b, i, b, i, 1, &out[static_cast<std::size_t>(i)], scratch[worker]);
  });
  return out;
}

}  // namespace mercer
