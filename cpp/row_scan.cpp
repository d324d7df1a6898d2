#include "row_scan.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "memory.hpp"

namespace mercer {

namespace {

constexpr int lanes = 8;  ///< independent sums, which do not wait for each other

/// A number for each column, none a multiple of another one.
std::vector<double> column_weights(Index d) {
  auto w = vector_of<double>(d);
  for (Index k = 0; k < d; ++k) w[k] = std::sin(static_cast<double>(k + 1));
  return w;
}

template <class U>
double weighted_sum(const U* row, Index stride, const std::vector<double>& w) {
  const Index d = static_cast<Index>(w.size());
  double part[lanes] = {};
  Index k = 0;
  if (stride == 1)
    for (; k + lanes <= d; k += lanes)
      for (int j = 0; j < lanes; ++j) part[j] += static_cast<double>(row[k + j]) * w[k + j];
  for (; k < d; ++k) part[0] += static_cast<double>(row[k * stride]) * w[k];
  double sum = 0;
  for (double p : part) sum += p;
  return sum;
}

/// A set of 64-bit keys, an open hash table.
class KeySet {
 public:
  explicit KeySet(Index n)
      : bits_(std::bit_width(static_cast<std::uint64_t>(2 * n))),
        slots_(vector_of<std::uint64_t>(Index(1) << bits_, empty)) {}

  /// Adds a key; returns whether it is new.
  bool add(std::uint64_t key) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = static_cast<std::size_t>((key * 0x9E3779B97F4A7C15u) >> (64 - bits_));
    for (; slots_[at] != empty; at = (at + 1) & mask)
      if (slots_[at] == key) return false;
    slots_[at] = key;
    return true;
  }

 private:
  static constexpr std::uint64_t empty = ~std::uint64_t(0);  ///< the bits of no sum

  int bits_;
  std::vector<std::uint64_t> slots_;
};

}  // namespace

template <class U>
bool all_finite(const U* x, Index n) {
  U part[lanes] = {};  // 0 times a finite number is 0, times any other one NaN
  Index i = 0;
  for (; i + lanes <= n; i += lanes)
    for (int j = 0; j < lanes; ++j) part[j] += x[i + j] * U(0);
  for (; i < n; ++i) part[0] += x[i] * U(0);
  for (U p : part)
    if (p != U(0)) return false;
  return true;
}

template <class U>
Index distinct_rows(const Strided<U>& x, Index limit) {
  const std::vector<double> w = column_weights(x.d);
  KeySet seen(std::max<Index>(x.n, 1));
  Index distinct = 0;
  for (Index i = 0; i < x.n && distinct <= limit; ++i) {
    const double sum = weighted_sum(x.data + i * x.row_stride, x.col_stride, w) + 0.0;  // no -0
    distinct += seen.add(std::bit_cast<std::uint64_t>(sum));
  }
  return distinct;
}

template bool all_finite<float>(const float*, Index);
template bool all_finite<double>(const double*, Index);
template Index distinct_rows<float>(const Strided<float>&, Index);
template Index distinct_rows<double>(const Strided<double>&, Index);

}  // namespace mercer
