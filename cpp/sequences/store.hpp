// Sequences of different lengths, one after another: tokens (letters, words as numbers) or points.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "memory.hpp"

namespace mercer {

/// What a kernel makes of one sequence before it is compared with others.
struct PreparedSequence {
  virtual ~PreparedSequence() = default;
};

struct SequenceStore {
  Index n = 0;
  Index width = 0;           ///< 0: tokens; otherwise numbers in a point of a series
  std::vector<Index> start;  ///< tokens or points of a sequence: [start[i], start[i + 1])
  Buffer<std::int32_t> token;
  Buffer<double> value;
  /// Half the logarithm of k(x, x), where kernel values are to be normalised; otherwise empty.
  std::vector<double> norm;
  /// For kernels that prepare their sequences, one for each; otherwise empty.
  std::vector<std::shared_ptr<const PreparedSequence>> prepared;

  Index length(Index i) const { return start[i + 1] - start[i]; }
  const std::int32_t* tokens(Index i) const { return token.data() + start[i]; }
  const double* points(Index i) const { return value.data() + start[i] * width; }
  double mean_length() const {
    return static_cast<double>(start.back()) / static_cast<double>(std::max<Index>(n, 1));
  }
};

/// The sequences at these positions, in this order.
SequenceStore take_sequences(const SequenceStore& s, const Index* index, Index count);

}  // namespace mercer
