// Our stand-ins for AVX-512 instructions that SIMDe lacks, against plain arithmetic.
#include "compiler/Codegen/X86/Kernels/simde_missing.h"

#include "runtime/numerics/codec.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

namespace quaver {
namespace {

TEST(SimdeMissing, WidenIntegers) {
  uint16_t words[16];
  uint8_t bytes[32];
  for (int i = 0; i < 32; ++i)
    bytes[i] = uint8_t(i * 37 + 200);
  for (int i = 0; i < 16; ++i)
    words[i] = uint16_t(i * 5003 + 60000);
  uint32_t wide[16];
  uint16_t half[32];
  const __m512i w = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(words)));
  const __m512i h = _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(bytes)));
  std::memcpy(wide, &w, 64);
  std::memcpy(half, &h, 64);
  for (int i = 0; i < 16; ++i)
    EXPECT_EQ(wide[i], words[i]);
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(half[i], bytes[i]);
}

TEST(SimdeMissing, LowBytes) {
  uint32_t wide[16];
  for (int i = 0; i < 16; ++i)
    wide[i] = uint32_t(i) * 0x01234567u + 250u;
  __m512i v;
  std::memcpy(&v, wide, 64);
  const __m128i b = _mm512_cvtepi32_epi8(v);
  uint8_t bytes[16];
  std::memcpy(bytes, &b, 16);
  for (int i = 0; i < 16; ++i)
    EXPECT_EQ(bytes[i], uint8_t(wide[i]));
}

TEST(SimdeMissing, EveryHalfToFloat) {
  for (uint32_t base = 0; base < 1 << 16; base += 16) {
    uint16_t in[16];
    for (int i = 0; i < 16; ++i)
      in[i] = uint16_t(base + i);
    const __m512 v = _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(in)));
    float out[16];
    std::memcpy(out, &v, 64);
    for (int i = 0; i < 16; ++i) {
      const float expected = decode_f16(in[i]);
      ASSERT_TRUE(out[i] == expected || (std::isnan(out[i]) && std::isnan(expected))) << in[i];
    }
  }
}

TEST(SimdeMissing, FloatsToBf16) {
  for (uint32_t base = 0; base < 1u << 20; ++base) {
    float in[32];
    for (int i = 0; i < 32; ++i)
      in[i] = std::bit_cast<float>((base * 32 + uint32_t(i)) * 127u + 11u);
    __m512 low, high;
    std::memcpy(&low, in, 64);
    std::memcpy(&high, in + 16, 64);
    const __m512i v = _mm512_cvtne2ps_pbh(high, low);
    uint16_t out[32];
    std::memcpy(out, &v, 64);
    for (int i = 0; i < 32; ++i) {
      const float x = std::fabs(in[i]) < 0x1p-126f ? std::copysign(0.0f, in[i]) : in[i];
      if (std::isnan(x)) {
        ASSERT_TRUE(is_nan_code(ElementType::BF16, out[i]));
      } else {
        ASSERT_EQ(out[i], encode_bf16(x)) << std::hexfloat << in[i];
      }
    }
  }
}

} // namespace
} // namespace quaver
