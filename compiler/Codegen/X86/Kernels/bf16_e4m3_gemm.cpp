// C[m, n] = epilogue(bf16(A[m, k]) * (B[k, n] * scale of B's 128x128 block)): weights in E4M3, activations in
// bf16
// ("fp8-weights"). For each K block of 128: sum += dot(a, b) * b_scale; E4M3 is exact in bf16, so dot's
// products are exact. Bound: the bf16 (avx512_bf16) or f32 multiply-add peak for m > 4, else the bandwidth of
// B, 1 byte a weight.
#include "compiler/Codegen/X86/Kernels/gemv.h"

namespace quaver::x86::QUAVER_SET_NAMESPACE {
#ifdef QUAVER_SET_AVX512_BF16
using Bf16E4m3Gemm = GemmKind<Dot, E4m3PairPanel, true, Scaling::Weights>;
#else
using Bf16E4m3Gemm = GemmKind<Fma, E4m3Panel, true, Scaling::Weights>;
#endif
} // namespace quaver::x86::QUAVER_SET_NAMESPACE

QUAVER_KERNEL(bf16_e4m3_gemm)(QUAVER_GEMM_PARAMETERS) {
  using namespace quaver::x86::QUAVER_SET_NAMESPACE;
  gemm<Bf16E4m3Gemm>(a, a_type, a_row_stride, a_column_stride, a_scales, a_scale_row_stride, a_scale_k_stride,
                     b, b_scales, b_scale_n_stride, b_scale_k_stride, m, n, k, begin, end, scratch, bindings,
                     constants, epilogue);
}
