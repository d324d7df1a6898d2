// Vectors of the AVX-512 path: sixteen floats or eight doubles.
#pragma once
#include <immintrin.h>

#include "bit_patterns.hpp"
#include "transpose_x86.hpp"

namespace {

struct VecF {
  using Scalar = float;
  static constexpr int width = 16;
  __m512 v;
  static VecF load(const float* p) { return {_mm512_loadu_ps(p)}; }
  static VecF set(float x) { return {_mm512_set1_ps(x)}; }
  static VecF zero() { return {_mm512_setzero_ps()}; }
  static VecF iota() {
    return {_mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)};
  }
  void store(float* p) const { _mm512_storeu_ps(p, v); }
};
inline VecF operator+(VecF a, VecF b) {
  return {_mm512_add_ps(a.v, b.v)};
}
inline VecF operator-(VecF a, VecF b) {
  return {_mm512_sub_ps(a.v, b.v)};
}
inline VecF operator*(VecF a, VecF b) {
  return {_mm512_mul_ps(a.v, b.v)};
}
inline VecF operator/(VecF a, VecF b) {
  return {_mm512_div_ps(a.v, b.v)};
}
inline VecF fma(VecF a, VecF b, VecF c) {
  return {_mm512_fmadd_ps(a.v, b.v, c.v)};
}
inline VecF fnma(VecF a, VecF b, VecF c) {
  return {_mm512_fnmadd_ps(a.v, b.v, c.v)};
}
inline VecF min(VecF a, VecF b) {
  return {_mm512_min_ps(a.v, b.v)};
}
inline VecF max(VecF a, VecF b) {
  return {_mm512_max_ps(a.v, b.v)};
}
inline VecF abs(VecF a) {
  return {_mm512_abs_ps(a.v)};
}
inline VecF round(VecF a) {
  return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
inline VecF floor(VecF a) {
  return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)};
}
inline VecF sqrt(VecF a) {
  return {_mm512_sqrt_ps(a.v)};
}
/// The smallest entry.
inline float smallest(VecF a) {
  return _mm512_reduce_min_ps(a.v);
}
struct MaskF {
  __mmask16 m;
};
inline MaskF operator<(VecF a, VecF b) {
  return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ)};
}
inline MaskF operator&(MaskF a, MaskF b) {
  return {static_cast<__mmask16>(a.m & b.m)};
}
/// where(m, a, b): a where the mask holds, otherwise b.
inline VecF where(MaskF m, VecF a, VecF b) {
  return {_mm512_mask_blend_ps(m.m, b.v, a.v)};
}
/// p * 2^n within the normal range of the result, where integral n has been added to round_shift.
inline VecF scale2(VecF p, VecF shifted) {
  const __m512i e = _mm512_slli_epi32(_mm512_castps_si512(shifted.v), 23);
  return {_mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(p.v), e))};
}
/// y, or -y where the integral n that has been added to round_shift is odd.
inline VecF flip_if_odd(VecF y, VecF shifted) {
  const __m512i sign = _mm512_slli_epi32(_mm512_castps_si512(shifted.v), 31);
  return {_mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(y.v), sign))};
}
/// x = m 2^e with m in [sqrt(1/2), sqrt(2)), for normal positive x; returns m.
inline VecF split_exponent(VecF x, VecF& e) {
  const __m512i root = _mm512_set1_epi32(half_root_f);
  const __m512i bits =
      _mm512_add_epi32(_mm512_castps_si512(x.v), _mm512_set1_epi32(one_f - half_root_f));
  e = VecF{_mm512_cvtepi32_ps(_mm512_srli_epi32(bits, 23))} - VecF::set(127.0f);
  const __m512i m = _mm512_and_si512(bits, _mm512_set1_epi32(0x7fffff));
  return {_mm512_castsi512_ps(_mm512_add_epi32(m, root))};
}
/// The number of the eighth of an octave in which x >= 0 lies, counted from 0, and where in it.
inline VecF eighth_of_octave(VecF x, VecF& which) {
  const __m512i bits = _mm512_castps_si512(x.v);
  which = {_mm512_cvtepi32_ps(_mm512_srli_epi32(bits, 20))};
  const __m512i low = _mm512_and_si512(bits, _mm512_set1_epi32(0xfffff));
  const VecF part{_mm512_castsi512_ps(_mm512_or_si512(low, _mm512_set1_epi32(one_f)))};
  return (part - VecF::set(1.0f)) * VecF::set(8.0f);
}
/// p[index] for integral non-negative indices.
inline VecF gather(const float* p, VecF index) {
  return {_mm512_i32gather_ps(_mm512_cvttps_epi32(index.v), p, 4)};
}

