// C[m, n] = epilogue(A[m, k] * B[k, n]) in f32, B in f16, A f16, bf16 or f32, all widened exactly: what a
// file in f16 computes. Bound: f32 FMA peak for m > 4, else the bandwidth of B (2 bytes for 2 flop a row).
#include "compiler/Codegen/X86/Kernels/gemv.h"

namespace quaver::x86::QUAVER_SET_NAMESPACE {
using F16Gemm = GemmKind<Fma, F16Panel, false, Scaling::None>;
}

QUAVER_KERNEL(f16_gemm)(QUAVER_GEMM_PARAMETERS) {
  using namespace quaver::x86::QUAVER_SET_NAMESPACE;
  gemm<F16Gemm>(a, a_type, a_row_stride, a_column_stride, a_scales, a_scale_row_stride, a_scale_k_stride, b,
                b_scales, b_scale_n_stride, b_scale_k_stride, m, n, k, begin, end, scratch, bindings,
                constants, epilogue);
}
