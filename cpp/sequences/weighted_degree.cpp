// Equal substrings at equal, or nearly equal, positions (Raetsch and Sonnenburg 2004; with shifts
// Raetsch, Sonnenburg and Schoelkopf 2005).
//
// One bit per position says whether the two tokens agree; and-ing the bits with themselves moved by
// one, two, ... positions leaves those where 2, 3, ... tokens in a row agree, which are counted 64
// at a time.
#include <algorithm>
#include <bit>

#include "sequences/kernels.hpp"

namespace mercer {
namespace {

class WeightedDegree final : public PairKernel {
 public:
  WeightedDegree(std::vector<double> weights, Index shift)
      : weights_(std::move(weights)), shift_(shift) {}

  void row(const SequenceStore& a, Index i, const SequenceStore& b, Index begin, Index count,
           double* out, PairScratch& scratch) const override {
    for (Index k = 0; k < count; ++k) {
      const Index j = begin + k;
      double sum = 0;
      for (Index s = 0; s <= shift_; ++s) {
        scratch.counts.assign(weights_.size(), 0);
        add_runs(a.tokens(i), a.length(i), b.tokens(j), b.length(j), s, scratch);
        if (s > 0) add_runs(b.tokens(j), b.length(j), a.tokens(i), a.length(i), s, scratch);
        double part = 0;
        for (std::size_t d = 0; d < weights_.size() && scratch.counts[d] > 0; ++d)
          part += weights_[d] * static_cast<double>(scratch.counts[d]);
        sum += s == 0 ? part : part / (2.0 * static_cast<double>(s + 1));
      }
      out[k] = sum;
    }
  }

  double cost(double length_a, double length_b) const override {
    const double words = std::min(length_a, length_b) / 64 + 1;
    return (64 + static_cast<double>(weights_.size())) * words *
           static_cast<double>(2 * shift_ + 1);
  }

 private:
  /// Adds to counts[d - 1] the positions p where s[p + shift .. ] and t[p ..] agree d times.
  void add_runs(const std::int32_t* s, Index length_s, const std::int32_t* t, Index length_t,
                Index shift, PairScratch& scratch) const {
    const Index n = std::min(length_s - shift, length_t);
    if (n <= 0) return;
    const Index words = (n + 63) / 64;
    std::vector<std::uint64_t>& agree = scratch.bits;
    agree.assign(static_cast<std::size_t>(words), 0);
    for (Index p = 0; p < n; ++p)
      agree[p / 64] |= static_cast<std::uint64_t>(s[p + shift] == t[p] && t[p] >= 0) << (p % 64);
    std::vector<std::uint64_t>& run = scratch.more_bits;
    run = agree;
    for (std::size_t d = 0; d < weights_.size(); ++d) {
      std::int64_t ones = 0;
      for (Index w = 0; w < words; ++w) ones += std::popcount(run[w]);
      if (ones == 0) return;
      scratch.counts[d] += ones;
      // Position p keeps its bit if the run from p + 1 had one and p itself agrees.
      for (Index w = 0; w < words; ++w)
        run[w] = agree[w] & ((run[w] >> 1) | (w + 1 < words ? run[w + 1] << 63 : 0));
    }
  }

  std::vector<double> weights_;
  Index shift_;
};

}  // namespace

std::shared_ptr<const PairKernel> make_weighted_degree(std::vector<double> weights, Index shift) {
  return std::make_shared<WeightedDegree>(std::move(weights), shift);
}

}  // namespace mercer
