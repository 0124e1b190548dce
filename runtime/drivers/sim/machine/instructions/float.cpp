//===- float.cpp - arithmetic of f32 and f64 --------------------------------===//
// PTX ISA 9.0, section 9.7.3. Every operation is rounded once, in any direction: to nearest by the processor,
// the rest by softfloat.h. `.approx` and `.full` are rounded to nearest too; a GPU may differ in the last
// bits.
//
#include "runtime/drivers/sim/machine/instructions/float_rules.h"
#include "runtime/drivers/sim/machine/instructions/instruction_groups.h"
#include "runtime/drivers/sim/machine/instructions/lanewise.h"

namespace quaver::sim {
namespace {

using ptx::Type;

struct Add {
  template <class T> static T nearest(T a, T b) { return a + b; }
  static ExactNumber exactly(ExactNumber a, ExactNumber b, Rounding r) { return add(a, b, r); }
};
struct Subtract {
  template <class T> static T nearest(T a, T b) { return a - b; }
  static ExactNumber exactly(ExactNumber a, ExactNumber b, Rounding r) {
    b.negative = !b.negative;
    return add(a, b, r);
  }
};
struct Multiply {
  template <class T> static T nearest(T a, T b) { return a * b; }
  static ExactNumber exactly(ExactNumber a, ExactNumber b, Rounding) { return multiply(a, b); }
};
struct MultiplyAdd {
  template <class T> static T nearest(T a, T b, T c) { return std::fma(a, b, c); }
  static ExactNumber exactly(ExactNumber a, ExactNumber b, ExactNumber c, Rounding r) {
    return add(multiply(a, b), c, r);
  }
};
struct Divide {
  template <class T> static T nearest(T a, T b) { return a / b; }
  static ExactNumber exactly(ExactNumber a, ExactNumber b, Rounding) { return divide(a, b); }
};
// 2^126 < |b| < 2^128 gives 0, or NaN for an infinite dividend (section 9.7.3.8).
struct DivideApproximately : Divide {
  static float nearest(float a, float b) {
    if (std::fabs(b) > 0x1p126f && std::isfinite(b))
      return std::isfinite(a) ? std::copysign(0.0f, std::signbit(a) != std::signbit(b) ? -1.0f : 1.0f) : NAN;
    return a / b;
  }
  static double nearest(double a, double b) { return a / b; }
};
struct SquareRoot {
  template <class T> static T nearest(T a) { return std::sqrt(a); }
  static ExactNumber exactly(ExactNumber a, Rounding) { return square_root(a); }
};
struct Reciprocal {
  template <class T> static T nearest(T a) { return T(1) / a; }
  static ExactNumber exactly(ExactNumber a, Rounding) { return divide(from_integer(1, false), a); }
};

// The processor's own rounding, and nothing else to do.
template <class T, class Op> struct Nearest {
  template <class... S> static T apply(S... s) { return canonical(Op::nearest(s...)); }
};

template <class T, class Op> T compute(uint64_t variant, auto... s) {
  if (variant & kFtz)
    ((s = flushed(s)), ...);
  const Rounding rounding = Rounding(variant & kRoundingBits);
  T r = rounding == Rounding::kNearest ? Op::nearest(s...)
                                       : rounded<T>(Op::exactly(exact(s)..., rounding), rounding);
  if (variant & kFtz)
    r = flushed(r);
  return variant & kSat ? saturated(r) : canonical(r);
}

template <class T, int N, class Op> Outcome with_rules(Context &c, const Instruction &in) {
  T room[N][kLanes], result[kLanes];
  const T *s[N];
  for (int i = 0; i < N; ++i)
    s[i] = c.lanes(in.operands[i + 1], room[i]);
  for (int i = 0; i < kLanes; ++i) {
    if (!(c.mask >> i & 1)) {
      result[i] = T(0);
      continue;
    }
    if constexpr (N == 1)
      result[i] = compute<T, Op>(in.variant, s[0][i]);
    else if constexpr (N == 2)
      result[i] = compute<T, Op>(in.variant, s[0][i], s[1][i]);
    else
      result[i] = compute<T, Op>(in.variant, s[0][i], s[1][i], s[2][i]);
  }
  c.set(in.operands[0], result);
  return Outcome::kNext;
}

// Modifiers .rnd, .ftz, .sat have been taken into out.variant.
template <int N, class Op> void decode_rounded(Decoder &d, Type type) {
  d.expect_operands(N + 1, N + 1);
  auto choose = [&](auto t) {
    using T = decltype(t);
    d.out.execute = d.out.variant ? &with_rules<T, N, Op> : &lanewise<T, T, N, Nearest<T, Op>>;
  };
  if (type == Type::kF32)
    choose(float{});
  else if (type == Type::kF64)
    choose(double{});
  else
    d.unsupported("'.", spelling(type), "' is no type of '", d.source.opcode, "'");
  d.out.cls = type == Type::kF64 ? InstructionClass::kFloat64 : InstructionClass::kFloat32;
  d.result(0, type);
  for (size_t i = 1; i <= N; ++i)
    d.value(i, type);
}

void take_rules(Decoder &d, Type type) {
  d.out.variant = uint64_t(take_rounding(d)) | (d.take("ftz") ? kFtz : 0) | (d.take("sat") ? kSat : 0);
  if (type == Type::kF64 && d.out.variant & (kFtz | kSat))
    d.invalid("'.ftz' and '.sat' are not for .f64");
}

// min and max (section 9.7.3.11): a NaN operand gives the other one, with .NaN a NaN; -0 < +0.
constexpr uint64_t kNanWins = 32, kXorSign = 64, kMaximum = 128;

template <class T> Outcome minimum_or_maximum(Context &c, const Instruction &in) {
  T ra[kLanes], rb[kLanes], result[kLanes];
  const T *pa = c.lanes(in.operands[1], ra), *pb = c.lanes(in.operands[2], rb);
  for (int i = 0; i < kLanes; ++i) {
    T a = pa[i], b = pb[i];
    if (in.variant & kFtz) {
      a = flushed(a);
      b = flushed(b);
    }
    const bool sign = std::signbit(a) != std::signbit(b);
    if (in.variant & kXorSign) {
      a = std::fabs(a);
      b = std::fabs(b);
    }
    T r;
    if (a != a || b != b)
      r = in.variant & kNanWins || (a != a && b != b) ? std::bit_cast<T>(FloatRules<T>::kNan)
          : a != a                                    ? b
                                                      : a;
    else if (in.variant & kMaximum)
      r = a > b || (a == b && !std::signbit(a)) ? a : b;
    else
      r = a < b || (a == b && std::signbit(a)) ? a : b;
    result[i] = in.variant & kXorSign && r == r ? std::copysign(r, sign ? T(-1) : T(1)) : r;
  }
  c.set(in.operands[0], result);
  return Outcome::kNext;
}

// abs, neg and copysign touch the sign bit; a NaN's too.
template <class T, bool kNegate> Outcome change_sign(Context &c, const Instruction &in) {
  T ra[kLanes], result[kLanes];
  const T *a = c.lanes(in.operands[1], ra);
  using R = FloatRules<T>;
  for (int i = 0; i < kLanes; ++i) {
    const T x = in.variant & kFtz ? flushed(a[i]) : a[i];
    const auto bits = std::bit_cast<typename R::Bits>(x);
    result[i] = std::bit_cast<T>(typename R::Bits(kNegate ? bits ^ R::kSign : bits & ~R::kSign));
  }
  c.set(in.operands[0], result);
  return Outcome::kNext;
}

template <class Bits> struct CopySign { // sign of a, magnitude of b
  static Bits apply(Bits a, Bits b) {
    constexpr Bits kSign = Bits(1) << (8 * sizeof(Bits) - 1);
    return (a & kSign) | (b & ~kSign);
  }
};

template <class T> Outcome test_property(Context &c, const Instruction &in) {
  T ra[kLanes];
  const T *a = c.lanes(in.operands[1], ra);
  LaneMask result = 0;
  for (int i = 0; i < kLanes; ++i) {
    const int kind = std::fpclassify(a[i]);
    bool is = false;
    switch (in.variant) {
    case 0:
      is = std::isfinite(a[i]);
      break;
    case 1:
      is = kind == FP_INFINITE;
      break;
    case 2:
      is = kind != FP_NAN;
      break;
    case 3:
      is = kind == FP_NAN;
      break;
    case 4:
      is = kind == FP_NORMAL;
      break;
    default:
      is = kind == FP_SUBNORMAL || kind == FP_ZERO; // section 9.7.3.1: zero counts as subnormal
    }
    result |= LaneMask(is) << i;
  }
  c.set_predicate(in.operands[0], result);
  return Outcome::kNext;
}

void decode_testp(Decoder &d) {
  const int property = d.take_one({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  const Type type = d.take_type();
  d.expect_operands(2, 2);
  if (property < 0 || (type != Type::kF32 && type != Type::kF64))
    d.invalid("'testp' needs a property and .f32 or .f64");
  d.out.variant = uint64_t(std::max(property, 0));
  d.out.execute = type == Type::kF64 ? &test_property<double> : &test_property<float>;
  d.result(0, Type::kPred);
  d.value(1, type);
}

void decode_copysign(Decoder &d) {
  const Type type = d.take_type();
  d.expect_operands(3, 3);
  if (type == Type::kF64)
    d.out.execute = &lanewise<uint64_t, uint64_t, 2, CopySign<uint64_t>>;
  else if (type == Type::kF32)
    d.out.execute = &lanewise<uint32_t, uint32_t, 2, CopySign<uint32_t>>;
  d.result(0, type);
  d.value(1, type);
  d.value(2, type);
}

// rcp, sqrt: f64 .approx exists only as rcp.approx.ftz.f64, with a reduced argument (section 9.7.3.14): the
// low 32 bits of argument and result are zero.
Outcome reciprocal_of_high_word(Context &c, const Instruction &in) {
  double ra[kLanes], result[kLanes];
  const double *a = c.lanes(in.operands[1], ra);
  constexpr uint64_t kHigh = 0xffffffff00000000;
  for (int i = 0; i < kLanes; ++i) {
    const double x = flushed(std::bit_cast<double>(std::bit_cast<uint64_t>(a[i]) & kHigh));
    const double r = in.variant & 1 ? 1 / std::sqrt(x) : 1 / x;
    result[i] = canonical(flushed(std::bit_cast<double>(std::bit_cast<uint64_t>(r) & kHigh)));
  }
  c.set(in.operands[0], result);
  return Outcome::kNext;
}

template <class Op> void decode_function(Decoder &d) {
  const bool approximate = d.take("approx");
  const Type type = d.take_type();
  if (approximate && type == Type::kF64) {
    if (!d.take("ftz"))
      d.invalid("'", d.source.opcode, ".approx.f64' needs .ftz");
    d.expect_operands(2, 2);
    d.out.execute = std::is_same_v<Op, Reciprocal> ? reciprocal_of_high_word : nullptr;
    d.out.cls = InstructionClass::kSpecialFunction;
    d.result(0, type);
    return d.value(1, type);
  }
  take_rules(d, type);
  decode_rounded<1, Op>(d, type);
  d.out.cls = approximate ? InstructionClass::kSpecialFunction : d.out.cls;
}

constexpr InstructionFamily kTable[] = {
    {"testp", InstructionClass::kFloat32, decode_testp},
    {"copysign", InstructionClass::kFloat32, decode_copysign},
    {"rcp", InstructionClass::kFloat32, decode_function<Reciprocal>},
    {"sqrt", InstructionClass::kFloat32, decode_function<SquareRoot>},
};

} // namespace

void decode_float_add(Decoder &d, Type type, bool subtract) {
  take_rules(d, type);
  subtract ? decode_rounded<2, Subtract>(d, type) : decode_rounded<2, Add>(d, type);
}
void decode_float_mul(Decoder &d, Type type) {
  take_rules(d, type);
  decode_rounded<2, Multiply>(d, type);
}
void decode_float_fma(Decoder &d, Type type) {
  take_rules(d, type);
  decode_rounded<3, MultiplyAdd>(d, type);
}
void decode_float_div(Decoder &d, Type type) {
  const bool approximate = d.take("approx"), full = d.take("full");
  take_rules(d, type);
  approximate ? decode_rounded<2, DivideApproximately>(d, type) : decode_rounded<2, Divide>(d, type);
  if (approximate || full)
    d.out.cls = InstructionClass::kSpecialFunction;
}
void decode_float_min_max(Decoder &d, Type type, bool maximum) {
  d.out.variant = (d.take("ftz") ? kFtz : 0) | (d.take("NaN") ? kNanWins : 0) | (maximum ? kMaximum : 0);
  if (d.take("xorsign")) {
    d.out.variant |= kXorSign;
    if (!d.take("abs"))
      d.invalid("'.xorsign' stands with '.abs'");
  }
  d.expect_operands(3, 3);
  d.out.cls = type == Type::kF64 ? InstructionClass::kFloat64 : InstructionClass::kFloat32;
  d.out.execute = type == Type::kF64 ? &minimum_or_maximum<double> : &minimum_or_maximum<float>;
  d.result(0, type);
  d.value(1, type);
  d.value(2, type);
}
void decode_float_sign(Decoder &d, Type type, bool negate) {
  d.out.variant = d.take("ftz") ? kFtz : 0;
  d.expect_operands(2, 2);
  d.out.cls = type == Type::kF64 ? InstructionClass::kFloat64 : InstructionClass::kFloat32;
  if (type == Type::kF64)
    d.out.execute = negate ? &change_sign<double, true> : &change_sign<double, false>;
  else
    d.out.execute = negate ? &change_sign<float, true> : &change_sign<float, false>;
  d.result(0, type);
  d.value(1, type);
}

std::span<const InstructionFamily> float_instructions() { return kTable; }

} // namespace quaver::sim
