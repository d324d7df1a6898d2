#include "sequences/pair_kernel.hpp"

#include <cmath>
#include <limits>

#include "isa/dispatch.hpp"
#include "thread_pool.hpp"

namespace mercer {

void prepare_sequences(const PairKernel& kernel, SequenceStore& s, int threads) {
  if (!kernel.prepares()) return;
  s.prepared.resize(static_cast<std::size_t>(s.n));
  parallel_for(threads, s.n, [&](Index i, int) {
    s.prepared[static_cast<std::size_t>(i)] = kernel.prepare(s.tokens(i), s.length(i));
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

std::vector<PairScratch> scratch_of_threads(int threads, const std::function<bool()>& interrupted,
                                            std::atomic<bool>& stopped) {
  std::vector<PairScratch> scratch(static_cast<std::size_t>(std::max(threads, 1)));
  if (interrupted)
    for (std::size_t w = 0; w < scratch.size(); ++w)
      scratch[w].leave = [&interrupted, &stopped, w] {
        if (w == 0 && !stopped.load(std::memory_order_relaxed) && interrupted()) stopped = true;
        return stopped.load(std::memory_order_relaxed);
      };
  return scratch;
}

std::vector<double> pair_diagonal(const PairKernel& kernel, const SequenceStore& b, int threads,
                                  const std::function<bool()>& interrupted) {
  std::vector<double> out(static_cast<std::size_t>(b.n));
  std::atomic<bool> stopped{false};
  std::vector<PairScratch> scratch = scratch_of_threads(threads, interrupted, stopped);
  parallel_for(threads, b.n, [&](Index i, int worker) {
    if (scratch[worker].leaves()) return;
    kernel.row(b, i, b, i, 1, &out[static_cast<std::size_t>(i)], scratch[worker]);
  });
  if (stopped) out.clear();
  return out;
}

}  // namespace mercer
