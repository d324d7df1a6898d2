// The avx512 path; compiled with its own flags (see CMakeLists.txt).
// clang-format off
#include "vec_avx512.hpp"
#include "table.hpp"
// clang-format on

namespace mercer {
Isa isa_avx512() {
  return {"avx512", make_ops<float>(), make_ops<double>(), make_pair_ops()};
}
}  // namespace mercer
