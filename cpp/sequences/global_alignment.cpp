// Global alignment kernel of series of points (Cuturi, Vert, Birkenes and Matsui 2007; Cuturi
// 2011).
#include <limits>

#include "sequences/groups.hpp"
#include "sequences/kernels.hpp"

namespace mercer {
namespace {

/// So far from every point that the similarity to it is 0; fills series up to the longest of a
/// group, where its alignments end before.
constexpr double far_away = 1e150;

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
      scratch.group.require(std::max<Index>(longest * d, 1) * ops.lanes);
      scratch.table.require((longest + 1) * ops.lanes);
      scratch.extra.require(ops.lanes);
      interleave(b, columns, used, longest, scratch.group.data());
      ops.alignment({a.points(i), m, scratch.group.data(), longest, d, scratch.length.data(),
                     gamma_, static_cast<double>(band_), scratch.table.data(), scratch.extra.data(),
                     used, PairScratch::ask, &scratch});
      for (Index k = 0; k < used; ++k) out[columns[k] - begin] = scratch.extra[k];
    });
  }

  bool logarithmic() const override { return true; }
  bool takes_points() const override { return true; }

  double cost(double length_a, double length_b) const override {
    const double cells = band_ ? length_a * static_cast<double>(2 * band_) : length_a * length_b;
    return 20.0 * cells;
  }

 private:
  static void interleave(const SequenceStore& b, const Index* columns, Index used, Index longest,
                         double* out) {
    const Index lanes = current_isa().pairs.lanes, d = b.width;
    std::fill_n(out, longest * d * lanes, far_away);
    for (Index k = 0; k < used; ++k) {
      const double* points = b.points(columns[k]);
      for (Index c = 0; c < b.length(columns[k]) * d; ++c) out[c * lanes + k] = points[c];
    }
  }

  double gamma_;
  Index band_;
};

}  // namespace

std::shared_ptr<const PairKernel> make_global_alignment(double gamma, Index band) {
  return std::make_shared<GlobalAlignment>(gamma, band);
}

}  // namespace mercer
