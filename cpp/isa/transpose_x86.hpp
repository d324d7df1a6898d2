// Transposition of 8 x 8 floats and 4 x 4 doubles in 256-bit registers; used by both x86 paths.
#pragma once
#include <immintrin.h>

namespace {

constexpr bool has_register_transpose = true;

/// out[c * out_stride + r] = in[r * in_stride + c] for r, c < 8.
inline void transpose_square(const float* in, long in_stride, float* out, long out_stride) {
  __m256 r[8], t[8];
  for (int k = 0; k < 8; ++k) r[k] = _mm256_loadu_ps(in + k * in_stride);
  for (int k = 0; k < 4; ++k) {
    t[2 * k] = _mm256_unpacklo_ps(r[2 * k], r[2 * k + 1]);
    t[2 * k + 1] = _mm256_unpackhi_ps(r[2 * k], r[2 * k + 1]);
  }
  for (int k = 0; k < 2; ++k) {
    r[4 * k] = _mm256_shuffle_ps(t[4 * k], t[4 * k + 2], 0x44);
    r[4 * k + 1] = _mm256_shuffle_ps(t[4 * k], t[4 * k + 2], 0xee);
    r[4 * k + 2] = _mm256_shuffle_ps(t[4 * k + 1], t[4 * k + 3], 0x44);
    r[4 * k + 3] = _mm256_shuffle_ps(t[4 * k + 1], t[4 * k + 3], 0xee);
  }
  for (int k = 0; k < 4; ++k) {
    _mm256_storeu_ps(out + k * out_stride, _mm256_permute2f128_ps(r[k], r[k + 4], 0x20));
    _mm256_storeu_ps(out + (k + 4) * out_stride, _mm256_permute2f128_ps(r[k], r[k + 4], 0x31));
  }
}

/// The same for 4 x 4 doubles, four times to cover 8 x 8.
inline void transpose_square(const double* in, long in_stride, double* out, long out_stride) {
  for (int i = 0; i < 8; i += 4)
    for (int j = 0; j < 8; j += 4) {
      __m256d r[4];
      for (int k = 0; k < 4; ++k) r[k] = _mm256_loadu_pd(in + (i + k) * in_stride + j);
      const __m256d a = _mm256_unpacklo_pd(r[0], r[1]), b = _mm256_unpackhi_pd(r[0], r[1]);
      const __m256d c = _mm256_unpacklo_pd(r[2], r[3]), d = _mm256_unpackhi_pd(r[2], r[3]);
      double* to = out + j * out_stride + i;
      _mm256_storeu_pd(to, _mm256_permute2f128_pd(a, c, 0x20));
      _mm256_storeu_pd(to + out_stride, _mm256_permute2f128_pd(b, d, 0x20));
      _mm256_storeu_pd(to + 2 * out_stride, _mm256_permute2f128_pd(a, c, 0x31));
      _mm256_storeu_pd(to + 3 * out_stride, _mm256_permute2f128_pd(b, d, 0x31));
    }
}

}  // namespace
