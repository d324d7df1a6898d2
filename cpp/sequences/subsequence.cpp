// Gap-weighted subsequences (Lodhi et al. 2002), all orders in one pass of O(n |s| |t|).
//
// Pairs of sequences so long, or weights so small or large, that numbers could leave the range of
// double take a slower loop that carries exponents along. The two lengths decide.
#include <cmath>
#include <limits>
#include <tuple>

#include "sequences/groups.hpp"
#include "sequences/kernels.hpp"
#include "sequences/wide.hpp"

namespace mercer {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
/// Numbers whose logarithms are between -safe and safe are doubles, and so are sums of many.
constexpr double safe = 600.0;

/// Digits and exponent as WideSubsequenceTask has them.
Wide in_steps(Wide x) {
  x = x.normal();
  const double steps = std::nearbyint(x.exponent / wide_step);
  return {std::ldexp(x.digits, static_cast<int>(x.exponent - steps * wide_step)), steps};
}

/// A sum of positive terms and its derivative by the logarithm of the decay, both times
/// 2^(wide_step exponent). A term is a power of the decay, and the derivative counts it as often as
/// the power says: at most as often as two sequences have letters, so one exponent serves both.
struct Counted {
  double value = 0.0, slope = 0.0, exponent = 0.0;
};

/// How these numbers are added and multiplied: W, with exponents; else these are 0.
template <bool W>
struct Counting {
  static constexpr double half_step = 0x1p256, whole_step = 0x1p512;

  static Counted add(Counted a, Counted b) {
    if constexpr (W) {
      if (b.value == 0) return a;
      if (a.value == 0) return b;
      if (a.exponent < b.exponent) std::swap(a, b);
      const double apart = a.exponent - b.exponent;
      const double factor = apart == 0 ? 1.0 : apart == 1 ? 1.0 / whole_step : 0.0;
      return in_range({a.value + factor * b.value, a.slope + factor * b.slope, a.exponent});
    }
    return {a.value + b.value, a.slope + b.slope, 0.0};
  }
  /// a times a number that is itself the power `counts` of the decay.
  static Counted times(Counted a, double digits, double exponent, double counts) {
    const Counted product{digits * a.value, digits * (a.slope + counts * a.value),
                          a.exponent + exponent};
    return W ? in_range(product) : product;
  }

 private:
  static Counted in_range(Counted a) {
    if (a.value > half_step) return {a.value / whole_step, a.slope / whole_step, a.exponent + 1};
    if (a.value > 0 && a.value < 1.0 / half_step)
      return {a.value * whole_step, a.slope * whole_step, a.exponent - 1};
    return a;
  }
};

/// A bound on the logarithm of the number of ways to choose up to p of m: (e m / p)^p, and 2^m.
double log_choices(double m, double p) {
  return std::min(p * (1.0 + std::log(m / p)), m * std::log(2.0));
}

class Subsequence final : public PairKernel {
 public:
  /// weights[p - 1] multiplies the kernel of subsequences of length p.
  Subsequence(double decay, const std::vector<double>& weights, bool logarithms)
      : decay_(decay),
        log_decay_(std::log(decay)),
        wide_decay_(in_steps({decay, 0.0})),
        logarithms_(logarithms) {
    double lightest = infinite, heaviest = -infinite;
    for (std::size_t p = 1; p <= weights.size(); ++p) {
      // The tables leave out the factor decay^2 of every matched pair.
      const double w = weights[p - 1];
      const double plain = w * std::pow(decay, 2.0 * static_cast<double>(p));
      weights_.push_back(std::isfinite(plain) ? plain : 0.0);  // otherwise never used
      const Wide wide = Wide{w, 0.0} * wide_power(decay, static_cast<Index>(2 * p));
      wide_weights_.push_back(w > 0 ? in_steps(wide).digits : 0.0);
      weight_exponents_.push_back(w > 0 ? in_steps(wide).exponent : 0.0);
      if (w > 0) lightest = std::min(lightest, wide.logarithm());
      if (w > 0) heaviest = std::max(heaviest, wide.logarithm());
      lightest_.push_back(lightest);
      heaviest_.push_back(heaviest);
    }
  }

