// Vectors of the plain path: four floats or two doubles, the registers of every 64-bit processor.
#pragma once
#include "vec_portable.hpp"

namespace {

using VecF = PortableVec<float, 4>;
using VecD = PortableVec<double, 2>;

}  // namespace
