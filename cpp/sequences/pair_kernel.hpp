// A kernel on sequences as the evaluator sees it: values of one sequence against several.
//
// A value depends on its two sequences alone, and both orders of a pair give the same bits.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "leaving.hpp"
#include "sequences/store.hpp"

namespace mercer {

/// Memory that one thread reuses from call to call.
struct PairScratch {
  Buffer<double> query, group, table, extra, row;
  std::vector<Index> order, length;
  std::vector<std::int64_t> counts;
  std::vector<std::uint64_t> bits;
  /// Asked now and then where a single value takes long, if given; true: the caller has no more use
  /// for the values, which may be left as they are.
  std::function<bool()> leave;

  bool leaves() const { return leave && leave(); }
  /// The same as the tasks of isa/pairs.hpp ask it.
  static bool ask(void* scratch) { return static_cast<PairScratch*>(scratch)->leaves(); }
};

/// Asks about every millisecond whether work is to be left; `leave` may be null.
class Asking {
 public:
  explicit Asking(const std::function<bool()>& leave) : leave_(leave) {}
  /// Before so many simple operations. Once true, it stays so.
  bool leaves(Index operations) {
    if (left_ || !leave_ || (since_ += operations) < between) return left_;
    since_ = 0;
    return left_ = leave_();
  }

 private:
  static constexpr Index between = Index(1) << 19;
  const std::function<bool()>& leave_;
  Index since_ = 0;
  bool left_ = false;
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
  /// The same for a pair of these sequences, on average.
  virtual double cost(const SequenceStore& a, const SequenceStore& b) const {
    return cost(a.mean_length(), b.mean_length());
  }
  /// Whether sequences are prepared one by one before they are compared.
  virtual bool prepares() const { return false; }
  /// `leave`, unless null, is asked now and then; true: the answer is not needed.
  virtual std::shared_ptr<const PreparedSequence> prepare(
      const std::int32_t* /*tokens*/, Index /*length*/,
      const std::function<bool()>& /*leave*/) const {
    return nullptr;
  }
  /// Whether the kernel takes series of points instead of tokens.
  virtual bool takes_points() const { return false; }
};

/// Prepares all sequences, if the kernel does that; false when the work was left.
bool prepare_sequences(const PairKernel& kernel, SequenceStore& s, int threads, Leaving& leaving);

/// Values k(a_i, b_j), after normalisation where the stores hold norms.
void pair_values(const PairKernel& kernel, const SequenceStore& a, Index i, const SequenceStore& b,
                 Index begin, Index count, double* out, PairScratch& scratch);

/// Scratch for every thread.
std::vector<PairScratch> scratch_of_threads(int threads, Leaving& leaving);

/// k(b_j, b_j), or its logarithm for a logarithmic kernel, of all sequences; none when the work was
/// left.
std::vector<double> pair_diagonal(const PairKernel& kernel, const SequenceStore& b, int threads,
                                  Leaving& leaving);

}  // namespace mercer
