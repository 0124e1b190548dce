// C[m, n] = epilogue(A[m, k] * B[k, n]) of OCP MX operands: E4M3 codes with one E8M0 scale for 32 neighbours
// in K (A may also be f32, bf16 or f16 without scales). Codes times scales are exact in f32; products are
// summed in f32 as f32_gemm does. Bound: f32 FMA peak for m > 4, else the bandwidth of B, 1 byte a weight.
#include "compiler/Codegen/X86/Kernels/gemv.h"

namespace quaver::x86::QUAVER_SET_NAMESPACE {
using Mx32Gemm = GemmKind<Fma, E4m3Panel, false, Scaling::Mx>;
}

QUAVER_KERNEL(mx32_gemm)(QUAVER_GEMM_PARAMETERS) {
  using namespace quaver::x86::QUAVER_SET_NAMESPACE;
  gemm<Mx32Gemm>(a, a_type, a_row_stride, a_column_stride, a_scales, a_scale_row_stride, a_scale_k_stride, b,
                 b_scales, b_scale_n_stride, b_scale_k_stride, m, n, k, begin, end, scratch, bindings,
                 constants, epilogue);
}
