// quantize_1x128 must equal runtime/numerics/scale_recipe bit for bit, on any data.
#include "runtime/numerics/scale_recipe.h"
#include "test/kernels/kernel_sets.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

namespace quaver::x86::test {
namespace {

using enum ElementType;

class EverySetQuantize : public testing::TestWithParam<KernelSet> {
protected:
  void compare(ElementType type, const void *x, int64_t rows, int64_t k, int64_t rowStride,
               bool powerOfTwo) const {
    ScaleSpec spec = default_spec(ScaleRecipe::Row1x128);
    spec.rounding = powerOfTwo ? ScaleRounding::PowerOfTwo : ScaleRounding::None;
    const int64_t blocks = ceilDiv(k, 128), codeStride = k + 5;
    std::vector<uint8_t> expectedCodes(rows * codeStride, 0xEE), codes(rows * codeStride, 0xEE);
    std::vector<float> expected(rows * blocks), scales(rows * blocks);
    quantize(spec, type, x, {rows, k, rowStride}, expectedCodes.data(), codeStride, expected.data());
    const int64_t count = rows * ceilDiv(k, kQuantizeColumns);
    for (const auto &[begin, end] : {std::pair{int64_t{0}, count / 3}, {count / 3, count}})
      GetParam().quantize1x128(x, int64_t(type), rowStride, codes.data(), codeStride, scales.data(), blocks,
                               1, powerOfTwo, k, begin, end);
    ASSERT_EQ(std::memcmp(scales.data(), expected.data(), 4 * scales.size()), 0);
    for (size_t i = 0; i < codes.size(); ++i)
      ASSERT_EQ(codes[i], expectedCodes[i]) << "row " << i / codeStride << " column " << i % codeStride;
  }
};
INSTANTIATE_TEST_SUITE_P(Kernels, EverySetQuantize, testing::ValuesIn(runnableSets()),
                         [](const auto &info) { return info.param.name; });

TEST_P(EverySetQuantize, EveryHalfUnderEveryNeighbour) {
  // All 2^16 codes, ordered and shuffled: blocks with Inf, NaN, subnormals and every ratio to amax.
  std::vector<uint16_t> x(1 << 16);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = uint16_t(i);
  std::mt19937 random(3);
  for (int round = 0; round < 3; ++round) {
    for (const ElementType type : {BF16, F16})
      for (const bool powerOfTwo : {false, true})
        compare(type, x.data(), 64, 1024, 1024, powerOfTwo);
    std::shuffle(x.begin(), x.end(), random);
  }
}

TEST_P(EverySetQuantize, RandomFloats) {
  std::mt19937 random(5);
  std::vector<float> x(33 * 3000);
  for (float &v : x) { // within 2^-16..2^16 of the row's scale: ties and subnormals of E4M3
    const uint32_t bits = uint32_t(random());
    v = std::ldexp(std::bit_cast<float>((bits & 0x807FFFFF) | 0x3F800000), int(bits >> 24 & 31) - 16);
  }
  for (const int64_t k : {1, 127, 128, 129, 1000, 1024, 2900})
    for (const bool powerOfTwo : {false, true})
      compare(F32, x.data(), 33, k, 3000, powerOfTwo);
}

TEST_P(EverySetQuantize, Ties) {
  // Scale 1 exactly: amax 448. Every tie of E4M3 and its neighbours.
  std::vector<float> x;
  for (int code = 0; code < 0x7E; ++code) {
    const float low = decode_e4m3(uint8_t(code)), tie = (low + decode_e4m3(uint8_t(code + 1))) / 2;
    for (const float v : {low, tie, std::nextafterf(tie, 0), std::nextafterf(tie, 1e9f)})
      for (const float s : {v, -v})
        x.push_back(s);
  }
  while (x.size() % 127)
    x.push_back(0);
  std::vector<float> rows;
  for (size_t i = 0; i < x.size(); ++i) {
    if (i % 127 == 0)
      rows.push_back(448);
    rows.push_back(x[i]);
  }
  compare(F32, rows.data(), int64_t(rows.size() / 128), 128, 128, false);
}

} // namespace
} // namespace quaver::x86::test
