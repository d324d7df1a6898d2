// Probability of a pair of sequences under a pair hidden Markov model (Watkins 2000).
#include <cmath>

#include "sequences/groups.hpp"
#include "sequences/kernels.hpp"
#include "sequences/wide.hpp"

namespace mercer {
namespace {

/// Simple operations that take as long as a cell of a table of wide numbers.
constexpr Index wide_operations = 100;

class PairModel final : public PairKernel {
 public:
  /// Weights are divided by sqrt(pair(a, a)) or by the insertion of a, whichever is larger, for
  /// every letter a, so that none is above 1 and a sequence aligned with itself, or inserted, has
  /// weight about 1: long ones stay within the range of double. The logarithm of the factor is
  /// added at the end.
  PairModel(Index letters, std::vector<double> pair, std::vector<double> insert, double ends)
      : letters_(letters),
        pair_(std::move(pair)),
        insert_(std::move(insert)),
        log_ends_(std::log(ends)) {
    std::vector<double> scale(static_cast<std::size_t>(letters), 1.0);
    log_scale_.assign(static_cast<std::size_t>(letters), 0.0);
    for (Index a = 0; a < letters; ++a) {
      const double weight = std::max(std::sqrt(pair_[a * letters + a]), insert_[a]);
      if (!(weight > 0)) continue;
      log_scale_[a] = std::log(weight);
      scale[a] = weight;
    }
    for (Index a = 0; a < letters; ++a) insert_[a] /= scale[a];
    for (Index a = 0; a < letters; ++a)
      for (Index b = 0; b < letters; ++b) {
        double& p = pair_[a * letters + b];
        p = p / (scale[a] * scale[b]) - insert_[a] * insert_[b];
      }
  }

  void row(const SequenceStore& a, Index i, const SequenceStore& b, Index begin, Index count,
           double* out, PairScratch& scratch) const override {
    const PairOps& ops = current_isa().pairs;
    const Index m = a.length(i);
    const double scale = log_scale(a, i);
    const std::vector<std::int32_t> letters = distinct(a, i);
    std::vector<std::int32_t> query(static_cast<std::size_t>(m));
    for (Index k = 0; k < m; ++k)
      query[k] = static_cast<std::int32_t>(
          std::lower_bound(letters.begin(), letters.end(), a.tokens(i)[k]) - letters.begin());
    std::vector<double> insert;
    for (std::int32_t letter : letters) insert.push_back(insert_[letter]);
    for_groups(b, begin, count, scratch, [&](const Index* columns, Index used, Index longest) {
      const Index lanes = ops.lanes_for(used);
      // One table of pair weights for every letter of the query, and one of insertions.
      const Index size = longest * lanes, n_tables = static_cast<Index>(letters.size()) + 1;
      scratch.group.require(std::max<Index>(size * n_tables, 1));
      scratch.table.require((longest + 1) * lanes);
      scratch.extra.require(lanes);
      double* insertions = scratch.group.data() + size * (n_tables - 1);
      if (!fill_tables(b, columns, used, longest, lanes, letters, scratch.group.data(), insertions,
                       scratch))
        return;
      ops.pair_model({query.data(), m, scratch.group.data(), longest, insert.data(), insertions,
                      scratch.length.data(), scratch.table.data(), scratch.extra.data(), lanes,
                      PairScratch::ask, &scratch});
      for (Index k = 0; k < used && !scratch.leaves(); ++k) {
        const double value =
            std::isnan(scratch.extra[k]) ? wide(a, i, b, columns[k], scratch) : scratch.extra[k];
        out[columns[k] - begin] = value + (scale + log_scale(b, columns[k])) + log_ends_;
      }
    });
  }

  bool logarithmic() const override { return true; }

  double cost(double length_a, double length_b) const override {
    const double tables = std::min(static_cast<double>(letters_), length_a);
    return (3.0 * length_a + tables) * length_b;
  }

 private:
  /// The logarithm of the value of one pair, with an exponent for every entry of the table.
  double wide(const SequenceStore& a, Index i, const SequenceStore& b, Index j,
              PairScratch& scratch) const {
    const Index m = a.length(i), n = b.length(j);
    std::vector<Wide> row(static_cast<std::size_t>(n) + 1);
    row[0] = {1.0, 0.0};
    for (Index q = 0; q < n; ++q) row[q + 1] = Wide{insert_[b.tokens(j)[q]], 0.0} * row[q];
    Asking asking(scratch.leave);
    for (Index p = 0; p < m; ++p) {
      const Wide down{insert_[a.tokens(i)[p]], 0.0};
      const double* pair = pair_.data() + a.tokens(i)[p] * letters_;
      Wide corner = row[0];
      row[0] = down * corner;
      for (Index q = 0; q < n; ++q) {
        if (asking.leaves(wide_operations)) return 0.0;
        const std::int32_t letter = b.tokens(j)[q];
        const Wide up = row[q + 1];
        const Wide gaps = (down * up) + (Wide{insert_[letter], 0.0} * row[q]);
        row[q + 1] = wide_fma({pair[letter], 0.0}, corner, gaps);
        corner = up;
      }
    }
    return row[static_cast<std::size_t>(n)].logarithm();
  }

  double log_scale(const SequenceStore& s, Index i) const {
    double sum = 0;
    for (Index k = 0; k < s.length(i); ++k) sum += log_scale_[s.tokens(i)[k]];
    return sum;
  }

  static std::vector<std::int32_t> distinct(const SequenceStore& s, Index i) {
    std::vector<std::int32_t> letters(s.tokens(i), s.tokens(i) + s.length(i));
    std::sort(letters.begin(), letters.end());
    letters.erase(std::unique(letters.begin(), letters.end()), letters.end());
    return letters;
  }

  /// False when the work is left.
  bool fill_tables(const SequenceStore& b, const Index* columns, Index used, Index longest,
                   Index lanes, const std::vector<std::int32_t>& letters, double* pairs,
                   double* insertions, const PairScratch& scratch) const {
    const Index size = longest * lanes;
    Asking asking(scratch.leave);
    for (Index j = 0; j < longest; ++j) {
      for (Index k = 0; k < lanes; ++k) {
        if (asking.leaves(4 * static_cast<Index>(letters.size()) + 4)) return false;
        const Index length = k < used ? b.length(columns[k]) : 0;
        const Index at = j * lanes + k;
        const Index letter = j < length ? b.tokens(columns[k])[j] : -1;
        insertions[at] = letter < 0 ? 0.0 : insert_[letter];
        for (std::size_t c = 0; c < letters.size(); ++c)
          pairs[static_cast<Index>(c) * size + at] =
              letter < 0 ? 0.0 : pair_[letters[c] * letters_ + letter];
      }
    }
    return true;
  }

  Index letters_;
  std::vector<double> pair_, insert_, log_scale_;
  double log_ends_;
};

}  // namespace

std::shared_ptr<const PairKernel> make_pair_model(Index letters, std::vector<double> pair,
                                                  std::vector<double> insert, double ends) {
  return std::make_shared<PairModel>(letters, std::move(pair), std::move(insert), ends);
}

}  // namespace mercer
