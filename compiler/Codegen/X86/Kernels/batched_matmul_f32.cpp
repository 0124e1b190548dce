// C[batch][m, n] = epilogue(A[batch][m, k] * B[batch][k, n]) in f32; operands f32, bf16 or f16 with any
// strides.
#include "compiler/Codegen/X86/Kernels/batched.h"

namespace quaver::x86::QUAVER_SET_NAMESPACE {
using F32Batched = GemmKind<Fma, WordPanel, false, Scaling::None>;
}

QUAVER_KERNEL(batched_matmul_f32)(QUAVER_BATCHED_PARAMETERS) {
  using namespace quaver::x86::QUAVER_SET_NAMESPACE;
  batchedMatmul<F32Batched>(a, a_type, a_row_stride, a_column_stride, b, b_type, b_row_stride,
                            b_column_stride, m, n, k, begin, end, scratch, bindings, constants, epilogue,
                            batch_offset);
}
