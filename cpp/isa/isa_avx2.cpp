// The avx2 path; compiled with its own flags (see CMakeLists.txt).
// clang-format off
#include "vec_avx2.hpp"
#include "table.hpp"
// clang-format on

namespace mercer {
Isa isa_avx2() {
  return {"avx2", make_ops<float>(), make_ops<double>(), make_pair_ops()};
}
}  // namespace mercer
