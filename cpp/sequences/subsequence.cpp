// Gap-weighted subsequences (Lodhi et al. 2002), all orders in one pass of O(n |s| |t|).
#include <cmath>

#include "sequences/groups.hpp"
#include "sequences/kernels.hpp"

namespace mercer {
namespace {

class Subsequence final : public PairKernel {
 public:
  /// weights[p - 1] multiplies the kernel of subsequences of length p.
  Subsequence(double decay, std::vector<double> weights)
      : decay_(decay), weights_(std::move(weights)) {
    // The tables leave out the factor decay^2 of every matched pair.
    for (std::size_t p = 0; p < weights_.size(); ++p)
      weights_[p] *= std::pow(decay_, 2.0 * static_cast<double>(p + 1));
  }

  void row(const SequenceStore& a, Index i, const SequenceStore& b, Index begin, Index count,
           double* out, PairScratch& scratch) const override {
    const PairOps& ops = current_isa().pairs;
    const Index m = a.length(i);
    if (m == 0) {
      std::fill_n(out, count, 0.0);
      return;
    }
    scratch.query.require(m);
    // -1 stands for tokens that no column has; it must not meet one of its kind.
    for (Index k = 0; k < m; ++k)
      scratch.query[k] = a.tokens(i)[k] < 0 ? -3.0 : static_cast<double>(a.tokens(i)[k]);
    const int order = static_cast<int>(weights_.size());
    std::vector<Index>& columns = scratch.order;
    for (bool query_outer : {false, true}) {
      columns.clear();
      for (Index j = begin; j < begin + count; ++j)
        if (is_outer(a, i, b, j) == query_outer) columns.push_back(j);
      for_groups(b, columns, scratch, [&](const Index* group, Index used, Index longest) {
        scratch.group.require(std::max<Index>(longest, 1) * ops.lanes);
        scratch.table.require(std::max<Index>(order * std::max(longest, m), 1) * ops.lanes);
        scratch.extra.require(ops.lanes);
        interleave_tokens(b, group, used, longest, scratch.group.data());
        ops.subsequence({scratch.query.data(), m, scratch.group.data(), longest, query_outer, order,
                         decay_, weights_.data(), scratch.table.data(), scratch.extra.data(),
                         used});
        for (Index k = 0; k < used; ++k) out[group[k] - begin] = scratch.extra[k];
      });
    }
  }

  double cost(double length_a, double length_b) const override {
    return 2.0 * static_cast<double>(weights_.size()) * length_a * length_b;
  }

 private:
  /// Which of two sequences the recursion goes through in its outer loop: the longer one, or where
  /// they are equally long the one that a look at which tokens agree tells. Both orders of a pair
  /// give the same answer, unless no such look tells them apart; then they give the same value.
  static bool is_outer(const SequenceStore& a, Index i, const SequenceStore& b, Index j) {
    const Index n = a.length(i);
    if (n != b.length(j)) return n > b.length(j);
    const std::int32_t *s = a.tokens(i), *t = b.tokens(j);
    if (std::equal(s, s + n, t)) return true;
    for (Index d = 1; d < n; ++d)
      for (Index k = 0; k + d < n; ++k) {
        const bool ahead = s[k] == t[k + d], behind = s[k + d] == t[k];
        if (ahead != behind) return ahead;
      }
    return true;
  }

  double decay_;
  std::vector<double> weights_;
};

}  // namespace

std::shared_ptr<const PairKernel> make_subsequence(double decay, std::vector<double> weights) {
  return std::make_shared<Subsequence>(decay, std::move(weights));
}

}  // namespace mercer
