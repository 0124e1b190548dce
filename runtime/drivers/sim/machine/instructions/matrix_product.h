// D = A * B + C as tensor cores compute it, on whole matrices; how they lie in registers is mma's and wmma's
// affair.
#pragma once
#include "runtime/drivers/sim/machine/launch.h"
#include "runtime/drivers/sim/ptx/types.h"
#include <cstdint>

namespace quaver::sim {

inline constexpr int kMaxM = 32, kMaxN = 32, kMaxK = 256;

/// One warp's matrices. Only the arrays of the kind in use are filled: `a[i * k + p]`, `b[p * n + j]`, `c[i *
/// n + j]`; the product goes to c.
struct MatrixProduct {
  int m = 0, n = 0, k = 0;
  float a[kMaxM * kMaxK], b[kMaxK * kMaxN],
      c[kMaxM * kMaxN]; // f16, bf16, tf32, f8 in; f32 or f16 accumulators
  double wide_a[kMaxM * 16], wide_b[16 * kMaxN], wide_c[kMaxM * kMaxN];     // f64
  int32_t int_a[kMaxM * kMaxK], int_b[kMaxK * kMaxN], int_c[kMaxM * kMaxN]; // s8, u8, s4, u4, b1
};

enum class BitOperation : uint8_t { kNone, kXor, kAnd };

/// Each sum in ascending k, one rounding to F32 an addition (kExact); or as Accumulation::kShort says.
void multiply_floats(MatrixProduct &p, Accumulation accumulation);
/// Likewise in F64.
void multiply_doubles(MatrixProduct &p);
/// 32-bit sums that wrap, or stay within s32 (.satfinite). Bits: the count of ones of a ^ b or a & b.
void multiply_integers(MatrixProduct &p, bool saturate, BitOperation bits);

/// Value of a small float's code: f16, bf16, e4m3, e5m2, tf32 (whose low 13 bits are ignored).
float matrix_element(ptx::Type type, uint32_t code);
/// Code of an accumulator: f32, or f16 rounded to nearest. NaN is canonical.
uint32_t matrix_result(ptx::Type type, float value);
/// Integer of a type of 1, 4 or 8 bits in the low bits.
int32_t matrix_integer(ptx::Type type, uint32_t bits);
/// Bits of an element; 0: no type of a matrix.
int matrix_element_bits(ptx::Type type);
bool is_matrix_float(ptx::Type type);

} // namespace quaver::sim
