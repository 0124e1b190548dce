// The vector instructions that kernels use, one function each, for the feature set being compiled.
#pragma once

#include "compiler/Codegen/X86/Kernels/geometry.h"
#include "compiler/Codegen/X86/Kernels/kernel.h"

#ifdef QUAVER_SIMDE
#include "compiler/Codegen/X86/Kernels/simde_missing.h"
#else
#include <immintrin.h>
#endif

namespace quaver::x86::QUAVER_SET_NAMESPACE {

constexpr Geometry kGeometry = geometry(QUAVER_FEATURE_SET);
constexpr int kWidth = kGeometry.width;

#ifdef QUAVER_SET_AVX2

using F32x = __m256;
using I32x = __m256i;
using Half = __m128i; // the bits of kWidth 16-bit values

QUAVER_INLINE F32x load(const float *p) { return _mm256_loadu_ps(p); }
QUAVER_INLINE void store(float *p, F32x v) { _mm256_storeu_ps(p, v); }
QUAVER_INLINE F32x broadcast(float x) { return _mm256_set1_ps(x); }
QUAVER_INLINE F32x zero() { return _mm256_setzero_ps(); }
QUAVER_INLINE F32x add(F32x a, F32x b) { return _mm256_add_ps(a, b); }
QUAVER_INLINE F32x mul(F32x a, F32x b) { return _mm256_mul_ps(a, b); }
QUAVER_INLINE F32x div(F32x a, F32x b) { return _mm256_div_ps(a, b); }
QUAVER_INLINE F32x min(F32x a, F32x b) { return _mm256_min_ps(a, b); } // b where either is NaN
QUAVER_INLINE F32x fma(F32x a, F32x b, F32x c) { return _mm256_fmadd_ps(a, b, c); }
QUAVER_INLINE I32x bits(F32x v) { return _mm256_castps_si256(v); }
QUAVER_INLINE F32x floats(I32x v) { return _mm256_castsi256_ps(v); }
QUAVER_INLINE I32x splat(int x) { return _mm256_set1_epi32(x); }
QUAVER_INLINE I32x add32(I32x a, I32x b) { return _mm256_add_epi32(a, b); }
QUAVER_INLINE I32x sub32(I32x a, I32x b) { return _mm256_sub_epi32(a, b); }
QUAVER_INLINE I32x max32(I32x a, I32x b) { return _mm256_max_epi32(a, b); }
QUAVER_INLINE I32x and_(I32x a, I32x b) { return _mm256_and_si256(a, b); }
QUAVER_INLINE I32x or_(I32x a, I32x b) { return _mm256_or_si256(a, b); }
template <int kBits> QUAVER_INLINE I32x shiftRight(I32x v) { return _mm256_srli_epi32(v, kBits); }
template <int kBits> QUAVER_INLINE I32x shiftLeft(I32x v) { return _mm256_slli_epi32(v, kBits); }
// a < b ? x : y, signed.
QUAVER_INLINE I32x selectLess(I32x a, I32x b, I32x x, I32x y) {
  return _mm256_blendv_epi8(y, x, _mm256_cmpgt_epi32(b, a));
}
QUAVER_INLINE I32x loadInts(const int32_t *p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(p));
}
// base[index] where `valid` is all ones, 0 where it is zero.
QUAVER_INLINE F32x gather(const float *base, I32x index, I32x valid) {
  return _mm256_mask_i32gather_ps(zero(), base, index, floats(valid), 4);
}
QUAVER_INLINE Half loadHalf(const void *p) { return _mm_loadu_si128(static_cast<const __m128i *>(p)); }
QUAVER_INLINE F32x halfToFloat(Half v) { return _mm256_cvtph_ps(v); }
QUAVER_INLINE I32x widenHalf(Half v) { return _mm256_cvtepu16_epi32(v); }
// The low byte of each 32-bit lane.
QUAVER_INLINE void storeLowBytes(uint8_t *p, I32x v) {
  const __m128i words = _mm_packus_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i *>(p), _mm_packus_epi16(words, words));
}
QUAVER_INLINE int maxLane(I32x v) {
  __m128i m = _mm_max_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0x4E));
  m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0xB1));
  return _mm_cvtsi128_si32(m);
}

