// Vectors of the AVX2 + FMA path: eight floats or four doubles.
#pragma once
#include <immintrin.h>

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
/// p * 2^n for integral n within the normal range of the result.
inline VecF scale2(VecF p, VecF n) {
  const __m256i e = _mm256_slli_epi32(_mm256_cvtps_epi32(n.v), 23);
  return {_mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p.v), e))};
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
inline VecD scale2(VecD p, VecD n) {
  const __m256i e = _mm256_slli_epi64(_mm256_cvtepi32_epi64(_mm256_cvtpd_epi32(n.v)), 52);
  return {_mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(p.v), e))};
}

}  // namespace
