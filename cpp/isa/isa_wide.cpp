// The wide path, for tests alone: the widest vectors, for the baseline of the architecture.
// clang-format off
#include "vec_wide.hpp"
#include "table.hpp"
// clang-format on

namespace mercer {
Isa isa_wide() {
  return {"wide", make_ops<float>(), make_ops<double>(), make_pair_ops()};
}
}  // namespace mercer
