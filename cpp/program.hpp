// A kernel as a postfix program over pair statistics.
//
// Leaves push a tile of a pair statistic (or of a matrix, or of a caller's function); the other
// instructions transform the tile on top of the stack, or combine the two topmost. A program runs
// over a tile while it is in the first-level cache, so sums, products and powers of kernels cost
// no matrix and no call per pair.
#pragma once
#include <vector>

#include "isa/ops.hpp"

namespace mercer {

enum class Op { leaf, constant, affine, exp, tanh, powi, add, mul, aux };

struct Instruction {
  Op op;
  int index = 0;        ///< leaf, aux: which one; powi: the power
  double a = 0, b = 0;  ///< constant: a; affine: a x + b; exp: exp(a x + b)
};

struct Program {
  std::vector<Instruction> code;
  int n_leaves = 0;
  int n_aux = 0;

  /// Stack height needed; throws std::invalid_argument for a malformed program.
  int depth() const;
};

}  // namespace mercer
