// Kernel values k(a_i, b_j) of two prepared object sets, in tiles.
//
// A value depends on its two rows alone: every loop below gives the same bits for any tile,
// position and number of threads.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "coordinate_leaf.hpp"
#include "multiplier.hpp"
#include "objects.hpp"
#include "program.hpp"
#include "sequences/pair_kernel.hpp"
#include "statistic_cache.hpp"

namespace mercer {

/// Where a leaf without a pair statistic takes its tile from.
template <class T>
struct LeafSource {
  Stat stat = Stat::dot;
  /// A function of single coordinates instead of `stat`, or null.
  std::shared_ptr<const CoordinateLeaf<T>> coordinates;
  /// Values of the statistic that are kept, for objects that know their position in it; or null.
  std::shared_ptr<StatisticCache<T>> cache;
  /// Symmetric matrix of the caller (row-major with strides), or empty.
  const void* matrix = nullptr;
  bool matrix_single = false;
  Index row_stride = 0, col_stride = 0;
  /// Fills out[r * out_stride + k] for rows a[0..na) and columns b[0..nb); empty if native.
  std::function<void(const Index* a, Index na, const Index* b, Index nb, T* out, Index stride)>
      call;
  std::function<void(const Index* a, Index na, T* out)> call_diag;
  /// Kernel on sequences, or empty.
  std::shared_ptr<const PairKernel> pair;
};

/// Query rows of one tile, prepared for every leaf; one per thread.
template <class T>
struct Query {
  int n = 0;
  std::vector<Index> rows;
  std::vector<Buffer<T>> dense;                  ///< per leaf: groups of query_block rows
  std::vector<ZeroPages<std::int32_t>> slot_of;  ///< per leaf: column -> slot
  std::vector<std::vector<std::int32_t>> used;   ///< per leaf: columns with a slot
  std::vector<std::vector<T>> slots;             ///< per leaf: slot x sparse_block
  std::vector<Buffer<T>> stack;                  ///< tiles above the first
  std::vector<Buffer<T>> kept;                   ///< per leaf: its tile, where it is used again
  std::vector<std::vector<Index>> cursor;        ///< per leaf: postings of the rows' entries
  std::vector<Index> next;                       ///< per leaf: where the cursors stand
  Buffer<T> sparse_out;
  PairScratch pair;
  Buffer<T> some_rows, some_values;  ///< the rows of a tile that the cache does not know
};

template <class T>
class Evaluator {
 public:
  Evaluator(Program program, std::vector<LeafSource<T>> sources,
            std::shared_ptr<const Objects<T>> a, std::shared_ptr<const Objects<T>> b);
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  Index rows() const { return a_->n; }
  Index cols() const { return b_->n; }
  const std::shared_ptr<const Objects<T>>& a() const { return a_; }
  const Objects<T>& b() const { return *b_; }
  /// Columns of b a tile starts at must be a multiple of this; tiles write whole panels.
  int panel() const { return panel_; }
  /// Query rows worth preparing at once.
  int block() const { return block_; }
  /// False when a leaf calls back into the caller's language.
  bool threads_allowed() const { return native_; }
  /// Whether the two sets are the same, and both orders of a pair give the same bits.
  bool symmetric() const { return symmetric_; }
  /// Whether several query rows cost less together than one after the other.
  bool joint() const { return chunk_ == chunk; }
  /// Rough cost of one value in multiply-adds.
  double cost() const;
  /// Whether a value takes longer to compute than to write to memory once and read again.
  bool worth_keeping() const;
  /// Row 0 of a matrix of the caller that holds these values as they are, one behind the other, row
  /// i at i times the stride; null: there is none.
  const T* matrix_rows(Index* stride) const;
  /// Whether values are dot products of stored rows, so that products need no single value.
  bool linear() const { return !terms_.empty(); }

