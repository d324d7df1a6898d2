// Vectors of the wide path: sixteen floats or eight doubles on any processor, so that every line
// that depends on the width runs wherever the tests run, under the sanitizers too.
#pragma once
#include "vec_portable.hpp"

namespace {

using VecF = PortableVec<float, 16>;
using VecD = PortableVec<double, 8>;

}  // namespace
