// Equal substrings at equal, or nearly equal, positions (Raetsch and Sonnenburg 2004; with shifts
// Raetsch, Sonnenburg and Schoelkopf 2005).
#include <algorithm>

#include "isa/dispatch.hpp"
#include "sequences/kernels.hpp"

namespace mercer {
namespace {

class WeightedDegree final : public PairKernel {
 public:
  WeightedDegree(std::vector<double> weights, Index shift)
      : weights_(std::move(weights)), shift_(shift) {}

  void row(const SequenceStore& a, Index i, const SequenceStore& b, Index begin, Index count,
           double* out, PairScratch& scratch) const override {
    Asking asking(scratch.leave);
    for (Index k = 0; k < count; ++k) {
      const Index j = begin + k;
      double sum = 0;
      for (Index s = 0; s <= shift_; ++s) {
        if (asking.leaves(a.length(i) + static_cast<Index>(weights_.size()))) return;
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
    scratch.bits.resize(static_cast<std::size_t>(2 * (n / 64 + 1)));
    current_isa().pairs.runs({s + shift, t, n, static_cast<Index>(weights_.size()),
                              scratch.bits.data(), scratch.counts.data(), PairScratch::ask,
                              &scratch});
  }

  std::vector<double> weights_;
  Index shift_;
};

}  // namespace

std::shared_ptr<const PairKernel> make_weighted_degree(std::vector<double> weights, Index shift) {
  return std::make_shared<WeightedDegree>(std::move(weights), shift);
}

}  // namespace mercer
