//===- matrix_product.cpp - what tensor cores compute -----------------------===//
// PTX ISA 9.0, section 9.7.14. The ISA leaves the order and precision of the sums open; two models are
// offered.
#include "runtime/drivers/sim/machine/instructions/matrix_product.h"

#include "runtime/drivers/sim/machine/instructions/half_lanes.h"
#include "runtime/numerics/codec.h"

#include <algorithm>
#include <bit>
#include <cmath>

// The same function for processors with and without a fused multiply-add: results are equal, std::fma is
// exact.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
#define QUAVER_WITH_FMA __attribute__((target_clones("avx512f", "fma", "default")))
#else
#define QUAVER_WITH_FMA
#endif

namespace quaver::sim {
namespace {

QUAVER_WITH_FMA void chain(int m, int n, int k, const float *a, const float *b, float *c) {
  for (int i = 0; i < m; ++i)
    for (int p = 0; p < k; ++p)
      for (int j = 0; j < n; ++j)
        c[i * n + j] = __builtin_fmaf(a[i * k + p], b[p * n + j], c[i * n + j]);
}

QUAVER_WITH_FMA void chain(int m, int n, int k, const double *a, const double *b, double *c) {
  for (int i = 0; i < m; ++i)
    for (int p = 0; p < k; ++p)
      for (int j = 0; j < n; ++j)
        c[i * n + j] = __builtin_fma(a[i * k + p], b[p * n + j], c[i * n + j]);
}

// Hopper's FP8 accumulation as DeepSeek-V3 (arXiv 2412.19437, 3.3.2) found it: the products of one
// instruction and the accumulator are aligned to the largest exponent, cut to 13 bits below it, and added.
float short_sum(const MatrixProduct &x, int i, int j) {
  double terms[kMaxK + 1];
  int top = -10000;
  for (int p = 0; p <= x.k; ++p) {
    terms[p] = p < x.k ? double(x.a[i * x.k + p]) * double(x.b[p * x.n + j]) : double(x.c[i * x.n + j]);
    if (!std::isfinite(terms[p]))
      top = 10000;
    else if (terms[p] != 0)
      top = std::max(top, std::ilogb(terms[p]));
  }
  double sum = 0;
  for (int p = 0; p <= x.k; ++p)
    sum += top == 10000 || terms[p] == 0 ? terms[p]
                                         : std::ldexp(std::trunc(std::ldexp(terms[p], 13 - top)), top - 13);
  return float(sum);
}

} // namespace

void multiply_floats(MatrixProduct &p, Accumulation accumulation) {
  if (accumulation == Accumulation::kExact)
    return chain(p.m, p.n, p.k, p.a, p.b, p.c);
  for (int i = 0; i < p.m; ++i)
    for (int j = 0; j < p.n; ++j)
      p.c[i * p.n + j] = short_sum(p, i, j);
}

void multiply_doubles(MatrixProduct &p) { chain(p.m, p.n, p.k, p.wide_a, p.wide_b, p.wide_c); }

void multiply_integers(MatrixProduct &p, bool saturate, BitOperation bits) {
  for (int i = 0; i < p.m; ++i)
    for (int j = 0; j < p.n; ++j) {
      int64_t sum = p.int_c[i * p.n + j];
      for (int q = 0; q < p.k; ++q) {
        const int32_t a = p.int_a[i * p.k + q], b = p.int_b[q * p.n + j];
        sum += bits == BitOperation::kXor ? a ^ b : bits == BitOperation::kAnd ? a & b : a * b;
      }
      p.int_c[i * p.n + j] =
          saturate ? int32_t(std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX)) : int32_t(uint32_t(sum));
    }
}

float matrix_element(ptx::Type type, uint32_t code) {
  switch (type) {
  case ptx::Type::kF16:
    return decode_f16(uint16_t(code));
  case ptx::Type::kBf16:
    return decode_bf16(uint16_t(code));
  case ptx::Type::kE4m3:
    return decode_e4m3(uint8_t(code));
  case ptx::Type::kE5m2:
    return decode_e5m2(uint8_t(code));
  default:
    return std::bit_cast<float>(code & 0xffffe000);
  }
}

uint32_t matrix_result(ptx::Type type, float value) {
  if (type == ptx::Type::kF16)
    return HalfF16::encode(value);
  return value != value ? 0x7fffffff : std::bit_cast<uint32_t>(value);
}

int32_t matrix_integer(ptx::Type type, uint32_t bits) {
  switch (type) {
  case ptx::Type::kS8:
    return int8_t(bits);
  case ptx::Type::kU8:
    return uint8_t(bits);
  case ptx::Type::kS4:
    return int32_t(bits << 28) >> 28;
  case ptx::Type::kU4:
    return int32_t(bits & 15);
  default:
    return int32_t(bits & 1);
  }
}

int matrix_element_bits(ptx::Type type) {
  switch (type) {
  case ptx::Type::kB1:
    return 1;
  case ptx::Type::kS4:
  case ptx::Type::kU4:
    return 4;
  case ptx::Type::kS8:
  case ptx::Type::kU8:
  case ptx::Type::kE4m3:
  case ptx::Type::kE5m2:
    return 8;
  case ptx::Type::kF16:
  case ptx::Type::kBf16:
    return 16;
  case ptx::Type::kTf32:
  case ptx::Type::kF32:
  case ptx::Type::kS32:
    return 32;
  case ptx::Type::kF64:
    return 64;
  default:
    return 0;
  }
}

bool is_matrix_float(ptx::Type type) { return ptx::is_float(type) && type != ptx::Type::kF64; }

} // namespace quaver::sim
