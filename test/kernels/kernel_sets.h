// The natively compiled feature sets as tables of kernels, and the epilogue that tests give them.
#pragma once

#include "compiler/Codegen/X86/Kernels/geometry.h"

#include <cstdint>
#include <string>
#include <vector>

namespace quaver::x86::test {

using Epilogue = void (*)(const float *sums, int64_t batch, int64_t row, int64_t column, int64_t n,
                          void *const *bindings, const int64_t *constants);
using BatchOffset = int64_t (*)(int64_t operand, int64_t batch, const int64_t *constants);
using Gemm = void (*)(const void *a, int64_t a_type, int64_t a_row_stride, int64_t a_column_stride,
                      const float *a_scales, int64_t a_scale_row_stride, int64_t a_scale_k_stride,
                      const void *b, const float *b_scales, int64_t b_scale_n_stride,
                      int64_t b_scale_k_stride, int64_t m, int64_t n, int64_t k, int64_t begin, int64_t end,
                      void *scratch, void *const *bindings, const int64_t *constants, Epilogue epilogue);
using BatchedMatmul = void (*)(const void *a, int64_t a_type, int64_t a_row_stride, int64_t a_column_stride,
                               const void *b, int64_t b_type, int64_t b_row_stride, int64_t b_column_stride,
                               int64_t m, int64_t n, int64_t k, int64_t begin, int64_t end, void *scratch,
                               void *const *bindings, const int64_t *constants, Epilogue epilogue,
                               BatchOffset batch_offset);
using Conv = void (*)(const void *x, int64_t x_type, const void *filter, int64_t filter_type, int64_t groups,
                      int64_t channels, int64_t height, int64_t width, int64_t kernel_height,
                      int64_t kernel_width, int64_t stride_y, int64_t stride_x, int64_t pad_y, int64_t pad_x,
                      int64_t dilation_y, int64_t dilation_x, int64_t out_height, int64_t out_width,
                      int64_t m, int64_t begin, int64_t end, void *scratch, void *const *bindings,
                      const int64_t *constants, Epilogue epilogue);
using Quantize = void (*)(const void *x, int64_t x_type, int64_t x_row_stride, uint8_t *codes,
                          int64_t code_row_stride, float *scales, int64_t scale_row_stride,
                          int64_t scale_k_stride, int64_t power_of_two, int64_t k, int64_t begin,
                          int64_t end);

struct KernelSet {
  std::string name; // "avx2", "simde_avx512_bf16", ...
  FeatureSet features;
  Gemm f32Gemm, f16Gemm, bf16Gemm, f32E4m3Gemm, bf16E4m3Gemm, e4m3E4m3Gemm, mx32Gemm;
  BatchedMatmul batchedMatmulF32, batchedMatmulBf16;
  Conv convF32;
  Quantize quantize1x128;
};

// The sets that this machine can run; those over SIMDe always.
std::vector<KernelSet> runnableSets();

// Reads constants: {elements between matrices of A, of B, matrices of A for each of
// B}.
int64_t batchOffset(int64_t operand, int64_t batch, const int64_t *constants);

// Stores to bindings[0], a Result. Each element must be stored exactly once.
void storeResult(const float *sums, int64_t batch, int64_t row, int64_t column, int64_t n,
                 void *const *bindings, const int64_t *constants);
struct Result {
  int64_t rows, columns, batches;
  std::vector<float> values;
  std::vector<int> writes;
  Result(int64_t rows, int64_t columns, int64_t batches = 1)
      : rows(rows), columns(columns), batches(batches), values(rows * columns * batches),
        writes(values.size()) {}
  bool isWrittenOnce() const {
    for (const int w : writes)
      if (w != 1)
        return false;
    return true;
  }
};

} // namespace quaver::x86::test
