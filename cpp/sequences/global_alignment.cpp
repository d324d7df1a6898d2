// Global alignment kernel of series of points (Cuturi, Vert, Birkenes and Matsui 2007; Cuturi
// 2011).
#include <cmath>
#include <limits>

#include "sequences/groups.hpp"
#include "sequences/kernels.hpp"
#include "sequences/wide.hpp"

namespace mercer {
namespace {

/// So far from every point that the similarity to it is 0; fills series up to the longest of a
/// group, where its alignments end before.
constexpr double far_away = 1e150;
/// Simple operations that take as long as a cell of a table of wide numbers.
constexpr Index wide_operations = 100;

class GlobalAlignment final : public PairKernel {
 public:
  GlobalAlignment(double gamma, Index band) : gamma_(gamma), band_(band) {}

  void row(const SequenceStore& a, Index i, const SequenceStore& b, Index begin, Index count,
           double* out, PairScratch& scratch) const override {
    const PairOps& ops = current_isa().pairs;
    const Index m = a.length(i), d = a.width;
    if (m == 0) {
      std::fill_n(out, count, -std::numeric_limits<double>::infinity());
      return;
    }
    for_groups(b, begin, count, scratch, [&](const Index* columns, Index used, Index longest) {
      const Index lanes = ops.lanes_for(used);
      scratch.group.require(std::max<Index>(longest * d, 1) * lanes);
      scratch.table.require((longest + 1) * lanes);
      scratch.extra.require(lanes);
      if (!interleave(b, columns, used, longest, lanes, scratch)) return;
      ops.alignment({a.points(i), m, scratch.group.data(), longest, d, scratch.length.data(),
                     gamma_, static_cast<double>(band_), scratch.table.data(), scratch.extra.data(),
                     lanes, PairScratch::ask, &scratch});
      for (Index k = 0; k < used && !scratch.leaves(); ++k) {
        const double value = scratch.extra[k];
        out[columns[k] - begin] = std::isnan(value) ? wide(a, i, b, columns[k], scratch) : value;
      }
    });
  }

  bool logarithmic() const override { return true; }
  bool takes_points() const override { return true; }

  double cost(double length_a, double length_b) const override {
    const double cells = band_ ? length_a * static_cast<double>(2 * band_) : length_a * length_b;
    return 20.0 * cells;
  }

 private:
  /// The logarithm of the value of one pair, with an exponent for every entry of the table.
  double wide(const SequenceStore& a, Index i, const SequenceStore& b, Index j,
              PairScratch& scratch) const {
    const Index m = a.length(i), n = b.length(j), d = a.width;
    if (n == 0 || (band_ && std::abs(m - n) >= band_))
      return -std::numeric_limits<double>::infinity();
    std::vector<Wide> row(static_cast<std::size_t>(n) + 1);
    row[0] = {1.0, 0.0};
    Asking asking(scratch.leave);
    for (Index p = 0; p < m; ++p) {
      Wide corner = row[0], left{};
      row[0] = left;
      for (Index q = 0; q < n; ++q) {
        if (asking.leaves(wide_operations + d)) return 0.0;
        const Index apart = std::abs(p - q);
        const Wide up = row[q + 1];
        left = {};
        if (!band_ || apart < band_) {
          double square = 0;
          for (Index c = 0; c < d; ++c) {
            const double difference = a.points(i)[p * d + c] - b.points(j)[q * d + c];
            square = std::fma(difference, difference, square);
          }
          const double w =
              band_ ? 1.0 - static_cast<double>(apart) / static_cast<double>(band_) : 1.0;
          left = similarity(square, w) * ((up + row[q]) + corner);
        }
        row[q + 1] = left;
        corner = up;
      }
    }
    return row[static_cast<std::size_t>(n)].logarithm();
  }

  /// w g / (2 - w g) with g = exp(-gamma square), which may be no double.
  Wide similarity(double square, double w) const {
    constexpr double log2e = 1.4426950408889634074, range = 1000.0;
    const double t = -gamma_ * log2e * square;
    if (t > -range) {
      double g = 0;
      current_isa().dual.exp_affine(&square, &g, 1, -gamma_, 0.0);
      g *= w;
      return {g / (2.0 - g), 0.0};
    }
    const double whole = std::floor(t);
    return {0.5 * w * std::exp2(t - whole), whole};
  }

  /// Lays the series of a group side by side; false when the work is left.
  static bool interleave(const SequenceStore& b, const Index* columns, Index used, Index longest,
                         Index lanes, PairScratch& scratch) {
    constexpr Index part = 1024;  // of all lanes together some hundred kilobytes
    const Index d = b.width, size = longest * d;
    double* out = scratch.group.data();
    Asking asking(scratch.leave);
    for (Index from = 0; from < size; from += part) {
      if (asking.leaves(4 * part * lanes)) return false;
      for (Index k = 0; k < lanes; ++k) {
        const double* points = k < used ? b.points(columns[k]) : nullptr;
        const Index to = std::min(size, from + part);
        const Index end = std::clamp(k < used ? b.length(columns[k]) * d : 0, from, to);
        for (Index c = from; c < end; ++c) out[c * lanes + k] = points[c];
        for (Index c = end; c < to; ++c) out[c * lanes + k] = far_away;
      }
    }
    return true;
  }

  double gamma_;
  Index band_;
};

}  // namespace

std::shared_ptr<const PairKernel> make_global_alignment(double gamma, Index band) {
  return std::make_shared<GlobalAlignment>(gamma, band);
}

}  // namespace mercer
