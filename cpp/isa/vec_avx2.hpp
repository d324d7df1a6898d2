// Vectors of the AVX2 + FMA path: eight floats or four doubles.
#pragma once
#include <immintrin.h>

#include "bit_patterns.hpp"
#include "transpose_x86.hpp"

namespace {

struct VecF {
  using Scalar = float;
  static constexpr int width = 8;
  __m256 v;
  static VecF load(const float* p) { return {_mm256_loadu_ps(p)}; }
  static VecF set(float x) { return {_mm256_set1_ps(x)}; }
  static VecF zero() { return {_mm256_setzero_ps()}; }
  static VecF iota() { return {_mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7)}; }
  void store(float* p) const { _mm256_storeu_ps(p, v); }
};
inline VecF operator+(VecF a, VecF b) {
  return {_mm256_add_ps(a.v, b.v)};
}
inline VecF operator-(VecF a, VecF b) {
  return {_mm256_sub_ps(a.v, b.v)};
}
inline VecF operator*(VecF a, VecF b) {
  return {_mm256_mul_ps(a.v, b.v)};
}
inline VecF operator/(VecF a, VecF b) {
  return {_mm256_div_ps(a.v, b.v)};
}
inline VecF fma(VecF a, VecF b, VecF c) {
  return {_mm256_fmadd_ps(a.v, b.v, c.v)};
}
inline VecF fnma(VecF a, VecF b, VecF c) {
  return {_mm256_fnmadd_ps(a.v, b.v, c.v)};
}
inline VecF min(VecF a, VecF b) {
  return {_mm256_min_ps(a.v, b.v)};
}
inline VecF max(VecF a, VecF b) {
  return {_mm256_max_ps(a.v, b.v)};
}
inline VecF abs(VecF a) {
  return {_mm256_andnot_ps(_mm256_set1_ps(-0.0f), a.v)};
}
inline VecF round(VecF a) {
  return {_mm256_round_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
inline VecF floor(VecF a) {
  return {_mm256_floor_ps(a.v)};
}
inline VecF sqrt(VecF a) {
  return {_mm256_sqrt_ps(a.v)};
}
/// The smallest entry.
inline float smallest(VecF a) {
  const __m128 four = _mm_min_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1));
  const __m128 two = _mm_min_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_min_ss(two, _mm_movehdup_ps(two)));
}
struct MaskF {
  __m256 m;
};
inline MaskF operator<(VecF a, VecF b) {
  return {_mm256_cmp_ps(a.v, b.v, _CMP_LT_OQ)};
}
inline MaskF operator&(MaskF a, MaskF b) {
  return {_mm256_and_ps(a.m, b.m)};
}
/// where(m, a, b): a where the mask holds, otherwise b.
inline VecF where(MaskF m, VecF a, VecF b) {
  return {_mm256_blendv_ps(b.v, a.v, m.m)};
}
/// p * 2^n within the normal range of the result, where integral n has been added to round_shift.
inline VecF scale2(VecF p, VecF shifted) {
  const __m256i e = _mm256_slli_epi32(_mm256_castps_si256(shifted.v), 23);
  return {_mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p.v), e))};
}
/// y, or -y where the integral n that has been added to round_shift is odd.
inline VecF flip_if_odd(VecF y, VecF shifted) {
  const __m256i sign = _mm256_slli_epi32(_mm256_castps_si256(shifted.v), 31);
  return {_mm256_castsi256_ps(_mm256_xor_si256(_mm256_castps_si256(y.v), sign))};
}
/// x = m 2^e with m in [sqrt(1/2), sqrt(2)), for normal positive x; returns m.
inline VecF split_exponent(VecF x, VecF& e) {
  const __m256i root = _mm256_set1_epi32(half_root_f);
  const __m256i bits =
      _mm256_add_epi32(_mm256_castps_si256(x.v), _mm256_set1_epi32(one_f - half_root_f));
  e = VecF{_mm256_cvtepi32_ps(_mm256_srli_epi32(bits, 23))} - VecF::set(127.0f);
  const __m256i m = _mm256_and_si256(bits, _mm256_set1_epi32(0x7fffff));
  return {_mm256_castsi256_ps(_mm256_add_epi32(m, root))};
}
/// The number of the eighth of an octave in which x >= 0 lies, counted from 0, and where in it.
inline VecF eighth_of_octave(VecF x, VecF& which) {
  const __m256i bits = _mm256_castps_si256(x.v);
  which = {_mm256_cvtepi32_ps(_mm256_srli_epi32(bits, 20))};
  const __m256i low = _mm256_and_si256(bits, _mm256_set1_epi32(0xfffff));
  const VecF part{_mm256_castsi256_ps(_mm256_or_si256(low, _mm256_set1_epi32(one_f)))};
  return (part - VecF::set(1.0f)) * VecF::set(8.0f);
}
/// p[index] for integral non-negative indices.
inline VecF gather(const float* p, VecF index) {
  return {_mm256_mask_i32gather_ps(_mm256_setzero_ps(), p, _mm256_cvttps_epi32(index.v),
                                   _mm256_castsi256_ps(_mm256_set1_epi32(-1)), 4)};
}

