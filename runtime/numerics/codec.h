// Conversions between number formats, one element or a span. This is the only place that rounds: interpreter,
// host kernels and GPU kernels must agree with it bit for bit.
//
// Rules (fp8 rules of ONNX, sections 2-4 of the numerics notes):
//   * round to nearest even first, also into the subnormal range; only then compare with the largest finite
//   value;
//   * every encode starts from the exact source value, so double -> f8 is never rounded through float;
//   * NaN stays NaN. Its code is canonical with the source's sign kept (E4M3 0x7F, E5M2 0x7F, BF16 0x7FC0,
//   F16 0x7E00).
#pragma once

#include "runtime/numerics/formats.h"

#include <bit>
#include <cstddef>

namespace quaver {

// What becomes of a value too large for an 8-bit float.
enum class Overflow : uint8_t {
  Saturate,  // largest finite value, also for +-Inf
  Propagate, // Inf where the format has one, else NaN
};
// What a saturating cast makes of +-Inf in the two FNUZ formats: ONNX changed its mind.
enum class FnuzInf : uint8_t {
  Max, // opset 24 and later: +-max
  NaN, // opset 19 to 23
};
// `round_mode` of Cast to E8M0 (opset 24).
enum class E8m0Rounding : uint8_t { Up, Down, Nearest /* ties up */ };

struct CastPolicy {
  Overflow overflow = Overflow::Saturate; // ONNX `saturate`, default 1; ignored by types wider than 8 bits
  FnuzInf fnuz_inf = FnuzInf::Max;
  E8m0Rounding e8m0 = E8m0Rounding::Up;
};
inline constexpr CastPolicy kSaturate{};
inline constexpr CastPolicy kPropagate{Overflow::Propagate, FnuzInf::Max, E8m0Rounding::Nearest};

// Code of `x` in the float format `type` (any float type of at most 32 bits), in the low bits of the result.
// E8M0: the sign of `x` is ignored (ONNX leaves it open, CUDA does this). Saturating: 0 and values below
// 2^-127 give 0x00, +-Inf and values above 2^127 give 0xFE. Propagating: all of those give NaN, 0xFF.
uint32_t encode(ElementType type, double x, CastPolicy policy = kSaturate);
inline uint32_t encode(ElementType type, float x, CastPolicy policy = kSaturate) {
  return encode(type, double(x), policy);
}
// The same from integers, exact: i64 values above 2^53 are rounded once.
uint32_t encode(ElementType type, int64_t x, CastPolicy policy = kSaturate);
uint32_t encode(ElementType type, uint64_t x, CastPolicy policy = kSaturate);

// Value of `code` in the float format `type` of at most 32 bits. Exact.
float decode(ElementType type, uint32_t code);

// The formats by name, for code that knows what it has.
inline uint8_t encode_e4m3(double x, Overflow o = Overflow::Saturate) {
  return uint8_t(encode(ElementType::F8E4M3FN, x, {o}));
}
inline uint8_t encode_e5m2(double x, Overflow o = Overflow::Saturate) {
  return uint8_t(encode(ElementType::F8E5M2, x, {o}));
}
inline uint8_t encode_e8m0(double x, E8m0Rounding rounding = E8m0Rounding::Up,
                           Overflow o = Overflow::Saturate) {
  return uint8_t(encode(ElementType::F8E8M0FNU, x, {o, FnuzInf::Max, rounding}));
}
inline uint16_t encode_bf16(double x) { return uint16_t(encode(ElementType::BF16, x)); }
inline uint16_t encode_f16(double x) { return uint16_t(encode(ElementType::F16, x)); }
inline float decode_e4m3(uint8_t code) { return decode(ElementType::F8E4M3FN, code); }
inline float decode_e5m2(uint8_t code) { return decode(ElementType::F8E5M2, code); }
inline float decode_e8m0(uint8_t code) { return decode(ElementType::F8E8M0FNU, code); }
inline float decode_bf16(uint16_t code) { return std::bit_cast<float>(uint32_t(code) << 16); }
inline float decode_f16(uint16_t code) { return decode(ElementType::F16, code); }

// Is `code` (low bits) a NaN or an Inf of `type`? Float types of at most 32 bits.
bool is_nan_code(ElementType type, uint32_t code);
bool is_inf_code(ElementType type, uint32_t code);

// Converts `n` elements. All pairs of valid types; `from` and `to` data must not overlap unless they are the
// same pointer and the types have equal size. Alignment: none needed.
//   float -> float   as `encode`. f64 -> f32 rounds to nearest even and overflows to Inf
//   float -> int     truncates toward zero. Out of range is undefined in ONNX and numpy; here it clamps to
//   the integer's
//                    range and NaN gives 0, so that every target can agree
//   int   -> int     keeps the low bits (two's complement), as numpy does
//   int   -> float   nearest even, once
//   any   -> bool    1 unless equal to 0 (NaN gives 1; -0 gives 0; E8M0 is never 0)
//   bool  -> any     0 or 1 (any non-zero byte counts as 1)
void convert(ElementType from, const void *in, ElementType to, void *out, size_t n,
             CastPolicy policy = kSaturate);

} // namespace quaver
