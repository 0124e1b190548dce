//===- special_function.cpp - sin, cos, lg2, ex2, tanh, rsqrt ---------------===//
// PTX ISA 9.0, sections 9.7.3.16 to 9.7.3.22. All are .approx: the ISA bounds their error, this machine
// rounds the double-precision result to nearest. A GPU may differ within its bound.
//
#include "runtime/drivers/sim/machine/instructions/float_rules.h"
#include "runtime/drivers/sim/machine/instructions/half_lanes.h"
#include "runtime/drivers/sim/machine/instructions/instruction_groups.h"
#include "runtime/drivers/sim/machine/instructions/lanewise.h"

namespace quaver::sim {
namespace {

using ptx::Type;
using Function = double (*)(double);

double reciprocal_root(double x) { return 1 / std::sqrt(x); }
double sine(double x) { return std::sin(x); }
double cosine(double x) { return std::cos(x); }
double log_2(double x) { return std::log2(x); }
double exp_2(double x) { return std::exp2(x); }
double hyperbolic_tangent(double x) { return std::tanh(x); }

template <Function kFunction> Outcome of_single(Context &c, const Instruction &in) {
  float room[kLanes], result[kLanes] = {};
  const float *a = c.lanes(in.operands[1], room);
  const bool ftz = in.variant & kFtz;
  for_each_lane(c.mask, [&](int i) {
    const float r = float(kFunction(ftz ? flushed(a[i]) : a[i]));
    result[i] = canonical(ftz ? flushed(r) : r);
  });
  c.set(in.operands[0], result);
  return Outcome::kNext;
}

template <Function kFunction, class Half, class Lane> Outcome of_half(Context &c, const Instruction &in) {
  Lane room[kLanes], result[kLanes] = {};
  const Lane *a = c.lanes(in.operands[1], room);
  const bool ftz = in.variant & kFtz;
  for_each_lane(c.mask, [&](int i) {
    for (size_t part = 0; part < sizeof(Lane) / 2; ++part) {
      uint16_t x = uint16_t(a[i] >> 16 * part);
      x = Half::encode(kFunction(Half::decode(ftz ? Half::flush(x) : x)));
      result[i] |= Lane(Lane(ftz ? Half::flush(x) : x) << 16 * part);
    }
  });
  c.set(in.operands[0], result);
  return Outcome::kNext;
}

// rsqrt.approx{.ftz}.f64: the .ftz form works on the high words.
template <bool kHighWord> Outcome reciprocal_root_of_double(Context &c, const Instruction &in) {
  double room[kLanes], result[kLanes] = {};
  const double *a = c.lanes(in.operands[1], room);
  constexpr uint64_t kKeep = kHighWord ? 0xffffffff00000000 : ~uint64_t{0};
  for_each_lane(c.mask, [&](int i) {
    const double x = std::bit_cast<double>(std::bit_cast<uint64_t>(a[i]) & kKeep);
    const double r = 1 / std::sqrt(kHighWord ? flushed(x) : x);
    result[i] = canonical(std::bit_cast<double>(std::bit_cast<uint64_t>(r) & kKeep));
  });
  c.set(in.operands[0], result);
  return Outcome::kNext;
}

template <Function kFunction, bool kHasHalf> void decode_function(Decoder &d) {
  if (!d.take("approx"))
    d.invalid("'", d.source.opcode, "' needs .approx");
  d.out.variant = d.take("ftz") ? kFtz : 0;
  const Type type = d.take_type();
  d.expect_operands(2, 2);
  const Type bits = ptx::bytes_of(type) == 8   ? Type::kB64
                    : ptx::bytes_of(type) == 4 ? Type::kB32
                                               : Type::kB16;
  if (type == Type::kF32)
    d.out.execute = of_single<kFunction>;
  else if (type == Type::kF64 && kFunction == reciprocal_root)
    d.out.execute = d.out.variant ? reciprocal_root_of_double<true> : reciprocal_root_of_double<false>;
  else if (kHasHalf && type == Type::kF16)
    d.out.execute = of_half<kFunction, HalfF16, uint16_t>;
  else if (kHasHalf && type == Type::kF16x2)
    d.out.execute = of_half<kFunction, HalfF16, uint32_t>;
  else if (kHasHalf && type == Type::kBf16)
    d.out.execute = of_half<kFunction, HalfBf16, uint16_t>;
  else if (kHasHalf && type == Type::kBf16x2)
    d.out.execute = of_half<kFunction, HalfBf16, uint32_t>;
  else
    d.unsupported("'.", spelling(type), "' is no type of '", d.source.opcode, "'");
  d.result(0, bits);
  d.value(1, bits);
}

constexpr InstructionFamily kTable[] = {
    {"rsqrt", InstructionClass::kSpecialFunction, decode_function<reciprocal_root, false>},
    {"sin", InstructionClass::kSpecialFunction, decode_function<sine, false>},
    {"cos", InstructionClass::kSpecialFunction, decode_function<cosine, false>},
    {"lg2", InstructionClass::kSpecialFunction, decode_function<log_2, false>},
    {"ex2", InstructionClass::kSpecialFunction, decode_function<exp_2, true>},
    {"tanh", InstructionClass::kSpecialFunction, decode_function<hyperbolic_tangent, true>},
};

} // namespace

std::span<const InstructionFamily> special_function_instructions() { return kTable; }

} // namespace quaver::sim
