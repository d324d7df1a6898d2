// Counts of short patterns in sequences: n-grams, n-grams of several lengths, n-grams with gaps.
//
// A pattern is a list of offsets into a window; the letters at these offsets, read in order, are a
// path in a trie, whose nodes are found by hashing (node, letter). Nodes at the wanted depths are
// the columns of a sparse matrix of counts.
#pragma once
#include <cstdint>
#include <vector>

#include "isa/ops.hpp"

namespace mercer {

/// Compressed rows of counts, columns ascending within a row.
struct GramCounts {
  std::vector<double> value;
  std::vector<std::int32_t> column;
  std::vector<Index> start;
};

class GramTable {
 public:
  /// Counts paths of at least `min_depth` letters, from every position on which `span` letters
  /// that count follow.
  GramTable(std::vector<std::vector<Index>> patterns, Index min_depth, Index span);

  /// Counts the patterns of sequences; those met for the first time get a column if `grow`.
  /// Negative tokens are letters that do not count.
  GramCounts count(const std::int32_t* tokens, const Index* start, Index n, bool grow);

  Index columns() const { return n_columns_; }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::int32_t node = -1;  ///< -1: empty
  };

  /// The node below a node, made if it is not there and `grow`; -1 if there is none.
  std::int32_t child(std::int32_t node, std::int32_t token, std::int32_t depth, bool grow);
  void rehash();

  std::vector<std::vector<Index>> patterns_;
  Index min_depth_, span_;
  std::vector<Slot> slots_;
  Index n_nodes_ = 0;
  std::vector<std::int32_t> column_;  ///< of each node, -1: none
  Index n_columns_ = 0;
};

}  // namespace mercer