struct VecD {
  using Scalar = double;
  static constexpr int width = 8;
  __m512d v;
  static VecD load(const double* p) { return {_mm512_loadu_pd(p)}; }
  static VecD load(const float* p) { return {_mm512_cvtps_pd(_mm256_loadu_ps(p))}; }
  static VecD set(double x) { return {_mm512_set1_pd(x)}; }
  static VecD zero() { return {_mm512_setzero_pd()}; }
  static VecD iota() { return {_mm512_setr_pd(0, 1, 2, 3, 4, 5, 6, 7)}; }
  void store(double* p) const { _mm512_storeu_pd(p, v); }
};
inline VecD operator+(VecD a, VecD b) {
  return {_mm512_add_pd(a.v, b.v)};
}
inline VecD operator-(VecD a, VecD b) {
  return {_mm512_sub_pd(a.v, b.v)};
}
inline VecD operator*(VecD a, VecD b) {
  return {_mm512_mul_pd(a.v, b.v)};
}
inline VecD operator/(VecD a, VecD b) {
  return {_mm512_div_pd(a.v, b.v)};
}
inline VecD fma(VecD a, VecD b, VecD c) {
  return {_mm512_fmadd_pd(a.v, b.v, c.v)};
}
inline VecD fnma(VecD a, VecD b, VecD c) {
  return {_mm512_fnmadd_pd(a.v, b.v, c.v)};
}
inline VecD min(VecD a, VecD b) {
  return {_mm512_min_pd(a.v, b.v)};
}
inline VecD max(VecD a, VecD b) {
  return {_mm512_max_pd(a.v, b.v)};
}
inline VecD abs(VecD a) {
  return {_mm512_abs_pd(a.v)};
}
inline VecD round(VecD a) {
  return {_mm512_roundscale_pd(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
inline VecD floor(VecD a) {
  return {_mm512_roundscale_pd(a.v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)};
}
inline VecD sqrt(VecD a) {
  return {_mm512_sqrt_pd(a.v)};
}
inline double smallest(VecD a) {
  return _mm512_reduce_min_pd(a.v);
}
struct MaskD {
  __mmask8 m;
};
inline MaskD operator<(VecD a, VecD b) {
  return {_mm512_cmp_pd_mask(a.v, b.v, _CMP_LT_OQ)};
}
inline MaskD operator==(VecD a, VecD b) {
  return {_mm512_cmp_pd_mask(a.v, b.v, _CMP_EQ_OQ)};
}
inline MaskD operator&(MaskD a, MaskD b) {
  return {static_cast<__mmask8>(a.m & b.m)};
}
inline VecD where(MaskD m, VecD a, VecD b) {
  return {_mm512_mask_blend_pd(m.m, b.v, a.v)};
}
/// only(m, a): a where the mask holds, otherwise 0.
inline VecD only(MaskD m, VecD a) {
  return {_mm512_maskz_mov_pd(m.m, a.v)};
}
inline VecD scale2(VecD p, VecD shifted) {
  const __m512i e = _mm512_slli_epi64(_mm512_castpd_si512(shifted.v), 52);
  return {_mm512_castsi512_pd(_mm512_add_epi64(_mm512_castpd_si512(p.v), e))};
}
inline VecD flip_if_odd(VecD y, VecD shifted) {
  const __m512i sign = _mm512_slli_epi64(_mm512_castpd_si512(shifted.v), 63);
  return {_mm512_castsi512_pd(_mm512_xor_si512(_mm512_castpd_si512(y.v), sign))};
}
/// A non-negative integer below 2^52 as a number.
inline VecD from_integer(__m512i n) {
  const __m512i shift = _mm512_set1_epi64(two_to_52);
  return VecD{_mm512_castsi512_pd(_mm512_or_si512(n, shift))} - VecD{_mm512_castsi512_pd(shift)};
}
inline VecD split_exponent(VecD x, VecD& e) {
  const __m512i root = _mm512_set1_epi64(half_root_d);
  const __m512i bits =
      _mm512_add_epi64(_mm512_castpd_si512(x.v), _mm512_set1_epi64(one_d - half_root_d));
  e = from_integer(_mm512_srli_epi64(bits, 52)) - VecD::set(1023.0);
  const __m512i m = _mm512_and_si512(bits, _mm512_set1_epi64(mantissa_d));
  return {_mm512_castsi512_pd(_mm512_add_epi64(m, root))};
}
inline VecD eighth_of_octave(VecD x, VecD& which) {
  const __m512i bits = _mm512_castpd_si512(x.v);
  which = from_integer(_mm512_srli_epi64(bits, 49));
  const __m512i low = _mm512_and_si512(bits, _mm512_set1_epi64(mantissa_d >> 3));
  const VecD part{_mm512_castsi512_pd(_mm512_or_si512(low, _mm512_set1_epi64(one_d)))};
  return (part - VecD::set(1.0)) * VecD::set(8.0);
}
inline VecD gather(const double* p, VecD index) {
  return {_mm512_i32gather_pd(_mm512_cvttpd_epi32(index.v), p, 8)};
}

/// A vector as vectors of doubles, and back.
inline void widen(VecF x, VecD* to) {
  to[0] = {_mm512_cvtps_pd(_mm512_castps512_ps256(x.v))};
  to[1] = {_mm512_cvtps_pd(_mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(x.v), 1)))};
}
inline void narrow(const VecD* from, VecF& x) {
  const __m512d low = _mm512_castpd256_pd512(_mm256_castps_pd(_mm512_cvtpd_ps(from[0].v)));
  x = {_mm512_castpd_ps(_mm512_insertf64x4(low, _mm256_castps_pd(_mm512_cvtpd_ps(from[1].v)), 1))};
}
inline void widen(VecD x, VecD* to) {
  to[0] = x;
}
inline void narrow(const VecD* from, VecD& x) {
  x = from[0];
}

}  // namespace
