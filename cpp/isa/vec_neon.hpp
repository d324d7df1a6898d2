// Vectors of the NEON path (Advanced SIMD of 64-bit ARM): four floats or two doubles, with fused
// multiply-add.
#pragma once
#include <arm_neon.h>

#include <cstdint>

#include "bit_patterns.hpp"

namespace {

constexpr bool has_register_transpose = true;

struct VecF {
  using Scalar = float;
  static constexpr int width = 4;
  float32x4_t v;
  static VecF load(const float* p) { return {vld1q_f32(p)}; }
  static VecF set(float x) { return {vdupq_n_f32(x)}; }
  static VecF zero() { return set(0.0f); }
  static VecF iota() {
    constexpr float first[] = {0, 1, 2, 3};
    return load(first);
  }
  void store(float* p) const { vst1q_f32(p, v); }
};
struct MaskF {
  uint32x4_t m;
};
inline VecF operator+(VecF a, VecF b) {
  return {vaddq_f32(a.v, b.v)};
}
inline VecF operator-(VecF a, VecF b) {
  return {vsubq_f32(a.v, b.v)};
}
inline VecF operator*(VecF a, VecF b) {
  return {vmulq_f32(a.v, b.v)};
}
inline VecF operator/(VecF a, VecF b) {
  return {vdivq_f32(a.v, b.v)};
}
inline VecF fma(VecF a, VecF b, VecF c) {
  return {vfmaq_f32(c.v, a.v, b.v)};
}
inline VecF fnma(VecF a, VecF b, VecF c) {
  return {vfmsq_f32(c.v, a.v, b.v)};
}
inline MaskF operator<(VecF a, VecF b) {
  return {vcltq_f32(a.v, b.v)};
}
inline MaskF operator&(MaskF a, MaskF b) {
  return {vandq_u32(a.m, b.m)};
}
/// where(m, a, b): a where the mask holds, otherwise b.
inline VecF where(MaskF m, VecF a, VecF b) {
  return {vbslq_f32(m.m, a.v, b.v)};
}
/// b where the two cannot be compared, as on the other paths; vminq and vmaxq differ there.
inline VecF min(VecF a, VecF b) {
  return where(a < b, a, b);
}
inline VecF max(VecF a, VecF b) {
  return where(b < a, a, b);
}
/// The smallest entry.
inline float smallest(VecF a) {
  return vminvq_f32(a.v);
}
inline VecF abs(VecF a) {
  return {vabsq_f32(a.v)};
}
inline VecF round(VecF a) {
  return {vrndnq_f32(a.v)};
}
inline VecF floor(VecF a) {
  return {vrndmq_f32(a.v)};
}
inline VecF sqrt(VecF a) {
  return {vsqrtq_f32(a.v)};
}
/// p * 2^n within the normal range of the result, where integral n has been added to round_shift.
inline VecF scale2(VecF p, VecF shifted) {
  const uint32x4_t e = vshlq_n_u32(vreinterpretq_u32_f32(shifted.v), 23);
  return {vreinterpretq_f32_u32(vaddq_u32(vreinterpretq_u32_f32(p.v), e))};
}
/// y, or -y where the integral n that has been added to round_shift is odd.
inline VecF flip_if_odd(VecF y, VecF shifted) {
  const uint32x4_t sign = vshlq_n_u32(vreinterpretq_u32_f32(shifted.v), 31);
  return {vreinterpretq_f32_u32(veorq_u32(vreinterpretq_u32_f32(y.v), sign))};
}
/// x = m 2^e with m in [sqrt(1/2), sqrt(2)), for normal positive x; returns m.
inline VecF split_exponent(VecF x, VecF& e) {
  const uint32x4_t bits = vaddq_u32(vreinterpretq_u32_f32(x.v), vdupq_n_u32(one_f - half_root_f));
  e = VecF{vcvtq_f32_u32(vshrq_n_u32(bits, 23))} - VecF::set(127.0f);
  const uint32x4_t m = vandq_u32(bits, vdupq_n_u32(0x7fffffu));
  return {vreinterpretq_f32_u32(vaddq_u32(m, vdupq_n_u32(half_root_f)))};
}
/// The number of the eighth of an octave in which x >= 0 lies, counted from 0, and where in it.
inline VecF eighth_of_octave(VecF x, VecF& which) {
  const uint32x4_t bits = vreinterpretq_u32_f32(x.v);
  which = {vcvtq_f32_u32(vshrq_n_u32(bits, 20))};
  const uint32x4_t low = vandq_u32(bits, vdupq_n_u32(0xfffffu));
  const VecF part{vreinterpretq_f32_u32(vorrq_u32(low, vdupq_n_u32(one_f)))};
  return (part - VecF::set(1.0f)) * VecF::set(8.0f);
}
/// p[index] for integral non-negative indices.
inline VecF gather(const float* p, VecF index) {
  const int32x4_t at = vcvtq_s32_f32(index.v);
  const float found[] = {p[vgetq_lane_s32(at, 0)], p[vgetq_lane_s32(at, 1)],
                         p[vgetq_lane_s32(at, 2)], p[vgetq_lane_s32(at, 3)]};
  return VecF::load(found);
}

struct VecD {
  using Scalar = double;
  static constexpr int width = 2;
  float64x2_t v;
  static VecD load(const double* p) { return {vld1q_f64(p)}; }
  static VecD load(const float* p) { return {vcvt_f64_f32(vld1_f32(p))}; }
  static VecD set(double x) { return {vdupq_n_f64(x)}; }
  static VecD zero() { return set(0.0); }
  static VecD iota() {
    constexpr double first[] = {0, 1};
    return load(first);
  }
  void store(double* p) const { vst1q_f64(p, v); }
};
struct MaskD {
  uint64x2_t m;
};
inline VecD operator+(VecD a, VecD b) {
  return {vaddq_f64(a.v, b.v)};
}
inline VecD operator-(VecD a, VecD b) {
  return {vsubq_f64(a.v, b.v)};
}
inline VecD operator*(VecD a, VecD b) {
  return {vmulq_f64(a.v, b.v)};
}
inline VecD operator/(VecD a, VecD b) {
  return {vdivq_f64(a.v, b.v)};
}
inline VecD fma(VecD a, VecD b, VecD c) {
  return {vfmaq_f64(c.v, a.v, b.v)};
}
inline VecD fnma(VecD a, VecD b, VecD c) {
  return {vfmsq_f64(c.v, a.v, b.v)};
}
inline MaskD operator<(VecD a, VecD b) {
  return {vcltq_f64(a.v, b.v)};
}
inline MaskD operator==(VecD a, VecD b) {
  return {vceqq_f64(a.v, b.v)};
}
inline MaskD operator&(MaskD a, MaskD b) {
  return {vandq_u64(a.m, b.m)};
}
inline VecD where(MaskD m, VecD a, VecD b) {
  return {vbslq_f64(m.m, a.v, b.v)};
}
/// only(m, a): a where the mask holds, otherwise 0.
inline VecD only(MaskD m, VecD a) {
  return {vreinterpretq_f64_u64(vandq_u64(m.m, vreinterpretq_u64_f64(a.v)))};
}
inline VecD min(VecD a, VecD b) {
  return where(a < b, a, b);
}
inline VecD max(VecD a, VecD b) {
  return where(b < a, a, b);
}
inline double smallest(VecD a) {
  return vminvq_f64(a.v);
}
inline VecD abs(VecD a) {
  return {vabsq_f64(a.v)};
}
inline VecD round(VecD a) {
  return {vrndnq_f64(a.v)};
}
inline VecD floor(VecD a) {
  return {vrndmq_f64(a.v)};
}
inline VecD sqrt(VecD a) {
  return {vsqrtq_f64(a.v)};
}
inline VecD scale2(VecD p, VecD shifted) {
  const uint64x2_t e = vshlq_n_u64(vreinterpretq_u64_f64(shifted.v), 52);
  return {vreinterpretq_f64_u64(vaddq_u64(vreinterpretq_u64_f64(p.v), e))};
}
inline VecD flip_if_odd(VecD y, VecD shifted) {
  const uint64x2_t sign = vshlq_n_u64(vreinterpretq_u64_f64(shifted.v), 63);
  return {vreinterpretq_f64_u64(veorq_u64(vreinterpretq_u64_f64(y.v), sign))};
}
inline VecD split_exponent(VecD x, VecD& e) {
  const uint64x2_t bits = vaddq_u64(vreinterpretq_u64_f64(x.v), vdupq_n_u64(one_d - half_root_d));
  e = VecD{vcvtq_f64_u64(vshrq_n_u64(bits, 52))} - VecD::set(1023.0);
  const uint64x2_t m = vandq_u64(bits, vdupq_n_u64(mantissa_d));
  return {vreinterpretq_f64_u64(vaddq_u64(m, vdupq_n_u64(half_root_d)))};
}
inline VecD eighth_of_octave(VecD x, VecD& which) {
  const uint64x2_t bits = vreinterpretq_u64_f64(x.v);
  which = {vcvtq_f64_u64(vshrq_n_u64(bits, 49))};
  const uint64x2_t low = vandq_u64(bits, vdupq_n_u64(mantissa_d >> 3));
  const VecD part{vreinterpretq_f64_u64(vorrq_u64(low, vdupq_n_u64(one_d)))};
  return (part - VecD::set(1.0)) * VecD::set(8.0);
}
inline VecD gather(const double* p, VecD index) {
  const int64x2_t at = vcvtq_s64_f64(index.v);
  const double found[] = {p[vgetq_lane_s64(at, 0)], p[vgetq_lane_s64(at, 1)]};
  return VecD::load(found);
}

/// A vector as vectors of doubles, and back.
inline void widen(VecF x, VecD* to) {
  to[0] = {vcvt_f64_f32(vget_low_f32(x.v))};
  to[1] = {vcvt_high_f64_f32(x.v)};
}
inline void narrow(const VecD* from, VecF& x) {
  x = {vcvt_high_f32_f64(vcvt_f32_f64(from[0].v), from[1].v)};
}
inline void widen(VecD x, VecD* to) {
  to[0] = x;
}
inline void narrow(const VecD* from, VecD& x) {
  x = from[0];
}

/// out[c * out_stride + r] = in[r * in_stride + c] for r, c < 8, in squares of 4 x 4 floats.
inline void transpose_square(const float* in, long in_stride, float* out, long out_stride) {
  for (int i = 0; i < 8; i += 4)
    for (int j = 0; j < 8; j += 4) {
      float32x4_t r[4];
      for (int k = 0; k < 4; ++k) r[k] = vld1q_f32(in + (i + k) * in_stride + j);
      const float32x4x2_t a = vtrnq_f32(r[0], r[1]), b = vtrnq_f32(r[2], r[3]);
      float* to = out + j * out_stride + i;
      for (int k = 0; k < 2; ++k) {
        vst1q_f32(to + k * out_stride,
                  vcombine_f32(vget_low_f32(a.val[k]), vget_low_f32(b.val[k])));
        vst1q_f32(to + (k + 2) * out_stride,
                  vcombine_f32(vget_high_f32(a.val[k]), vget_high_f32(b.val[k])));
      }
    }
}

/// The same in squares of 2 x 2 doubles.
inline void transpose_square(const double* in, long in_stride, double* out, long out_stride) {
  for (int i = 0; i < 8; i += 2)
    for (int j = 0; j < 8; j += 2) {
      const float64x2_t a = vld1q_f64(in + i * in_stride + j);
      const float64x2_t b = vld1q_f64(in + (i + 1) * in_stride + j);
      vst1q_f64(out + j * out_stride + i, vtrn1q_f64(a, b));
      vst1q_f64(out + (j + 1) * out_stride + i, vtrn2q_f64(a, b));
    }
}

}  // namespace
