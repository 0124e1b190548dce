// C[m, n] = epilogue(A[m, k] * (B[k, n] * scale of B's 128x128 block)) in f32: weights in E4M3, activations
// that nobody quantized or rounded. For each K block of 128: sum += dot(a, b) * b_scale. Bound: f32 FMA peak
// for m > 4, else the bandwidth of B, 1 byte a weight.
#include "compiler/Codegen/X86/Kernels/gemv.h"

namespace quaver::x86::QUAVER_SET_NAMESPACE {
using F32E4m3Gemm = GemmKind<Fma, E4m3Panel, false, Scaling::Weights>;
}

QUAVER_KERNEL(f32_e4m3_gemm)(QUAVER_GEMM_PARAMETERS) {
  using namespace quaver::x86::QUAVER_SET_NAMESPACE;
  gemm<F32E4m3Gemm>(a, a_type, a_row_stride, a_column_stride, a_scales, a_scale_row_stride, a_scale_k_stride,
                    b, b_scales, b_scale_n_stride, b_scale_k_stride, m, n, k, begin, end, scratch, bindings,
                    constants, epilogue);
}