struct VecD {
  using Scalar = double;
  static constexpr int width = 4;
  __m256d v;
  static VecD load(const double* p) { return {_mm256_loadu_pd(p)}; }
  static VecD load(const float* p) { return {_mm256_cvtps_pd(_mm_loadu_ps(p))}; }
  static VecD set(double x) { return {_mm256_set1_pd(x)}; }
  static VecD zero() { return {_mm256_setzero_pd()}; }
  static VecD iota() { return {_mm256_setr_pd(0, 1, 2, 3)}; }
  void store(double* p) const { _mm256_storeu_pd(p, v); }
};
inline VecD operator+(VecD a, VecD b) {
  return {_mm256_add_pd(a.v, b.v)};
}
inline VecD operator-(VecD a, VecD b) {
  return {_mm256_sub_pd(a.v, b.v)};
}
inline VecD operator*(VecD a, VecD b) {
  return {_mm256_mul_pd(a.v, b.v)};
}
inline VecD operator/(VecD a, VecD b) {
  return {_mm256_div_pd(a.v, b.v)};
}
inline VecD fma(VecD a, VecD b, VecD c) {
  return {_mm256_fmadd_pd(a.v, b.v, c.v)};
}
inline VecD fnma(VecD a, VecD b, VecD c) {
  return {_mm256_fnmadd_pd(a.v, b.v, c.v)};
}
inline VecD min(VecD a, VecD b) {
  return {_mm256_min_pd(a.v, b.v)};
}
inline VecD max(VecD a, VecD b) {
  return {_mm256_max_pd(a.v, b.v)};
}
inline VecD abs(VecD a) {
  return {_mm256_andnot_pd(_mm256_set1_pd(-0.0), a.v)};
}
inline VecD round(VecD a) {
  return {_mm256_round_pd(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
inline VecD floor(VecD a) {
  return {_mm256_floor_pd(a.v)};
}
inline VecD sqrt(VecD a) {
  return {_mm256_sqrt_pd(a.v)};
}
inline double smallest(VecD a) {
  const __m128d two = _mm_min_pd(_mm256_castpd256_pd128(a.v), _mm256_extractf128_pd(a.v, 1));
  return _mm_cvtsd_f64(_mm_min_sd(two, _mm_unpackhi_pd(two, two)));
}
struct MaskD {
  __m256d m;
};
inline MaskD operator<(VecD a, VecD b) {
  return {_mm256_cmp_pd(a.v, b.v, _CMP_LT_OQ)};
}
inline MaskD operator==(VecD a, VecD b) {
  return {_mm256_cmp_pd(a.v, b.v, _CMP_EQ_OQ)};
}
inline MaskD operator&(MaskD a, MaskD b) {
  return {_mm256_and_pd(a.m, b.m)};
}
inline VecD where(MaskD m, VecD a, VecD b) {
  return {_mm256_blendv_pd(b.v, a.v, m.m)};
}
/// only(m, a): a where the mask holds, otherwise 0.
inline VecD only(MaskD m, VecD a) {
  return {_mm256_and_pd(m.m, a.v)};
}
inline VecD scale2(VecD p, VecD shifted) {
  const __m256i e = _mm256_slli_epi64(_mm256_castpd_si256(shifted.v), 52);
  return {_mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(p.v), e))};
}
inline VecD flip_if_odd(VecD y, VecD shifted) {
  const __m256i sign = _mm256_slli_epi64(_mm256_castpd_si256(shifted.v), 63);
  return {_mm256_castsi256_pd(_mm256_xor_si256(_mm256_castpd_si256(y.v), sign))};
}
/// A non-negative integer below 2^52 as a number.
inline VecD from_integer(__m256i n) {
  const __m256i shift = _mm256_set1_epi64x(two_to_52);
  return VecD{_mm256_castsi256_pd(_mm256_or_si256(n, shift))} - VecD{_mm256_castsi256_pd(shift)};
}
inline VecD split_exponent(VecD x, VecD& e) {
  const __m256i root = _mm256_set1_epi64x(half_root_d);
  const __m256i bits =
      _mm256_add_epi64(_mm256_castpd_si256(x.v), _mm256_set1_epi64x(one_d - half_root_d));
  e = from_integer(_mm256_srli_epi64(bits, 52)) - VecD::set(1023.0);
  const __m256i m = _mm256_and_si256(bits, _mm256_set1_epi64x(mantissa_d));
  return {_mm256_castsi256_pd(_mm256_add_epi64(m, root))};
}
inline VecD eighth_of_octave(VecD x, VecD& which) {
  const __m256i bits = _mm256_castpd_si256(x.v);
  which = from_integer(_mm256_srli_epi64(bits, 49));
  const __m256i low = _mm256_and_si256(bits, _mm256_set1_epi64x(mantissa_d >> 3));
  const VecD part{_mm256_castsi256_pd(_mm256_or_si256(low, _mm256_set1_epi64x(one_d)))};
  return (part - VecD::set(1.0)) * VecD::set(8.0);
}
inline VecD gather(const double* p, VecD index) {
  return {_mm256_mask_i32gather_pd(_mm256_setzero_pd(), p, _mm256_cvttpd_epi32(index.v),
                                   _mm256_castsi256_pd(_mm256_set1_epi64x(-1)), 8)};
}

/// A vector as vectors of doubles, and back.
inline void widen(VecF x, VecD* to) {
  to[0] = {_mm256_cvtps_pd(_mm256_castps256_ps128(x.v))};
  to[1] = {_mm256_cvtps_pd(_mm256_extractf128_ps(x.v, 1))};
}
inline void narrow(const VecD* from, VecF& x) {
  x = {_mm256_set_m128(_mm256_cvtpd_ps(from[1].v), _mm256_cvtpd_ps(from[0].v))};
}
inline void widen(VecD x, VecD* to) {
  to[0] = x;
}
inline void narrow(const VecD* from, VecD& x) {
  x = from[0];
}

}  // namespace
