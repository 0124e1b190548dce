// Convolutions against plain sums; small integers, so results must be equal to the bit.
#include "compiler/Codegen/X86/Kernels/kernel_types.h"
#include "runtime/numerics/codec.h"
#include "test/kernels/kernel_sets.h"

#include <cmath>
#include <gtest/gtest.h>

namespace quaver::x86::test {
namespace {

using enum ElementType;

struct Case {
  int64_t images, groups, channels, height, width, m;
  int64_t kernelHeight, kernelWidth, strideY, strideX, padY, padX, dilationY, dilationX, outHeight, outWidth;
};
const Case kCases[] = {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1},
                       {2, 1, 3, 9, 40, 7, 3, 3, 1, 1, 1, 1, 1, 1, 9, 40},
                       {1, 2, 5, 8, 70, 13, 3, 3, 1, 1, 0, 0, 1, 1, 6, 68},
                       {2, 3, 2, 11, 13, 4, 3, 5, 2, 3, 1, 2, 1, 1, 6, 5},
                       {1, 1, 40, 7, 7, 100, 3, 3, 1, 1, 1, 1, 1, 1, 7, 7},
                       {1, 1, 4, 12, 12, 5, 3, 3, 1, 1, 2, 2, 2, 2, 12, 12},
                       {1, 1, 300, 1, 90, 20, 1, 1, 1, 1, 0, 0, 1, 1, 1, 90},
                       {1, 1, 3, 30, 30, 64, 7, 7, 2, 2, 3, 3, 1, 1, 15, 15},
                       {1, 1, 2, 3, 3, 3, 5, 5, 1, 1, 2, 2, 1, 1, 3, 3},
                       {1, 1, 2, 4, 600, 3, 1, 3, 1, 1, 0, 1, 1, 1, 4, 600}};

int integer(int64_t i, int salt) { return int((i * 7 + i / 11 + salt) % 9) - 4; }

std::vector<uint8_t> numbers(ElementType type, int64_t count, int salt) {
  std::vector<uint8_t> bytes(count * bytes_of(type));
  for (int64_t i = 0; i < count; ++i) {
    const float value = float(integer(i, salt));
    convert(F32, &value, type, bytes.data() + i * bytes_of(type), 1);
  }
  bytes.shrink_to_fit(); // so that a sanitizer sees reads beyond the end
  return bytes;
}

int64_t plainSum(const Case &c, int64_t batch, int64_t row, int64_t y, int64_t x) {
  int64_t sum = 0;
  for (int64_t channel = 0; channel < c.channels; ++channel)
    for (int64_t ky = 0; ky < c.kernelHeight; ++ky)
      for (int64_t kx = 0; kx < c.kernelWidth; ++kx) {
        const int64_t iy = y * c.strideY - c.padY + ky * c.dilationY,
                      ix = x * c.strideX - c.padX + kx * c.dilationX;
        if (iy < 0 || iy >= c.height || ix < 0 || ix >= c.width)
          continue;
        const int64_t filter = (batch % c.groups * c.m + row) * c.channels + channel;
        sum += integer((filter * c.kernelHeight + ky) * c.kernelWidth + kx, 2) *
               integer(((batch * c.channels + channel) * c.height + iy) * c.width + ix, 1);
      }
  return sum;
}

class EverySetConv : public testing::TestWithParam<KernelSet> {};
INSTANTIATE_TEST_SUITE_P(Kernels, EverySetConv, testing::ValuesIn(runnableSets()),
                         [](const auto &info) { return info.param.name; });

TEST_P(EverySetConv, ExactIntegers) {
  const Geometry g = geometry(GetParam().features);
  for (const Case &c : kCases)
    for (const ElementType type : {F32, BF16, F16}) {
      const int64_t batches = c.images * c.groups, positions = c.outHeight * c.outWidth;
      const auto x = numbers(type, batches * c.channels * c.height * c.width, 1);
      const auto filter = numbers(type, c.groups * c.m * c.channels * c.kernelHeight * c.kernelWidth, 2);
      Result result(c.m, positions, batches);
      void *bindings[] = {&result};
      std::vector<float> scratch(batchedScratchBytes(g) / 4, std::nanf(""));
      const int64_t count = batches * ceilDiv(c.m, g.blockRows) * ceilDiv(positions, g.mergedColumns);
      for (const auto &[begin, end] : {std::pair{int64_t{0}, count / 2}, {count / 2, count}})
        GetParam().convF32(x.data(), int64_t(type), filter.data(), int64_t(type), c.groups, c.channels,
                           c.height, c.width, c.kernelHeight, c.kernelWidth, c.strideY, c.strideX, c.padY,
                           c.padX, c.dilationY, c.dilationX, c.outHeight, c.outWidth, c.m, begin, end,
                           scratch.data(), bindings, nullptr, storeResult);
      ASSERT_TRUE(result.isWrittenOnce());
      for (int64_t batch = 0; batch < batches; ++batch)
        for (int64_t row = 0; row < c.m; ++row)
          for (int64_t i = 0; i < positions; ++i)
            ASSERT_EQ(result.values[(batch * c.m + row) * positions + i],
                      float(plainSum(c, batch, row, i / c.outWidth, i % c.outWidth)))
                << "case " << &c - kCases << " batch " << batch << " filter " << row << " at " << i << " "
                << mlir_name(type);
    }
}

} // namespace
} // namespace quaver::x86::test
