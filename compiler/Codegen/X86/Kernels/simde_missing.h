// AVX-512 over SIMDe: what its version 0.7.4 lacks, one function an instruction, each tested against plain
// arithmetic. Only for tests on machines without AVX-512; needs -march=x86-64-v3 (below it, clang and SIMDe
// both define __m128bh).
#pragma once

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>
#include <simde/x86/f16c.h>
#include <simde/x86/fma.h>

#define QUAVER_SIMDE_INLINE static inline __attribute__((always_inline))

// 16 f16 -> 16 f32.
QUAVER_SIMDE_INLINE __m512 quaver_mm512_cvtph_ps(__m256i h) {
  simde__m512_private out;
  out.m256[0] = _mm256_cvtph_ps(_mm256_castsi256_si128(h));
  out.m256[1] = _mm256_cvtph_ps(_mm256_extracti128_si256(h, 1));
  return simde__m512_from_private(out);
}

// 16 unsigned 16-bit -> 16 32-bit.
QUAVER_SIMDE_INLINE __m512i quaver_mm512_cvtepu16_epi32(__m256i v) {
  simde__m512i_private out;
  out.m256i[0] = _mm256_cvtepu16_epi32(_mm256_castsi256_si128(v));
  out.m256i[1] = _mm256_cvtepu16_epi32(_mm256_extracti128_si256(v, 1));
  return simde__m512i_from_private(out);
}

// 32 unsigned bytes -> 32 16-bit.
QUAVER_SIMDE_INLINE __m512i quaver_mm512_cvtepu8_epi16(__m256i v) {
  simde__m512i_private out;
  out.m256i[0] = _mm256_cvtepu8_epi16(_mm256_castsi256_si128(v));
  out.m256i[1] = _mm256_cvtepu8_epi16(_mm256_extracti128_si256(v, 1));
  return simde__m512i_from_private(out);
}

// f32 -> bf16, nearest even; subnormals become zero and NaN quiet, as the instruction does. `low` fills words
// 0-15.
QUAVER_SIMDE_INLINE __m512i quaver_mm512_cvtne2ps_pbh(__m512 high, __m512 low) {
  const simde__m512i_private in[2] = {simde__m512i_to_private(_mm512_castps_si512(low)),
                                      simde__m512i_to_private(_mm512_castps_si512(high))};
  simde__m512i_private out;
  for (int i = 0; i < 32; ++i) {
    uint32_t u = in[i / 16].u32[i % 16];
    const uint32_t magnitude = u & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u)
      u |= 0x400000u;
    else if (magnitude < 0x800000u)
      u &= 0x80000000u;
    else
      u += 0x7FFFu + (u >> 16 & 1);
    out.u16[i] = uint16_t(u >> 16);
  }
  return simde__m512i_from_private(out);
}

// The low byte of each of 16 32-bit integers.
QUAVER_SIMDE_INLINE __m128i quaver_mm512_cvtepi32_epi8(__m512i v) {
  const simde__m512i_private in = simde__m512i_to_private(v);
  simde__m128i_private out;
  for (int i = 0; i < 16; ++i)
    out.u8[i] = uint8_t(in.u32[i]);
  return simde__m128i_from_private(out);
}

// base[index] of the lanes in `mask`, the others from `rest`.
QUAVER_SIMDE_INLINE __m512 quaver_mm512_mask_i32gather_ps(__m512 rest, __mmask16 mask, __m512i index,
                                                          const float *base) {
  const simde__m512i_private at = simde__m512i_to_private(index);
  simde__m512_private out = simde__m512_to_private(rest);
  for (int i = 0; i < 16; ++i)
    if (mask >> i & 1)
      out.f32[i] = base[at.i32[i]];
  return simde__m512_from_private(out);
}

#undef _mm512_mask_i32gather_ps
#define _mm512_mask_i32gather_ps(rest, mask, index, base, scale)                                             \
  quaver_mm512_mask_i32gather_ps(rest, mask, index, base) // scale: 4, all that kernels use
#define _mm512_cvtepi32_epi8 quaver_mm512_cvtepi32_epi8
#define _mm512_cvtph_ps quaver_mm512_cvtph_ps
#define _mm512_cvtepu16_epi32 quaver_mm512_cvtepu16_epi32
#define _mm512_cvtepu8_epi16 quaver_mm512_cvtepu8_epi16
#define _mm512_cvtne2ps_pbh quaver_mm512_cvtne2ps_pbh
