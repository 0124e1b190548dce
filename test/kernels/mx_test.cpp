// OCP MX products against plain sums in double; codes are small integers and scales powers of two near one,
// so that sums are exact.
#include "compiler/Codegen/X86/Kernels/kernel_types.h"
#include "compiler/Codegen/X86/Kernels/pack.h"
#include "runtime/numerics/codec.h"
#include "test/kernels/kernel_sets.h"

#include <cmath>
#include <gtest/gtest.h>

namespace quaver::x86::test {
namespace {

using enum ElementType;

struct Case {
  int64_t m, n, k;
};
const Case kCases[] = {{1, 1, 1},  {1, 40, 31},  {2, 33, 64},   {3, 70, 33},    {4, 65, 256},
                       {5, 31, 3}, {6, 96, 130}, {13, 48, 515}, {97, 130, 257}, {110, 34, 700}};

int code(int64_t i, int64_t j, int salt) { return int((i * 31 + j * 17 + i * j % 7 + salt) % 9) - 4; }
uint8_t exponent(int64_t i, int64_t j) { return uint8_t(127 + (i * 5 + j * 3) % 7 - 3); }
double power(uint8_t e) { return std::ldexp(1.0, int(e) - 127); }

class EverySetMx : public testing::TestWithParam<KernelSet> {};
INSTANTIATE_TEST_SUITE_P(Kernels, EverySetMx, testing::ValuesIn(runnableSets()),
                         [](const auto &info) { return info.param.name; });

void check(const KernelSet &set, const Case &c, bool isAScaled, bool isScaleTransposed) {
  const int64_t blocks = ceilDiv(c.k, 32);
  const ElementType aType = isAScaled ? F8E4M3FN : F32;
  std::vector<uint8_t> a(c.m * c.k * bytes_of(aType)), b(c.k * c.n), aScales(c.m * blocks),
      bScales(blocks * c.n);
  for (int64_t i = 0; i < c.m; ++i)
    for (int64_t k = 0; k < c.k; ++k) {
      const float value = float(code(i, k, 1));
      convert(F32, &value, aType, a.data() + (i * c.k + k) * bytes_of(aType), 1);
      aScales[i * blocks + k / 32] = exponent(i, k / 32);
    }
  for (int64_t k = 0; k < c.k; ++k)
    for (int64_t j = 0; j < c.n; ++j) {
      const float value = float(code(k, j, 5));
      convert(F32, &value, F8E4M3FN, b.data() + k * c.n + j, 1);
      bScales[isScaleTransposed ? j * blocks + k / 32 : k / 32 * c.n + j] = exponent(k / 32, j);
    }
  const PackedLayout layout = packedLayout(set.features, F8E4M3FN, true);
  std::vector<uint8_t> packed(packedBytes(layout, c.k, c.n));
  pack(layout, {c.k, c.n, c.n, 1}, b.data(), packed.data());
  const Geometry g = geometry(set.features);
  Result result(c.m, c.n);
  void *bindings[] = {&result};
  std::vector<float> scratch(scratchBytes(g, c.k) / 4, std::nanf(""));
  const int64_t count = ceilDiv(c.m, g.blockRows) * ceilDiv(c.n, g.groupColumns);
  for (const auto &[begin, end] : {std::pair{int64_t{0}, count / 2}, {count / 2, count}})
    set.mx32Gemm(a.data(), int64_t(aType), c.k, 1,
                 isAScaled ? reinterpret_cast<const float *>(aScales.data()) : nullptr, blocks, 1,
                 packed.data(), reinterpret_cast<const float *>(bScales.data()),
                 isScaleTransposed ? blocks : 1, isScaleTransposed ? 1 : c.n, c.m, c.n, c.k, begin, end,
                 scratch.data(), bindings, nullptr, storeResult);
  ASSERT_TRUE(result.isWrittenOnce());
  for (int64_t i = 0; i < c.m; ++i)
    for (int64_t j = 0; j < c.n; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < c.k; ++k)
        sum += code(i, k, 1) * (isAScaled ? power(exponent(i, k / 32)) : 1) * code(k, j, 5) *
               power(exponent(k / 32, j));
      ASSERT_EQ(double(result.values[i * c.n + j]), sum)
          << c.m << "x" << c.n << "x" << c.k << " at " << i << "," << j;
    }
}

TEST_P(EverySetMx, ExactIntegers) {
  for (const Case &c : kCases)
    for (const bool isAScaled : {true, false})
      for (const bool isScaleTransposed : {true, false})
        check(GetParam(), c, isAScaled, isScaleTransposed);
}

// The smallest scale is subnormal in f32, the code 255 is NaN.
TEST_P(EverySetMx, EveryScale) {
  const Geometry g = geometry(GetParam().features);
  const PackedLayout layout = packedLayout(GetParam().features, F8E4M3FN, true);
  for (const int64_t m : {1, 6}) {
    const int64_t n = 256, k = 1;
    const std::vector<float> a(m, 1.0f);
    std::vector<uint8_t> b(n, 0x38), bScales(n), packed(packedBytes(layout, k, n)); // ones
    for (int64_t j = 0; j < n; ++j)
      bScales[j] = uint8_t(j);
    pack(layout, {k, n, n, 1}, b.data(), packed.data());
    Result result(m, n);
    void *bindings[] = {&result};
    std::vector<float> scratch(scratchBytes(g, k) / 4, 0.0f);
    GetParam().mx32Gemm(a.data(), int64_t(F32), k, 1, nullptr, 0, 0, packed.data(),
                        reinterpret_cast<const float *>(bScales.data()), 1, n, m, n, k, 0,
                        ceilDiv(n, g.groupColumns), scratch.data(), bindings, nullptr, storeResult);
    for (int64_t j = 0; j < 255; ++j)
      EXPECT_EQ(double(result.values[j]), power(uint8_t(j))) << j;
    EXPECT_TRUE(std::isnan(result.values[255]));
  }
}

} // namespace
} // namespace quaver::x86::test
