// A kernel on sequences as the evaluator sees it: values of one sequence against several.
//
// A value depends on its two sequences alone, and both orders of a pair give the same bits.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "sequences/store.hpp"

namespace mercer {

/// Memory that one thread reuses from call to call.
struct PairScratch {
  Buffer<double> query, group, table, extra, row;
  std::vector<Index> order, length;
  std::vector<std::int64_t> counts;
  std::vector<std::uint64_t> bits;
};

class PairKernel {
 public:
  virtual ~PairKernel() = default;

  /// k(a_i, b_j) for j in [begin, begin + count), or its logarithm.
  virtual void row(const SequenceStore& a, Index i, const SequenceStore& b, Index begin,
                   Index count, double* out, PairScratch& scratch) const = 0;
  /// Whether `row` gives logarithms, because values leave the range of double.
  virtual bool logarithmic() const { return false; }
  /// Rough cost of a value in multiply-adds, for sequences of these lengths.
  virtual double cost(double length_a, double length_b) const = 0;
  /// Whether the kernel takes series of points instead of tokens.
  virtual bool takes_points() const { return false; }
};

/// Values k(a_i, b_j), after normalisation where the stores hold norms.
void pair_values(const PairKernel& kernel, const SequenceStore& a, Index i, const SequenceStore& b,
                 Index begin, Index count, double* out, PairScratch& scratch);

/// k(b_j, b_j), or its logarithm for a logarithmic kernel, of all sequences.
std::vector<double> pair_diagonal(const PairKernel& kernel, const SequenceStore& b, int threads);

}  // namespace mercer
