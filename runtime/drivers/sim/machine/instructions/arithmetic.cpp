//===- arithmetic.cpp - opcodes that integers and floats share --------------===//
#include "runtime/drivers/sim/machine/instructions/instruction_groups.h"

#include <algorithm>

namespace quaver::sim {
namespace {

using ptx::Type;

enum class Kind { kInteger, kFloat, kHalf };

// The kind of the instruction's type, and for floats the type, taken.
Kind kind_of(Decoder &d, Type &type) {
  for (std::string_view m : d.left()) {
    const std::optional<Type> t = ptx::type_from_spelling(m);
    if (!t)
      continue;
    if (!is_float(*t))
      return Kind::kInteger;
    type = d.take_type();
    return type == Type::kF32 || type == Type::kF64 ? Kind::kFloat : Kind::kHalf;
  }
  d.invalid("'", d.source.opcode, "' needs a type");
  return Kind::kInteger;
}

void decode_add(Decoder &d) {
  Type type;
  const Kind kind = kind_of(d, type);
  kind == Kind::kInteger ? decode_integer_add(d, false)
  : kind == Kind::kFloat ? decode_float_add(d, type, false)
                         : decode_half_arithmetic(d, type, HalfOperation::kAdd);
}
void decode_sub(Decoder &d) {
  Type type;
  const Kind kind = kind_of(d, type);
  kind == Kind::kInteger ? decode_integer_add(d, true)
  : kind == Kind::kFloat ? decode_float_add(d, type, true)
                         : decode_half_arithmetic(d, type, HalfOperation::kSubtract);
}
void decode_mul(Decoder &d) {
  Type type;
  const Kind kind = kind_of(d, type);
  kind == Kind::kInteger ? decode_integer_mul(d)
  : kind == Kind::kFloat ? decode_float_mul(d, type)
                         : decode_half_arithmetic(d, type, HalfOperation::kMultiply);
}
void decode_mad(Decoder &d) { // mad.f32 is fma.f32 on sm_20 and later
  Type type;
  kind_of(d, type) == Kind::kInteger ? decode_integer_mad(d) : decode_float_fma(d, type);
}
void decode_fma(Decoder &d) {
  Type type;
  const Kind kind = kind_of(d, type);
  if (kind == Kind::kInteger)
    return d.invalid("'fma' needs a float type");
  kind == Kind::kFloat ? decode_float_fma(d, type)
                       : decode_half_arithmetic(d, type, HalfOperation::kMultiplyAdd);
}
void decode_min_max(Decoder &d, bool maximum) {
  Type type;
  const Kind kind = kind_of(d, type);
  kind == Kind::kInteger ? decode_integer_min_max(d, maximum)
  : kind == Kind::kFloat
      ? decode_float_min_max(d, type, maximum)
      : decode_half_arithmetic(d, type, maximum ? HalfOperation::kMaximum : HalfOperation::kMinimum);
}
void decode_min(Decoder &d) { decode_min_max(d, false); }
void decode_max(Decoder &d) { decode_min_max(d, true); }
void decode_abs(Decoder &d) {
  Type type;
  const Kind kind = kind_of(d, type);
  kind == Kind::kInteger ? decode_integer_abs(d)
  : kind == Kind::kFloat ? decode_float_sign(d, type, false)
                         : decode_half_arithmetic(d, type, HalfOperation::kAbsolute);
}
void decode_neg(Decoder &d) {
  Type type;
  const Kind kind = kind_of(d, type);
  kind == Kind::kInteger ? decode_integer_neg(d)
  : kind == Kind::kFloat ? decode_float_sign(d, type, true)
                         : decode_half_arithmetic(d, type, HalfOperation::kNegate);
}
void decode_div(Decoder &d) {
  Type type;
  kind_of(d, type) == Kind::kInteger ? decode_integer_div(d) : decode_float_div(d, type);
}

constexpr InstructionFamily kTable[] = {
    {"add", InstructionClass::kInteger, decode_add}, {"sub", InstructionClass::kInteger, decode_sub},
    {"mul", InstructionClass::kInteger, decode_mul}, {"mad", InstructionClass::kInteger, decode_mad},
    {"fma", InstructionClass::kFloat32, decode_fma}, {"min", InstructionClass::kInteger, decode_min},
    {"max", InstructionClass::kInteger, decode_max}, {"abs", InstructionClass::kInteger, decode_abs},
    {"neg", InstructionClass::kInteger, decode_neg}, {"div", InstructionClass::kInteger, decode_div},
};

} // namespace

std::span<const InstructionFamily> arithmetic_instructions() { return kTable; }

} // namespace quaver::sim
