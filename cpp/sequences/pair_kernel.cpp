#include "sequences/pair_kernel.hpp"

#include <cmath>
#include <limits>

#include "isa/dispatch.hpp"
#include "thread_pool.hpp"

namespace mercer {

bool prepare_sequences(const PairKernel& kernel, SequenceStore& s, int threads, Leaving& leaving) {
  if (!kernel.prepares()) return true;
  s.prepared.resize(static_cast<std::size_t>(s.n));
  return parallel_for(threads, s.n, leaving, [&](Index i, int worker) {
    s.prepared[static_cast<std::size_t>(i)] =
        kernel.prepare(s.tokens(i), s.length(i), [&leaving, worker] { return leaving(worker); });
  });
}

void pair_values(const PairKernel& kernel, const SequenceStore& a, Index i, const SequenceStore& b,
                 Index begin, Index count, double* out, PairScratch& scratch) {
  kernel.row(a, i, b, begin, count, out, scratch);
  if (!kernel.logarithmic()) return;
  if (b.norm.empty()) {
    for (Index k = 0; k < count; ++k) out[k] = std::exp(out[k]);
    return;
  }
  constexpr double none = -std::numeric_limits<double>::infinity();
  for (Index k = 0; k < count; ++k)
    if (out[k] != none) out[k] -= a.norm[i] + b.norm[begin + k];
  current_isa().dual.exp_affine(out, out, count, 1.0, 0.0);
  // The exponential of vectors ends at the smallest normal number instead of 0.
  constexpr double smallest = 0x1p-1000;
  for (Index k = 0; k < count; ++k)
    if (out[k] < smallest) out[k] = 0.0;
}

std::vector<PairScratch> scratch_of_threads(int threads, Leaving& leaving) {
  std::vector<PairScratch> scratch(static_cast<std::size_t>(std::max(threads, 1)));
  for (std::size_t w = 0; w < scratch.size(); ++w)
    scratch[w].leave = [&leaving, w] { return leaving(static_cast<int>(w)); };
  return scratch;
}

std::vector<double> pair_diagonal(const PairKernel& kernel, const SequenceStore& b, int threads,
                                  Leaving& leaving) {
  std::vector<double> out(static_cast<std::size_t>(b.n));
  std::vector<PairScratch> scratch = scratch_of_threads(threads, leaving);
  const bool whole = parallel_for(threads, b.n, leaving, [&](Index i, int worker) {
    kernel.row(b, i, b, i, 1, &out[static_cast<std::size_t>(i)], scratch[worker]);
  });
  if (!whole) out.clear();
  return out;
}

}  // namespace mercer
