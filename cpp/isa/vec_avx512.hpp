// Vectors of the AVX-512 path: sixteen floats or eight doubles.
#pragma once
#include <immintrin.h>

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
/// p * 2^n for integral n within the normal range of the result.
inline VecF scale2(VecF p, VecF n) {
  const __m512i e = _mm512_slli_epi32(_mm512_cvtps_epi32(n.v), 23);
  return {_mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(p.v), e))};
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
inline VecD scale2(VecD p, VecD n) {
  const __m512i e = _mm512_slli_epi64(_mm512_cvtepi32_epi64(_mm512_cvtpd_epi32(n.v)), 52);
  return {_mm512_castsi512_pd(_mm512_add_epi64(_mm512_castpd_si512(p.v), e))};
}

}  // namespace
