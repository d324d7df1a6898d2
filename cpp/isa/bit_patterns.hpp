// Bit patterns of the floating-point numbers that the paths take apart.
#pragma once
#include <cstdint>

namespace {

/// Added to a number below 2^22 (2^51) it leaves the nearest integer in the lowest bits of the sum
/// and, once subtracted again, that integer.
template <class T>
constexpr T round_shift = sizeof(T) == 4 ? T(0x1.8p23) : T(0x1.8p52);

constexpr std::uint32_t one_f = 0x3f800000u;
constexpr std::uint32_t half_root_f = 0x3f3504f3u;  ///< sqrt(1/2)
constexpr std::uint64_t one_d = 0x3ff0000000000000u;
constexpr std::uint64_t half_root_d = 0x3fe6a09e667f3bcdu;  ///< sqrt(1/2)
constexpr std::uint64_t mantissa_d = 0x000fffffffffffffu;
constexpr std::uint64_t two_to_52 = 0x4330000000000000u;  ///< adds to an integer below 2^52

}  // namespace
