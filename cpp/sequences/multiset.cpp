// Products over the common elements of two multisets.
//
// A multiset is a sequence of pairs of tokens, the number of an element and its count, by rising
// numbers; negative numbers are elements that no column has. Two of them are merged in time linear
// in both. The factors are integers, so that products up to 2^53 are exact.
#include <algorithm>

#include "sequences/kernels.hpp"
#include "sequences/wide.hpp"

namespace mercer {
namespace {

class Multiset final : public PairKernel {
 public:
  Multiset(bool products, bool logarithms) : products_(products), logarithms_(logarithms) {}

  void row(const SequenceStore& a, Index i, const SequenceStore& b, Index begin, Index count,
           double* out, PairScratch& scratch) const override {
    Asking asking(scratch.leave);
    for (Index k = 0; k < count; ++k) {
      if (asking.leaves(4 * (a.length(i) + b.length(begin + k)))) return;
      const Wide value =
          product(a.tokens(i), a.length(i), b.tokens(begin + k), b.length(begin + k));
      out[k] = logarithms_ ? value.logarithm() : value.value();
    }
  }

  bool logarithmic() const override { return logarithms_; }

  double cost(double length_a, double length_b) const override {
    return 4.0 * (length_a + length_b);
  }

 private:
  Wide product(const std::int32_t* s, Index m, const std::int32_t* t, Index n) const {
    constexpr double large = 0x1p900;  // a factor is below 2^63
    Wide value{1.0, 0.0};
    Index p = 0, q = 0;
    while (p < m && q < n) {
      if (s[p] == t[q] && s[p] >= 0) {
        const double x = s[p + 1], z = t[q + 1];
        value.digits *= 1.0 + (products_ ? x * z : std::min(x, z));
        if (value.digits > large) value = value.normal();
      }
      const bool step_s = s[p] <= t[q], step_t = t[q] <= s[p];
      p += step_s ? 2 : 0;
      q += step_t ? 2 : 0;
    }
    return value;
  }

  bool products_, logarithms_;
};

}  // namespace

std::shared_ptr<const PairKernel> make_multiset(bool products, bool logarithms) {
  return std::make_shared<Multiset>(products, logarithms);
}

}  // namespace mercer