#else

using F32x = __m512;
using I32x = __m512i;
using Half = __m256i;

QUAVER_INLINE F32x load(const float *p) { return _mm512_loadu_ps(p); }
QUAVER_INLINE void store(float *p, F32x v) { _mm512_storeu_ps(p, v); }
QUAVER_INLINE F32x broadcast(float x) { return _mm512_set1_ps(x); }
QUAVER_INLINE F32x zero() { return _mm512_setzero_ps(); }
QUAVER_INLINE F32x add(F32x a, F32x b) { return _mm512_add_ps(a, b); }
QUAVER_INLINE F32x mul(F32x a, F32x b) { return _mm512_mul_ps(a, b); }
QUAVER_INLINE F32x div(F32x a, F32x b) { return _mm512_div_ps(a, b); }
QUAVER_INLINE F32x min(F32x a, F32x b) { return _mm512_min_ps(a, b); } // b where either is NaN
QUAVER_INLINE F32x fma(F32x a, F32x b, F32x c) { return _mm512_fmadd_ps(a, b, c); }
QUAVER_INLINE I32x bits(F32x v) { return _mm512_castps_si512(v); }
QUAVER_INLINE F32x floats(I32x v) { return _mm512_castsi512_ps(v); }
QUAVER_INLINE I32x splat(int x) { return _mm512_set1_epi32(x); }
QUAVER_INLINE I32x add32(I32x a, I32x b) { return _mm512_add_epi32(a, b); }
QUAVER_INLINE I32x sub32(I32x a, I32x b) { return _mm512_sub_epi32(a, b); }
QUAVER_INLINE I32x max32(I32x a, I32x b) { return _mm512_max_epi32(a, b); }
QUAVER_INLINE I32x and_(I32x a, I32x b) { return _mm512_and_si512(a, b); }
QUAVER_INLINE I32x or_(I32x a, I32x b) { return _mm512_or_si512(a, b); }
template <int kBits> QUAVER_INLINE I32x shiftRight(I32x v) { return _mm512_srli_epi32(v, kBits); }
template <int kBits> QUAVER_INLINE I32x shiftLeft(I32x v) { return _mm512_slli_epi32(v, kBits); }
// a < b ? x : y, signed.
QUAVER_INLINE I32x selectLess(I32x a, I32x b, I32x x, I32x y) {
  return _mm512_mask_blend_epi32(_mm512_cmpgt_epi32_mask(b, a), y, x);
}
QUAVER_INLINE I32x loadInts(const int32_t *p) { return _mm512_loadu_si512(p); }
// base[index] where `valid` is all ones, 0 where it is zero.
QUAVER_INLINE F32x gather(const float *base, I32x index, I32x valid) {
  return _mm512_mask_i32gather_ps(zero(), _mm512_cmpgt_epi32_mask(splat(0), valid), index, base, 4);
}
QUAVER_INLINE Half loadHalf(const void *p) { return _mm256_loadu_si256(static_cast<const __m256i *>(p)); }
QUAVER_INLINE F32x halfToFloat(Half v) { return _mm512_cvtph_ps(v); }
QUAVER_INLINE I32x widenHalf(Half v) { return _mm512_cvtepu16_epi32(v); }
// The low byte of each 32-bit lane.
QUAVER_INLINE void storeLowBytes(uint8_t *p, I32x v) {
  _mm_storeu_si128(reinterpret_cast<__m128i *>(p), _mm512_cvtepi32_epi8(v));
}
QUAVER_INLINE int maxLane(I32x v) {
  const __m256i h = _mm256_max_epi32(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
  __m128i m = _mm_max_epi32(_mm256_castsi256_si128(h), _mm256_extracti128_si256(h, 1));
  m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0x4E));
  m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0xB1));
  return _mm_cvtsi128_si32(m);
}

#endif

QUAVER_INLINE int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
QUAVER_INLINE void prefetch(const void *p) { _mm_prefetch(static_cast<const char *>(p), _MM_HINT_T0); }

} // namespace quaver::x86::QUAVER_SET_NAMESPACE
