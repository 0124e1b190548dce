// What every x86 kernel sees: its ABI, how it is named, and the functions that the dispatch around it
// provides.
//
// A kernel source is compiled several times: by clang to bitcode, once per feature set, and natively into the
// kernel tests; there the AVX-512 sets exist a second time over SIMDe, so that every machine tests every set.
//
// The dispatch `void dispatch(void *const *bindings, const int64_t *constants, int64_t begin, int64_t end,
// void *scratch)` is made by the compiler. It calls one kernel with pointers and sizes; whatever of these is
// constant there specializes the kernel, which is inlined whole. Any split of [begin, end) into calls gives
// the same bits.
#pragma once

#include "compiler/Codegen/X86/Kernels/kernel_types.h"

#if defined(QUAVER_SET_AVX2)
#define QUAVER_SET avx2
#define QUAVER_FEATURE_SET FeatureSet::Avx2
#elif defined(QUAVER_SET_AVX512)
#define QUAVER_SET avx512
#define QUAVER_FEATURE_SET FeatureSet::Avx512
#elif defined(QUAVER_SET_AVX512_BF16)
#define QUAVER_SET avx512_bf16
#define QUAVER_FEATURE_SET FeatureSet::Avx512Bf16
#else
#error "define one of QUAVER_SET_AVX2, QUAVER_SET_AVX512, QUAVER_SET_AVX512_BF16"
#endif

#define QUAVER_CONCAT_(a, b) a##_##b
#define QUAVER_CONCAT(a, b) QUAVER_CONCAT_(a, b)
#ifdef QUAVER_SIMDE
#define QUAVER_SET_NAMESPACE QUAVER_CONCAT(simde, QUAVER_SET)
#else
#define QUAVER_SET_NAMESPACE QUAVER_SET
#endif

// The symbol of a kernel: avx2_f32_gemm, avx512_bf16_e4m3_e4m3_gemm; simde_ in front in tests.
#define QUAVER_KERNEL(name)                                                                                  \
  extern "C" __attribute__((always_inline)) void QUAVER_CONCAT(QUAVER_SET_NAMESPACE, name)
// Everything else in a kernel source. Each set has its own namespace: the same template means other code in
// each.
#define QUAVER_INLINE static inline __attribute__((always_inline))
// With constant sizes LLVM would unroll outer loops too: slow to compile, no gain.
#ifdef __clang__
#define QUAVER_ROLLED _Pragma("clang loop unroll(disable)")
#define QUAVER_UNROLLED _Pragma("clang loop unroll(full)")
#define QUAVER_UNROLLED_BY_2 _Pragma("clang loop unroll_count(2)")
#define QUAVER_UNROLLED_BY_4 _Pragma("clang loop unroll_count(4)")
#else
#define QUAVER_ROLLED
#define QUAVER_UNROLLED
#define QUAVER_UNROLLED_BY_2
#define QUAVER_UNROLLED_BY_4
#endif

using Bindings = void *const *;
using Constants = const int64_t *;

// The dispatch hands functions of its own to the kernel. They are constants there, so that they are inlined
// too, and each dispatch of a module has its own.
//
// Takes `n` finished f32 sums of matrix `batch`, row `row`, columns `column`.. and stores the results (bias,
// activation, residual, conversion). n is a multiple of the panel width except at the right edge.
using Epilogue = void (*)(const float *sums, int64_t batch, int64_t row, int64_t column, int64_t n,
                          Bindings bindings, Constants constants);
// Offset in elements of matrix `batch` of operand 0 (A) or 1 (B). This is where a broadcast batch or grouped
// heads live.
using BatchOffset = int64_t (*)(int64_t operand, int64_t batch, Constants constants);

// All matrix kernels with packed weights have this one signature:
//   C[m, n] = epilogue(A[m, k] * B[k, n])
// a         activations, element (i, j) at a[i * a_row_stride + j * a_column_stride], of type a_type
// a_scales  f32, of the 1x128 block (row i, block kb) at a_scales[i * a_scale_row_stride + kb *
// a_scale_k_stride] b         packed weights (pack.h) b_scales  f32, of the 128x128 block (columns nb, rows
// kb) at b_scales[nb * b_scale_n_stride + kb * b_scale_k_stride]
//           Strides of 0 make it one scale for all.
// mx32_gemm: scales are E8M0 bytes, of 1x32 blocks of A and 32x1 blocks of B, one for each column.
// Workgroups: ceilDiv(m, blockRows) row blocks x ceilDiv(n, groupColumns) column groups, columns fastest.
// Pointers that a kernel does not read may be null.
#define QUAVER_GEMM_PARAMETERS                                                                               \
  const void *a, int64_t a_type, int64_t a_row_stride, int64_t a_column_stride, const float *a_scales,       \
      int64_t a_scale_row_stride, int64_t a_scale_k_stride, const void *b, const float *b_scales,            \
      int64_t b_scale_n_stride, int64_t b_scale_k_stride, int64_t m, int64_t n, int64_t k, int64_t begin,    \
      int64_t end, void *scratch, Bindings bindings, Constants constants, Epilogue epilogue

// Batched products of activations, nothing packed ahead:
//   C[batch][m, n] = epilogue(A[batch][m, k] * B[batch][k, n])
// Element (i, j) of A is at a[batch_offset(0, batch) + i * a_row_stride + j * a_column_stride], of B likewise
// with 1. Workgroups: batches x ceilDiv(m, blockRows) x ceilDiv(n, mergedColumns), columns fastest, batches
// slowest.
#define QUAVER_BATCHED_PARAMETERS                                                                            \
  const void *a, int64_t a_type, int64_t a_row_stride, int64_t a_column_stride, const void *b,               \
      int64_t b_type, int64_t b_row_stride, int64_t b_column_stride, int64_t m, int64_t n, int64_t k,        \
      int64_t begin, int64_t end, void *scratch, Bindings bindings, Constants constants, Epilogue epilogue,  \
      BatchOffset batch_offset

// Convolutions of contiguous images [images][groups * channels][height][width] by filters [groups * m]
// [channels][kernel_height][kernel_width]. pad: rows and columns of zeros before the image. The epilogue's
// batch is image * groups + group, its row a filter of the group, its column y * out_width + x. Workgroups:
// images * groups x ceilDiv(m, blockRows) x ceilDiv(out_height * out_width, mergedColumns), columns fastest.
// A plane has fewer than 2^31 elements.
#define QUAVER_CONV_PARAMETERS                                                                               \
  const void *x, int64_t x_type, const void *filter, int64_t filter_type, int64_t groups, int64_t channels,  \
      int64_t height, int64_t width, int64_t kernel_height, int64_t kernel_width, int64_t stride_y,          \
      int64_t stride_x, int64_t pad_y, int64_t pad_x, int64_t dilation_y, int64_t dilation_x,                \
      int64_t out_height, int64_t out_width, int64_t m, int64_t begin, int64_t end, void *scratch,           \
      Bindings bindings, Constants constants, Epilogue epilogue

// Quantization of activations; see quantize_1x128.cpp.
#define QUAVER_QUANTIZE_PARAMETERS                                                                           \
  const void *x, int64_t x_type, int64_t x_row_stride, uint8_t *codes, int64_t code_row_stride,              \
      float *scales, int64_t scale_row_stride, int64_t scale_k_stride, int64_t power_of_two, int64_t k,      \
      int64_t begin, int64_t end
