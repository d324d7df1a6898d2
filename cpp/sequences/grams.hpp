// Counts of short patterns in sequences: n-grams, n-grams of several lengths, n-grams with gaps.
//
// A pattern is a list of offsets into a window; what is counted is the content of a window at these
// offsets. Letters are numbered, and as many of them as fit are packed into one key of a hash
// table; a content of more letters is a chain of keys, each with the number of the one before. The
// contents of the first set of sequences are the columns of a sparse matrix of counts; others are
// not counted.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "isa/ops.hpp"
#include "sequences/pair_kernel.hpp"

namespace mercer {

/// Compressed rows of counts, columns ascending within a row.
struct GramCounts {
  std::vector<double> value;
  std::vector<std::int32_t> column;
  std::vector<Index> start;
};

class GramTable {
 public:
  /// Contents of at least `min_depth` letters count, from every position on that `span` letters
  /// which count follow.
  GramTable(std::vector<std::vector<Index>> patterns, Index min_depth, Index span);

  /// Counts the contents of sequences. The first call decides which of them have a column.
  /// Negative tokens are letters that do not count. `leave`, unless null, is asked now and then;
  /// true: the answer has no rows, and the table is as before the call.
  GramCounts count(const std::int32_t* tokens, const Index* start, Index n,
                   const std::function<bool()>& leave = nullptr);

  Index columns() const { return n_columns_; }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::int32_t node = -1;  ///< -1: empty
    std::int32_t column = -1;
  };

  void learn_letters(const std::int32_t* tokens, Index n);
  /// The content reached from a node by a packed group of letters; null if it has no place.
  const Slot* find(std::int32_t node, std::uint32_t group, bool counts, bool grow);
  /// The slot of a key, or the empty one where it belongs.
  std::size_t place(std::uint64_t key) const;
  void grow_table();
  /// Collect the columns of the contents of one sequence.
  void contiguous(const std::int32_t* letters, Index n, bool grow, Asking& asking);
  void general(const std::int32_t* tokens, const std::int32_t* letters, Index n, bool grow,
               Asking& asking);
  void append_row(GramCounts& out);

  std::vector<std::vector<Index>> patterns_;
  Index min_depth_, span_;
  bool learned_ = false;
  std::vector<std::int32_t> letter_;  ///< number of a token, -1: none
  int bits_ = 1;                      ///< of a letter
  Index group_ = 1;                   ///< letters in a key
  std::vector<Slot> slots_;
  Index n_nodes_ = 0, n_columns_ = 0;
  /// Where there are few different windows: their columns, -1 for those not met yet.
  std::vector<std::int32_t> direct_;
  static constexpr Index direct_bits = 16;
  std::vector<std::int32_t> met_;
  std::vector<std::int32_t> tally_;
  std::vector<std::uint64_t> marked_;
};

}  // namespace mercer
