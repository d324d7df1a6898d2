// Columns gathered into groups of as many sequences as the instruction set has lanes.
#pragma once
#include <algorithm>
#include <numeric>

#include "isa/dispatch.hpp"
#include "sequences/pair_kernel.hpp"

namespace mercer {

/// Calls body(columns, lanes_used, longest) for groups of these columns of similar length, which
/// waste least when they are filled up to the longest of a group; until the work is left.
template <class Body>
void for_groups(const SequenceStore& b, std::vector<Index>& columns, PairScratch& scratch,
                Body body) {
  const Index lanes = current_isa().pairs.lanes, count = static_cast<Index>(columns.size());
  std::stable_sort(columns.begin(), columns.end(),
                   [&](Index p, Index q) { return b.length(p) < b.length(q); });
  scratch.length.assign(static_cast<std::size_t>(lanes), 0);
  for (Index first = 0; first < count && !scratch.leaves(); first += lanes) {
    const Index used = std::min(lanes, count - first);
    for (Index k = 0; k < lanes; ++k)
      scratch.length[k] = k < used ? b.length(columns[first + k]) : 0;
    body(columns.data() + first, used, b.length(columns[first + used - 1]));
  }
}

/// The same for all columns [begin, begin + count).
template <class Body>
void for_groups(const SequenceStore& b, Index begin, Index count, PairScratch& scratch, Body body) {
  scratch.order.resize(static_cast<std::size_t>(count));
  std::iota(scratch.order.begin(), scratch.order.end(), begin);
  for_groups(b, scratch.order, scratch, body);
}

/// Interleaves the tokens of a group as numbers; -2, which is no token, fills short lanes.
inline void interleave_tokens(const SequenceStore& b, const Index* columns, Index used,
                              Index longest, double* out, const PairScratch& scratch) {
  const Index lanes = current_isa().pairs.lanes;
  for (Index k = 0; k < lanes && !scratch.leaves(); ++k) {
    const Index length = k < used ? b.length(columns[k]) : 0;
    const std::int32_t* tokens = k < used ? b.tokens(columns[k]) : nullptr;
    for (Index j = 0; j < length; ++j) out[j * lanes + k] = static_cast<double>(tokens[j]);
    for (Index j = length; j < longest; ++j) out[j * lanes + k] = -2.0;
  }
}

}  // namespace mercer
