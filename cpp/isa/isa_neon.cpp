// The neon path: the baseline of 64-bit ARM processors.
// clang-format off
#include "vec_neon.hpp"
#include "table.hpp"
// clang-format on

namespace mercer {
Isa isa_neon() {
  return {"neon", make_ops<float>(), make_ops<double>(), make_pair_ops()};
}
}  // namespace mercer
