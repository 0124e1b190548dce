// Batched products with any strides against plain sums; small integers, so results must be equal to the bit.
#include "compiler/Codegen/X86/Kernels/kernel_types.h"
#include "runtime/numerics/codec.h"
#include "test/kernels/kernel_sets.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

namespace quaver::x86::test {
namespace {

using enum ElementType;

struct Case {
  int64_t batches, m, n, k, group;
};
const Case kCases[] = {{1, 1, 1, 1, 1},      {2, 1, 70, 33, 1},  {3, 5, 31, 64, 1},    {6, 7, 128, 32, 3},
                       {2, 13, 17, 129, 2},  {1, 97, 65, 66, 1}, {1, 30, 520, 300, 1}, {4, 128, 128, 32, 1},
                       {1, 110, 34, 700, 1}, {2, 3, 9, 0, 1}};

enum class Order { RowMajor, Transposed, Strided };

// Bytes of `batches` matrices and the strides to read them by.
struct Operand {
  std::vector<uint8_t> bytes;
  int64_t rowStride, columnStride, batchStride;
};

int integer(int64_t batch, int64_t i, int64_t j, int salt) {
  return int((batch * 5 + i * 31 + j * 17 + i * j % 7 + salt) % 9) - 4;
}

Operand makeOperand(ElementType type, int64_t batches, int64_t rows, int64_t columns, Order order, int salt) {
  Operand o;
  switch (order) {
  case Order::RowMajor:
    o.rowStride = columns + 1, o.columnStride = 1;
    break;
  case Order::Transposed:
    o.rowStride = 1, o.columnStride = rows + 2;
    break;
  case Order::Strided:
    o.rowStride = 3, o.columnStride = 3 * rows + 1;
    break;
  }
  o.batchStride = rows * o.rowStride + columns * o.columnStride + 1;
  o.bytes.assign((batches * o.batchStride + 1) * bytes_of(type), 0x77);
  for (int64_t b = 0; b < batches; ++b)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        const float value = float(integer(b, i, j, salt));
        const int64_t at = b * o.batchStride + i * o.rowStride + j * o.columnStride;
        convert(F32, &value, type, o.bytes.data() + at * bytes_of(type), 1);
      }
  o.bytes.resize((batches * o.batchStride) * bytes_of(type)); // so that a sanitizer sees reads beyond the end
  o.bytes.shrink_to_fit();
  return o;
}

struct Kind {
  const char *name;
  BatchedMatmul KernelSet::*kernel;
};
const Kind kKinds[] = {{"batched_matmul_f32", &KernelSet::batchedMatmulF32},
                       {"batched_matmul_bf16", &KernelSet::batchedMatmulBf16}};

class EverySetBatched : public testing::TestWithParam<std::tuple<KernelSet, Kind>> {};
INSTANTIATE_TEST_SUITE_P(Kernels, EverySetBatched,
                         testing::Combine(testing::ValuesIn(runnableSets()), testing::ValuesIn(kKinds)),
                         [](const auto &info) {
                           return std::get<0>(info.param).name + "_" + std::get<1>(info.param).name;
                         });

TEST_P(EverySetBatched, ExactIntegers) {
  const KernelSet &set = std::get<0>(GetParam());
  const auto kernel = set.*std::get<1>(GetParam()).kernel;
  const Geometry g = geometry(set.features);
  for (const Case c : kCases)
    for (const ElementType type : {F32, BF16, F16})
      for (const Order aOrder : {Order::RowMajor, Order::Transposed})
        for (const Order bOrder : {Order::RowMajor, Order::Transposed, Order::Strided}) {
          const Operand a = makeOperand(type, c.batches, c.m, c.k, aOrder, 1);
          const Operand b = makeOperand(type, ceilDiv(c.batches, c.group), c.k, c.n, bOrder, 2);
          Result result(c.m, c.n, c.batches);
          void *bindings[] = {&result};
          const int64_t constants[] = {a.batchStride, b.batchStride, c.group};
          std::vector<float> scratch(batchedScratchBytes(g) / 4, std::nanf(""));
          const int64_t count = c.batches * ceilDiv(c.m, g.blockRows) * ceilDiv(c.n, g.mergedColumns);
          for (const auto &[begin, end] : {std::pair{int64_t{0}, count / 2}, {count / 2, count}})
            kernel(a.bytes.data(), int64_t(type), a.rowStride, a.columnStride, b.bytes.data(), int64_t(type),
                   b.rowStride, b.columnStride, c.m, c.n, c.k, begin, end, scratch.data(), bindings,
                   constants, storeResult, batchOffset);
          ASSERT_TRUE(result.isWrittenOnce());
          for (int64_t batch = 0; batch < c.batches; ++batch)
            for (int64_t i = 0; i < c.m; ++i)
              for (int64_t j = 0; j < c.n; ++j) {
                int64_t sum = 0;
                for (int64_t k = 0; k < c.k; ++k)
                  sum += integer(batch, i, k, 1) * integer(batch / c.group, k, j, 2);
                ASSERT_EQ(result.values[(batch * c.m + i) * c.n + j], float(sum))
                    << c.m << "x" << c.n << "x" << c.k << " batch " << batch << " at " << i << "," << j << " "
                    << mlir_name(type) << " orders " << int(aOrder) << int(bOrder);
              }
        }
}

} // namespace
} // namespace quaver::x86::test
