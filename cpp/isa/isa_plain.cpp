// The plain path: the baseline of the architecture.
// clang-format off
#include "vec_plain.hpp"
#include "table.hpp"
// clang-format on

namespace mercer {
Isa isa_plain() {
  return {"plain", make_ops<float>(), make_ops<double>(), make_pair_ops()};
}
}  // namespace mercer
