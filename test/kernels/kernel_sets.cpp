#include "test/kernels/kernel_sets.h"

#include <cassert>
#include <type_traits>

#define DECLARE(set)                                                                                         \
  Kernels<Gemm>::Function set##_f32_gemm, set##_f16_gemm, set##_bf16_gemm, set##_f32_e4m3_gemm,              \
      set##_bf16_e4m3_gemm, set##_e4m3_e4m3_gemm, set##_mx32_gemm, set##_mx32_gemm;                          \
  Kernels<BatchedMatmul>::Function set##_batched_matmul_f32, set##_batched_matmul_bf16;                      \
  Kernels<Conv>::Function set##_conv_f32;                                                                    \
  Kernels<Quantize>::Function set##_quantize_1x128;

using namespace quaver::x86::test;
template <class Pointer> struct Kernels {
  using Function = std::remove_pointer_t<Pointer>;
};

extern "C" {
DECLARE(avx2)
DECLARE(avx512)
DECLARE(avx512_bf16)
DECLARE(simde_avx512)
DECLARE(simde_avx512_bf16)
}

namespace quaver::x86::test {

void storeResult(const float *sums, int64_t batch, int64_t row, int64_t column, int64_t n,
                 void *const *bindings, const int64_t *) {
  auto &result = *static_cast<Result *>(bindings[0]);
  assert(row >= 0 && row < result.rows && column >= 0 && n > 0 && column + n <= result.columns);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = (batch * result.rows + row) * result.columns + column + i;
    result.values[at] = sums[i];
    ++result.writes[at];
  }
}

int64_t batchOffset(int64_t operand, int64_t batch, const int64_t *constants) {
  return operand == 0 ? batch * constants[0] : batch / constants[2] * constants[1];
}

#define SET(set, features)                                                                                   \
  KernelSet {                                                                                                \
    #set, features, set##_f32_gemm, set##_f16_gemm, set##_bf16_gemm, set##_f32_e4m3_gemm,                    \
        set##_bf16_e4m3_gemm, set##_e4m3_e4m3_gemm, set##_mx32_gemm, set##_batched_matmul_f32,               \
        set##_batched_matmul_bf16, set##_conv_f32, set##_quantize_1x128                                      \
  }

std::vector<KernelSet> runnableSets() {
  std::vector<KernelSet> sets;
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("x86-64-v3"), v4 = __builtin_cpu_supports("x86-64-v4");
  if (v3)
    sets.push_back(SET(avx2, FeatureSet::Avx2));
  if (v4)
    sets.push_back(SET(avx512, FeatureSet::Avx512));
  if (v4 && __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vbmi") &&
      __builtin_cpu_supports("avx512vnni"))
    sets.push_back(SET(avx512_bf16, FeatureSet::Avx512Bf16));
  if (v3) {
    sets.push_back(SET(simde_avx512, FeatureSet::Avx512));
    sets.push_back(SET(simde_avx512_bf16, FeatureSet::Avx512Bf16));
  }
  return sets;
}

} // namespace quaver::x86::test