  void row(const SequenceStore& a, Index i, const SequenceStore& b, Index begin, Index count,
           double* out, PairScratch& scratch) const override {
    const Index m = a.length(i);
    if (m == 0) {
      std::fill_n(out, count, logarithms_ ? -infinite : 0.0);
      return;
    }
    scratch.query.require(m);
    // -1 stands for tokens that no column has; it must not meet one of its kind.
    for (Index k = 0; k < m; ++k)
      scratch.query[k] = a.tokens(i)[k] < 0 ? -3.0 : static_cast<double>(a.tokens(i)[k]);
    Index longest = 0;
    for (Index j = begin; j < begin + count; ++j) longest = std::max(longest, b.length(j));
    const Index limit = longest_in_range(m, longest);
    std::vector<Index>& columns = scratch.order;
    for (bool wide : {false, true})
      for (bool query_outer : {false, true}) {
        if (wide && limit == longest) continue;
        columns.clear();
        for (Index j = begin; j < begin + count; ++j)
          if ((b.length(j) > limit) == wide && is_outer(a, i, b, j, scratch) == query_outer)
            columns.push_back(j);
        for_groups(b, columns, scratch, [&](const Index* group, Index used, Index most) {
          interleave(b, group, used, most, scratch);
          if (wide)
            run_wide(m, most, query_outer, used, scratch);
          else
            run(m, most, query_outer, used, scratch);
          for (Index k = 0; k < used; ++k) out[group[k] - begin] = scratch.extra[k];
        });
      }
  }

  /// log k(a_i, b_j) and its derivative by the logarithm of the decay; -infinity and 0 of value 0.
  std::pair<double, double> slope(const SequenceStore& a, Index i, const SequenceStore& b, Index j,
                                  PairScratch& scratch) const {
    const Counted sum = in_range(a.length(i), b.length(j)) ? counted<false>(a, i, b, j, scratch)
                                                           : counted<true>(a, i, b, j, scratch);
    const Wide value{sum.value, sum.exponent * wide_step};
    return {value.logarithm(), sum.value > 0 ? sum.slope / sum.value : 0.0};
  }

  bool logarithmic() const override { return logarithms_; }

  double cost(double length_a, double length_b) const override {
    return 2.0 * static_cast<double>(weights_.size()) * length_a * length_b;
  }

 private:
  /// Whether the numbers of the recursion stay within the range of double, for any sequences of
  /// these lengths: there are at most C(m, p) C(n, p) pairs of subsequences of length p, whose gaps
  /// have at most m + n letters in all. What a decay below 1 makes too small for a double is
  /// nothing next to the subsequences without gaps, which either sequence has with itself.
  bool in_range(Index m, Index n) const {
    const Index order = std::min({static_cast<Index>(weights_.size()), m, n});
    if (order == 0) return true;
    const auto p = static_cast<double>(order), s = static_cast<double>(m),
               t = static_cast<double>(n);
    const double gaps = std::max(log_decay_, 0.0) * (s + t);
    const double heaviest = std::max(heaviest_[order - 1], 0.0);
    return log_choices(s, p) + log_choices(t, p) + gaps + heaviest < safe &&
           lightest_[order - 1] > -safe;
  }

  /// The largest n up to `longest` that is in range with m; what is in range is so for shorter
  /// ones too.
  Index longest_in_range(Index m, Index longest) const {
    if (in_range(m, longest)) return longest;
    Index good = 0, bad = longest;
    while (bad - good > 1) {
      const Index middle = good + (bad - good) / 2;
      (in_range(m, middle) ? good : bad) = middle;
    }
    return good;
  }

  /// The recursion of one pair, all orders in one sweep of a row, with its derivative.
  template <bool W>
  Counted counted(const SequenceStore& a, Index i, const SequenceStore& b, Index j,
                  PairScratch& scratch) const {
    using Numbers = Counting<W>;
    const Index m = a.length(i), n = b.length(j);
    const Index order = std::min({static_cast<Index>(weights_.size()), m, n}), levels = order - 1;
    if (order == 0) return {};
    const double decay = W ? wide_decay_.digits : decay_, steps = W ? wide_decay_.exponent : 0.0;
    std::vector<Counted> sum(order), row(levels * n), run(order), corner(order);
    Asking asking(scratch.leave);
    for (Index s = 0; s < m && !asking.leaves(order * n); ++s) {
      const std::int32_t letter = a.tokens(i)[s];
      std::fill(run.begin(), run.end(), Counted{});
      std::fill(corner.begin(), corner.end(), Counted{});
      corner[0] = {1.0, 0.0, 0.0};  // a subsequence of length 1 continues the empty one
      Counted* cell = row.data();
      for (Index t = 0; t < n; ++t, cell += levels) {
        const bool match = letter >= 0 && letter == b.tokens(j)[t];
        for (Index p = order - 1; p >= 0; --p) {
          if (match) sum[p] = Numbers::add(sum[p], corner[p]);
          if (p == levels) continue;
          const Counted up = cell[p];
          run[p] = Numbers::times(run[p], decay, steps, 1.0);
          if (match) run[p] = Numbers::add(run[p], corner[p]);
          cell[p] = Numbers::add(Numbers::times(up, decay, steps, 1.0), run[p]);
          corner[p + 1] = up;
        }
      }
    }
    Counted total;
    for (Index p = 0; p < order; ++p) {
      const double counts = 2.0 * static_cast<double>(p + 1);
      total = Numbers::add(
          total, W ? Numbers::times(sum[p], wide_weights_[p], weight_exponents_[p], counts)
                   : Numbers::times(sum[p], weights_[p], 0.0, counts));
    }
    return total;
  }

