// Element types and numpy's descr strings.
#pragma once
#include "runtime/numerics/formats.h"
#include <string_view>

namespace quaver {

/// How numpy with ml_dtypes writes the type: bf16 is "<V2" and 8-bit floats "|V1", raw bytes whose meaning
/// the reader must know.
constexpr std::string_view npy_descr(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return "<f8";
  case ElementType::F32:
    return "<f4";
  case ElementType::F16:
    return "<f2";
  case ElementType::BF16:
    return "<V2";
  case ElementType::I64:
    return "<i8";
  case ElementType::I32:
    return "<i4";
  case ElementType::I16:
    return "<i2";
  case ElementType::I8:
    return "|i1";
  case ElementType::U64:
    return "<u8";
  case ElementType::U32:
    return "<u4";
  case ElementType::U16:
    return "<u2";
  case ElementType::U8:
    return "|u1";
  case ElementType::BOOL:
    return "|b1";
  default:
    return is_float8(type) ? "|V1" : "";
  }
}

/// Does an array of `descr` hold elements of `type`? Byte order where it has no meaning is ignored. ml_dtypes
/// writes bf16 as
/// "<V2" or "|V2" and 8-bit floats as "|V1" or "<f1" by version; raw unsigned integers of the width are taken
/// for them too.
constexpr bool npy_holds(std::string_view descr, ElementType type) {
  std::string_view want = npy_descr(type);
  if (descr.size() != 3 || want.empty() || descr[2] != want[2] || descr[0] == '>')
    return false;
  const bool raw = want[1] == 'V';
  return descr[1] == want[1] || (raw && (descr[1] == 'u' || descr[1] == 'f'));
}

} // namespace quaver
