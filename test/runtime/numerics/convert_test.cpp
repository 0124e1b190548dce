// Span conversions: all pairs of types against one element at a time.
#include "test/runtime/numerics/reference.h"

#include <cstring>
#include <gtest/gtest.h>

namespace quaver {
namespace {

using enum ElementType;

template <class T, class U>
std::vector<U> converted(ElementType from, std::vector<T> in, ElementType to, CastPolicy policy = kSaturate) {
  EXPECT_EQ(sizeof(T), size_t(bytes_of(from)));
  EXPECT_EQ(sizeof(U), size_t(bytes_of(to)));
  std::vector<U> out(in.size());
  convert(from, in.data(), to, out.data(), in.size(), policy);
  return out;
}

std::vector<ElementType> small_floats() {
  return {F16, BF16, F8E4M3FN, F8E5M2, F8E4M3FNUZ, F8E5M2FNUZ, F8E8M0FNU};
}

TEST(Convert, FloatPairsAgreeWithEncodeAndDecode) {
  for (const ElementType from : small_floats())
    for (const ElementType to : small_floats())
      for (const CastPolicy policy : {kSaturate, kPropagate}) {
        const uint32_t count = bytes_of(from) == 1 ? 256 : 65536;
        std::vector<uint8_t> in(count * bytes_of(from)), out(count * bytes_of(to));
        for (uint32_t i = 0; i < count; ++i)
          std::memcpy(&in[i * bytes_of(from)], &i, bytes_of(from));
        convert(from, in.data(), to, out.data(), count, policy);
        for (uint32_t i = 0; i < count; ++i) {
          uint32_t found = 0;
          std::memcpy(&found, &out[i * bytes_of(to)], bytes_of(to));
          const uint32_t expected = from == to ? i : encode(to, decode(from, i), policy);
          ASSERT_EQ(found, expected) << mlir_name(from) << " " << i << " to " << mlir_name(to);
        }
      }
}

TEST(Convert, FloatToBf16FastPath) {
  for (uint32_t i = 0; i < 1u << 22; ++i) {
    const float x = std::bit_cast<float>(i * 1031u + 0x7FFFu);
    uint16_t found;
    convert(F32, &x, BF16, &found, 1);
    ASSERT_EQ(found, encode_bf16(x)) << std::hexfloat << x;
  }
}

TEST(Convert, FloatToIntTruncatesAndClamps) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x = {1.9f, -1.9f, -0.5f, 127.9f, 128, -128.9f, -129, 300, inf, -inf, nan, -0.0f};
  EXPECT_EQ((converted<float, int8_t>(F32, x, I8)),
            (std::vector<int8_t>{1, -1, 0, 127, 127, -128, -128, 127, 127, -128, 0, 0}));
  EXPECT_EQ((converted<float, uint8_t>(F32, x, U8)),
            (std::vector<uint8_t>{1, 0, 0, 127, 128, 0, 0, 255, 255, 0, 0, 0}));
  EXPECT_EQ((converted<double, int64_t>(F64, {9.3e18, -9.3e18, 0x1p62, -0x1p63}, I64)),
            (std::vector<int64_t>{INT64_MAX, INT64_MIN, 1LL << 62, INT64_MIN}));
  EXPECT_EQ((converted<double, uint64_t>(F64, {1.9e19, -1, 0x1p63}, U64)),
            (std::vector<uint64_t>{UINT64_MAX, 0, 1ULL << 63}));
  EXPECT_EQ((converted<uint8_t, int32_t>(F8E4M3FN, {0x7E, 0xFE, 0x7F, 0x3F}, I32)),
            (std::vector<int32_t>{448, -448, 0, 1}));
}

TEST(Convert, IntToIntKeepsLowBits) {
  EXPECT_EQ((converted<int64_t, int8_t>(I64, {300, -300, 128, -1}, I8)),
            (std::vector<int8_t>{44, -44, -128, -1}));
  EXPECT_EQ((converted<int8_t, uint64_t>(I8, {-1, 5}, U64)), (std::vector<uint64_t>{UINT64_MAX, 5}));
  EXPECT_EQ((converted<uint8_t, int64_t>(U8, {255, 5}, I64)), (std::vector<int64_t>{255, 5}));
  EXPECT_EQ((converted<uint32_t, int32_t>(U32, {0xFFFFFFFFu}, I32)), (std::vector<int32_t>{-1}));
  EXPECT_EQ((converted<int16_t, int32_t>(I16, {-7}, I32)), (std::vector<int32_t>{-7}));
}

TEST(Convert, IntToFloatRoundsOnce) {
  const int64_t above_tie = (1LL << 55) + (1LL << 47) + 1; // double and float would both drop the last bit
  EXPECT_EQ((converted<int64_t, uint16_t>(I64, {above_tie, -above_tie}, BF16)),
            (std::vector<uint16_t>{0x5B01, 0xDB01}));
  EXPECT_EQ((converted<int64_t, float>(I64, {(1LL << 54) + (1LL << 30) + 1}, F32)),
            (std::vector<float>{0x1.000002p54f}));
  EXPECT_EQ((converted<uint64_t, float>(U64, {UINT64_MAX}, F32)), (std::vector<float>{0x1p64f}));
  EXPECT_EQ((converted<int32_t, uint8_t>(I32, {448, 1000, -1000, 17, 19}, F8E4M3FN)),
            (std::vector<uint8_t>{0x7E, 0x7E, 0xFE, 0x58, 0x5A}));
  EXPECT_EQ((converted<int32_t, uint8_t>(I32, {1000, -1000}, F8E4M3FN, kPropagate)),
            (std::vector<uint8_t>{0x7F, 0xFF}));
  EXPECT_EQ((converted<int64_t, double>(I64, {-3}, F64)), (std::vector<double>{-3}));
}

TEST(Convert, Bool) {
  EXPECT_EQ((converted<float, uint8_t>(F32, {0, -0.0f, 1e-40f, NAN, -2}, BOOL)),
            (std::vector<uint8_t>{0, 0, 1, 1, 1}));
  EXPECT_EQ((converted<int64_t, uint8_t>(I64, {0, 1LL << 40, -1}, BOOL)), (std::vector<uint8_t>{0, 1, 1}));
  EXPECT_EQ((converted<uint8_t, float>(BOOL, {0, 1, 7}, F32)), (std::vector<float>{0, 1, 1}));
  EXPECT_EQ((converted<uint8_t, uint8_t>(BOOL, {0, 1, 7}, BOOL)), (std::vector<uint8_t>{0, 1, 1}));
  EXPECT_EQ((converted<uint8_t, uint8_t>(BOOL, {0, 1}, F8E4M3FN)), (std::vector<uint8_t>{0x00, 0x38}));
}

TEST(Convert, EveryPairRunsOnLongUnalignedSpans) {
  std::vector<uint8_t> in(8 * 1000 + 1), out(8 * 1000 + 1);
  for (int from = 1; from <= kElementTypeCount; ++from)
    for (int to = 1; to <= kElementTypeCount; ++to) {
      const ElementType f = ElementType(from), t = ElementType(to);
      const std::vector<uint8_t> small(1000, 1);
      convert(U8, small.data(), f, in.data() + 1, 1000);
      convert(f, in.data() + 1, t, out.data() + 1, 1000);
      std::vector<double> back(1000);
      convert(t, out.data() + 1, F64, back.data(), 1000);
      for (const double x : back)
        ASSERT_EQ(x, 1) << mlir_name(f) << " to " << mlir_name(t);
    }
}

} // namespace
} // namespace quaver
