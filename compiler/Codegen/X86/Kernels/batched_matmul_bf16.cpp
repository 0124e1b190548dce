// C[batch][m, n] = epilogue(bf16(A[batch][m, k]) * bf16(B[batch][k, n])), sums in f32; operands f32, bf16 or
// f16 with any strides, rounded to bf16 where they are wider.
#include "compiler/Codegen/X86/Kernels/batched.h"

namespace quaver::x86::QUAVER_SET_NAMESPACE {
#ifdef QUAVER_SET_AVX512_BF16
using Bf16Batched = GemmKind<Dot, WordPanel, true, Scaling::None>;
#else
using Bf16Batched = GemmKind<Fma, WordPanel, true, Scaling::None>;
#endif
} // namespace quaver::x86::QUAVER_SET_NAMESPACE

QUAVER_KERNEL(batched_matmul_bf16)(QUAVER_BATCHED_PARAMETERS) {
  using namespace quaver::x86::QUAVER_SET_NAMESPACE;
  batchedMatmul<Bf16Batched>(a, a_type, a_row_stride, a_column_stride, b, b_type, b_row_stride,
                             b_column_stride, m, n, k, begin, end, scratch, bindings, constants, epilogue,
                             batch_offset);
}
