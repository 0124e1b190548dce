// C[m, n] = epilogue(bf16(A[m, k]) * B[k, n]): B in bf16, A rounded to bf16 where it is wider, sums in f32.
// avx512_bf16: vdpbf16ps on pairs of k, twice the flops of f32. avx2, avx512: both widened to f32; products
// are exact either way and only the order of additions differs (and vdpbf16ps takes bf16 subnormals for
// zeros).
#include "compiler/Codegen/X86/Kernels/gemv.h"

namespace quaver::x86::QUAVER_SET_NAMESPACE {
#ifdef QUAVER_SET_AVX512_BF16
using Bf16Gemm = GemmKind<Dot, WordPanel, true, Scaling::None>;
#else
using Bf16Gemm = GemmKind<Fma, Bf16Panel, true, Scaling::None>;
#endif
} // namespace quaver::x86::QUAVER_SET_NAMESPACE

QUAVER_KERNEL(bf16_gemm)(QUAVER_GEMM_PARAMETERS) {
  using namespace quaver::x86::QUAVER_SET_NAMESPACE;
  gemm<Bf16Gemm>(a, a_type, a_row_stride, a_column_stride, a_scales, a_scale_row_stride, a_scale_k_stride, b,
                 b_scales, b_scale_n_stride, b_scale_k_stride, m, n, k, begin, end, scratch, bindings,
                 constants, epilogue);
}
