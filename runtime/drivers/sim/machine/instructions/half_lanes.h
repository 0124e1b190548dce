// f16 and bf16 as codes. Conversions come from runtime/numerics; NaN results are PTX's canonical 0x7FFF.
#pragma once
#include "runtime/numerics/codec.h"
#include <cstdint>

namespace quaver::sim {

struct HalfF16 {
  static constexpr ElementType kType = ElementType::F16;
  static constexpr uint16_t kNan = 0x7fff, kExponent = 0x7c00, kOne = 0x3c00;
  static bool is_nan(uint16_t c) { return (c & 0x7fff) > kExponent; }
  static uint16_t flush(uint16_t c) { return c & kExponent ? c : uint16_t(c & 0x8000); }
  static double decode(uint16_t c) { return decode_f16(c); }
  static uint16_t encode(double x) { return x != x ? kNan : encode_f16(x); }
};

struct HalfBf16 {
  static constexpr ElementType kType = ElementType::BF16;
  static constexpr uint16_t kNan = 0x7fff, kExponent = 0x7f80, kOne = 0x3f80;
  static bool is_nan(uint16_t c) { return (c & 0x7fff) > kExponent; }
  static uint16_t flush(uint16_t c) { return c & kExponent ? c : uint16_t(c & 0x8000); }
  static double decode(uint16_t c) { return decode_bf16(c); }
  static uint16_t encode(double x) { return x != x ? kNan : encode_bf16(x); }
};

} // namespace quaver::sim