  static void interleave(const SequenceStore& b, const Index* group, Index used, Index longest,
                         PairScratch& scratch) {
    scratch.group.require(std::max<Index>(longest, 1) * current_isa().pairs.lanes);
    interleave_tokens(b, group, used, longest, scratch.group.data(), scratch);
  }

  void run(Index m, Index n, bool query_outer, Index used, PairScratch& scratch) const {
    const PairOps& ops = current_isa().pairs;
    const int order = static_cast<int>(weights_.size());
    scratch.table.require(std::max<Index>(order * std::max(n, m), 1) * ops.lanes);
    scratch.extra.require(2 * ops.lanes);
    ops.subsequence({scratch.query.data(), m, scratch.group.data(), n, query_outer, order, decay_,
                     weights_.data(), scratch.table.data(), scratch.extra.data(), used,
                     PairScratch::ask, &scratch});
    if (!logarithms_) return;
    double *values = scratch.extra.data(), *logs = values + ops.lanes;
    current_isa().dual.log(values, logs, used);
    for (Index k = 0; k < used; ++k) values[k] = values[k] > 0 ? logs[k] : -infinite;
  }

  void run_wide(Index m, Index n, bool query_outer, Index used, PairScratch& scratch) const {
    const PairOps& ops = current_isa().pairs;
    // Subsequences longer than the sequences add nothing.
    const auto order = static_cast<int>(std::min({static_cast<Index>(weights_.size()), m, n}));
    scratch.table.require(2 * order * std::max(n, m) * ops.lanes);
    scratch.extra.require(2 * ops.lanes);
    double *digits = scratch.extra.data(), *exponents = digits + ops.lanes;
    ops.wide_subsequence(
        {{scratch.query.data(), m, scratch.group.data(), n, query_outer, order, wide_decay_.digits,
          wide_weights_.data(), scratch.table.data(), digits, used, PairScratch::ask, &scratch},
         wide_decay_.exponent,
         weight_exponents_.data(),
         exponents});
    for (Index k = 0; k < used; ++k) {
      const Wide value{digits[k], exponents[k] * wide_step};
      digits[k] = logarithms_ ? value.logarithm() : value.value();
    }
  }

  /// Which of two sequences the recursion goes through in its outer loop: the longer one, or where
  /// they are equally long the one that a look at which tokens agree tells. Both orders of a pair
  /// give the same answer, unless no such look tells them apart; then they give the same value.
  static bool is_outer(const SequenceStore& a, Index i, const SequenceStore& b, Index j,
                       const PairScratch& scratch) {
    const Index n = a.length(i);
    if (n != b.length(j)) return n > b.length(j);
    const std::int32_t *s = a.tokens(i), *t = b.tokens(j);
    if (std::equal(s, s + n, t)) return true;
    Asking asking(scratch.leave);
    for (Index d = 1; d < n && !asking.leaves(n - d); ++d)
      for (Index k = 0; k + d < n; ++k) {
        const bool ahead = s[k] == t[k + d], behind = s[k + d] == t[k];
        if (ahead != behind) return ahead;
      }
    return true;
  }

  double decay_, log_decay_;
  Wide wide_decay_;  ///< in steps, as are the wide weights
  bool logarithms_;
  std::vector<double> weights_, wide_weights_, weight_exponents_;
  std::vector<double> lightest_, heaviest_;  ///< logarithms of the weights above 0 up to a length
};

}  // namespace

std::shared_ptr<const PairKernel> make_subsequence(double decay, std::vector<double> weights,
                                                   bool logarithms) {
  return std::make_shared<Subsequence>(decay, weights, logarithms);
}

bool subsequence_slopes(const PairKernel& kernel, const SequenceStore& a, const SequenceStore& b,
                        int threads, Leaving& leaving, double* out) {
  const auto& subsequence = dynamic_cast<const Subsequence&>(kernel);
  std::vector<PairScratch> scratch = scratch_of_threads(threads, leaving);
  return parallel_for(threads, a.n * b.n, leaving, [&](Index task, int worker) {
    std::tie(out[task], out[a.n * b.n + task]) =
        subsequence.slope(a, task / b.n, b, task % b.n, scratch[worker]);
  });
}

}  // namespace mercer
