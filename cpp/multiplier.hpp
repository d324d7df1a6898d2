// The right-hand side of a product K V in the form in which the loops read it.
//
// It is made once for many products: a prediction of one row reads the coefficients, and copying
// them would cost as much as the prediction.
#pragma once
#include <memory>
#include <vector>

#include "memory.hpp"
#include "weights.hpp"

namespace mercer {

/// One block of columns of a product: out[:, offset + c] = K[:, begin:end] v[:, c].
struct Segment {
  Index begin, end, cols, offset;
  const double* v;  ///< (end - begin) x cols, row-major
};

/// A segment in the layout of the loops. A single column is laid out over whole panels and summed
/// lane by lane; several columns are padded to a multiple of column_block.
struct Coefficients {
  Index begin, end;  ///< columns of the kernel matrix
  Index first;       ///< single column: where its panels begin
  Index width;       ///< accumulators of one row
  Index at;          ///< where these stand among all accumulators
  Index cols;        ///< columns of the product,
  Index offset;      ///< and the first of them
  bool single;
  Buffer<double> v;
};

template <class T>
struct Multiplier {
  Index objects = 0;                       ///< columns of the kernel matrix
  Index cols = 0;                          ///< columns of a product
  std::unique_ptr<Weights<T>> weights;     ///< where they stand for the objects; otherwise null
  std::vector<Coefficients> coefficients;  ///< otherwise
};

}  // namespace mercer
