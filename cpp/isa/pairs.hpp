// Dynamic programs on pairs of sequences: one query against a group of others, one per lane.
//
// The sequences of a group are interleaved, [position][lane], and filled up to the longest of them.
// A lane computes with its own numbers only, so a value does not depend on the company it is
// computed in. The recursions of alignments are symmetric in the two sequences down to the order of
// their additions: both orders of a pair give the same bits.
//
// A task that takes long asks `leave(asker)`, unless null, about every millisecond. If it answers
// true the task ends at once, and what it was to compute is undefined.
#pragma once
#include <cstdint>

namespace mercer {

/// Gap-weighted subsequences of an outer and an inner sequence. With
/// S_p(i, j) = [outer_i = inner_j] D_{p-1}(i-1, j-1), D_0 = 1,
///   R_p(i, j) = S_p(i, j) + a R_p(i, j-1),   D_p(i, j) = R_p(i, j) + a D_p(i-1, j),
/// D_p sums S_p(i', j') a^{(i-i') + (j-j')} over i' <= i, j' <= j, and
///   out = sum_p weight[p-1] sum_{ij} S_p(i, j).
/// Which sequence is the outer one decides about the last bits; the caller does.
struct SubsequenceTask {
  const double* query;  ///< m tokens
  std::int64_t m;
  const double* group;  ///< n x lanes tokens; a token that no query has fills short lanes
  std::int64_t n;
  bool query_outer;
  int order;             ///< largest p
  double decay;          ///< a
  const double* weight;  ///< of p = 1..order
  double* work;          ///< (order - 1) max(m, n) lanes
  double* out;           ///< lanes
  std::int64_t used;     ///< lanes that hold a sequence
  bool (*leave)(void* asker) = nullptr;
  void* asker = nullptr;
};

/// Exponents of numbers that leave the range of double count steps of so many powers of two.
inline constexpr int wide_step = 512;

/// The same for numbers that leave the range of double: those of the task are digits, to be
/// multiplied with 2^(wide_step exponent). The digits are 0 or from 2^-256 up to 2^256.
struct WideSubsequenceTask {
  SubsequenceTask task;  ///< with twice the work
  double decay_exponent;
  const double* weight_exponent;
  double* out_exponent;
};

/// Alignments of two series. With k(i, j) = w g / (2 - w g), g = exp(-gamma |s_i - t_j|^2) and
/// w = max(0, 1 - |i - j| / band), or 1 without a band,
///   M(i, j) = k(i, j) ((M(i-1, j) + M(i, j-1)) + M(i-1, j-1)),   M(0, 0) = 1,
/// out is the logarithm of M at the ends of both, NaN where digits may have been lost because the
/// values of one row differ by more than the range of double.
struct AlignmentTask {
  const double* query;  ///< m x d
  std::int64_t m;
  const double* group;  ///< n x d x lanes
  std::int64_t n;
  std::int64_t d;
  const std::int64_t* length;  ///< of each lane
  double gamma;
  double band;         ///< 0: none
  double* work;        ///< (n + 1) lanes
  double* out;         ///< lanes
  std::int64_t lanes;  ///< PairOps::lanes_for the sequences of the group
  bool (*leave)(void* asker) = nullptr;
  void* asker = nullptr;
};

/// Pair hidden Markov model whose insertions into the two sequences are independent. With the
/// weight e of inserting a letter and c(a, b) of emitting a pair,
///   G(i, j) = (c(s_i, t_j) - e(s_i) e(t_j)) G(i-1, j-1) + (e(s_i) G(i-1, j) + e(t_j) G(i, j-1)),
/// G(0, 0) = 1, sums over all alignments of the first i and j letters; out is its logarithm at
/// the ends of both, or NaN as in AlignmentTask.
struct PairModelTask {
  const std::int32_t* query;  ///< m letters
  std::int64_t m;
  const double* pair;  ///< letter x n x lanes: c(letter, t_j) - e(letter) e(t_j)
  std::int64_t n;
  const double* insert;        ///< e of each letter
  const double* group_insert;  ///< n x lanes: e(t_j)
  const std::int64_t* length;  ///< of each lane
  double* work;                ///< (n + 1) lanes
  double* out;                 ///< lanes
  std::int64_t lanes;          ///< PairOps::lanes_for the sequences of the group
  bool (*leave)(void* asker) = nullptr;
  void* asker = nullptr;
};

/// Runs of equal tokens at equal positions: counts[l - 1] grows by the number of positions p with
/// s[p .. p + l - 1] = t[p .. p + l - 1]. Negative tokens equal none.
struct RunsTask {
  const std::int32_t* s;
  const std::int32_t* t;
  std::int64_t n;        ///< positions
  std::int64_t longest;  ///< largest l
  std::uint64_t* work;   ///< 2 (n / 64 + 1)
  std::int64_t* counts;  ///< longest
  bool (*leave)(void* asker) = nullptr;
  void* asker = nullptr;
};

/// Adds the product of two upper triangular matrices to a third: out(j, e) += sum over l of
/// left(j, l) right(l, e). Only entries that lists name are read or may be other than 0: the l of
/// row j of `left` are end[left_start[j] .. left_start[j + 1]), ascending, and likewise for
/// `right`, whose rows with an entry hold zeros everywhere else.
struct TriangleTask {
  const double* left;
  const double* right;
  double* out;
  std::int64_t n;       ///< rows
  std::int64_t stride;  ///< of all three, a multiple of `step`, more than n
  const std::int64_t* left_start;
  const std::int64_t* right_start;
  const std::int32_t* end;
};

struct PairOps {
  int lanes = 0;  ///< sequences in a group
  int width = 0;  ///< of a vector
  int step = 0;   ///< the stride of a TriangleTask is a multiple of it
  void (*subsequence)(const SubsequenceTask& task) = nullptr;
  void (*wide_subsequence)(const WideSubsequenceTask& task) = nullptr;
  void (*alignment)(const AlignmentTask& task) = nullptr;
  void (*pair_model)(const PairModelTask& task) = nullptr;
  void (*runs)(const RunsTask& task) = nullptr;
  void (*triangle)(const TriangleTask& task) = nullptr;

  /// Lanes of the narrowest group for so many sequences: one vector, two, or all.
  int lanes_for(std::int64_t sequences) const {
    return sequences <= width ? width : sequences <= 2 * width ? 2 * width : lanes;
  }
};

}  // namespace mercer
