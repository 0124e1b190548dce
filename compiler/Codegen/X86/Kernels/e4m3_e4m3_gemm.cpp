// C[m, n] = epilogue(sum over K blocks of 128: dot(A codes, B codes) * a_scale * b_scale): A in E4M3 with
// 1x128 scales, B in E4M3 with 128x128 scales, as DeepSeek-V3. Codes are exact in bf16 and f32, so are the
// products; only the order of f32 additions is free. Bound: as bf16_e4m3_gemm.
#include "compiler/Codegen/X86/Kernels/gemv.h"

namespace quaver::x86::QUAVER_SET_NAMESPACE {
#ifdef QUAVER_SET_AVX512_BF16
using E4m3E4m3Gemm = GemmKind<Dot, E4m3PairPanel, false, Scaling::Both>;
#else
using E4m3E4m3Gemm = GemmKind<Fma, E4m3Panel, false, Scaling::Both>;
#endif
} // namespace quaver::x86::QUAVER_SET_NAMESPACE

QUAVER_KERNEL(e4m3_e4m3_gemm)(QUAVER_GEMM_PARAMETERS) {
  using namespace quaver::x86::QUAVER_SET_NAMESPACE;
  gemm<E4m3E4m3Gemm>(a, a_type, a_row_stride, a_column_stride, a_scales, a_scale_row_stride, a_scale_k_stride,
                     b, b_scales, b_scale_n_stride, b_scale_k_stride, m, n, k, begin, end, scratch, bindings,
                     constants, epilogue);
}