  /// The same kernel on other objects.
  std::shared_ptr<Evaluator<T>> on(std::shared_ptr<const Objects<T>> a,
                                   std::shared_ptr<const Objects<T>> b) const;
  /// The same kernel and columns with other rows.
  std::shared_ptr<Evaluator<T>> on(std::shared_ptr<const Objects<T>> a) const { return on(a, b_); }

  void prepare(Query<T>& q, const Index* rows, int n) const;
  /// Values of the prepared rows against columns [begin, begin + count) of b; row r at
  /// out + r * stride, where up to round_up(count, panel()) values are written.
  void tile(Query<T>& q, Index begin, Index count, T* out, Index stride) const;

  /// k(b_j, b_j) for all columns; false when the work was left.
  bool diag(T* out, int threads, Leaving& leaving) const;

  /// What products with these segments multiply by. In single precision weight vectors, which are
  /// more accurate than the rounded values, are used only if `exact` asks for it.
  std::unique_ptr<Multiplier<T>> multiplier(const std::vector<Segment>& segments, int threads,
                                            bool exact) const;
  /// Products with vectors, nothing stored; out is rows() x multiplier.cols, overwritten. Leaves
  /// off as soon as `interrupted` (asked now and then from the calling thread) is true; rows that
  /// were not reached are NaN then, and the answer is false.
  bool product(const Multiplier<T>& multiplier, double* out, int threads,
               const std::function<bool()>& interrupted) const;
  /// Weights of one column for objects like b, of a linear kernel.
  Weights<T> empty_weights() const { return Weights<T>(terms_, *b_, 1); }

 private:
  /// Columns a program works on at a time: six rows of them stay in the first-level cache.
  static constexpr Index chunk = 256;
  /// The same where leaves go through lists and tables of their own, which have a start to pay for.
  static constexpr Index long_chunk = 1024;
  static_assert(chunk % largest_panel == 0 && long_chunk % largest_panel == 0);

  std::vector<LinearTerm> find_terms() const;
  /// The weight vectors that stand for b in products with these segments; null where values one by
  /// one are the better way.
  std::unique_ptr<Weights<T>> weights(const std::vector<Segment>& segments, int threads) const;
  bool product_by_values(const Multiplier<T>& multiplier, double* out, int threads,
                         const std::function<bool()>& interrupted) const;
  bool by_postings(std::size_t leaf) const;
  /// Whether the columns of queries are looked up among those that occur in the other set.
  bool by_places(std::size_t leaf) const;
  /// The part of diag for the columns [begin, end).
  void diag_part(Index begin, Index end, T* out, PairScratch& scratch) const;
  void inverted_tile(int leaf, Query<T>& q, Index begin, Index count, T* out, Index stride) const;
  /// A leaf's tile, computed or remembered; true when the instruction after it (null: none) is done
  /// as well.
  bool leaf_values(int leaf, Query<T>& q, Index begin, Index count, T* out, Index stride,
                   const Instruction* next) const;
  void kept_tile(int leaf, Query<T>& q, Index begin, Index count, T* out, Index stride) const;
  bool leaf_tile(int leaf, Query<T>& q, Index begin, Index count, T* out, Index stride,
                 const Instruction* next) const;
  /// Runs an instruction that replaces n values by a function of each.
  void transform(const Instruction& i, const T* in, T* out, Index n) const;

  Program program_;
  std::vector<LeafSource<T>> sources_;
  std::shared_ptr<const Objects<T>> a_, b_;
  std::vector<Buffer<T>> coefficients_;  ///< of the program's tables, in this precision
  std::vector<TableView<T>> tables_;
  std::vector<std::vector<T>> polynomials_;
  int panel_ = 0, block_ = 0, depth_ = 1;
  Index chunk_ = 0;
  bool native_ = true, symmetric_ = false;
  std::vector<LinearTerm> terms_;  ///< of a kernel that is a sum of dot products; otherwise none
  std::vector<int> uses_;          ///< of every leaf
  std::vector<int> first_;         ///< the first leaf that looks at the same rows
};

}  // namespace mercer
