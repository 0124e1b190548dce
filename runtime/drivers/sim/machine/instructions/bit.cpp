//===- bit.cpp - counting, reversing and extracting bits --------------------===//
// PTX ISA 9.0, section 9.7.1.
#include "runtime/drivers/sim/machine/instructions/instruction_groups.h"
#include "runtime/drivers/sim/machine/instructions/lanewise.h"

#include <bit>

namespace quaver::sim {
namespace {

using ptx::Type;

struct PopulationCount {
  template <class T> static uint32_t apply(T a) {
    return uint32_t(std::popcount(std::make_unsigned_t<T>(a)));
  }
};
struct LeadingZeros {
  template <class T> static uint32_t apply(T a) {
    return uint32_t(std::countl_zero(std::make_unsigned_t<T>(a)));
  }
};
struct ReverseBits {
  template <class T> static T apply(T a) {
    T r = 0;
    for (size_t i = 0; i < 8 * sizeof(T); ++i)
      r = T(r | (a >> i & 1) << (8 * sizeof(T) - 1 - i));
    return r;
  }
};
// Position of the highest bit that differs from the sign (bfind); kShift: as a shift amount.
template <bool kShift> struct FindHighest {
  template <class T> static uint32_t apply(T a) {
    using U = std::make_unsigned_t<T>;
    const U bits = a < 0 ? U(~U(a)) : U(a);
    if (bits == 0)
      return ~0u;
    const uint32_t leading = uint32_t(std::countl_zero(bits));
    return kShift ? leading : uint32_t(8 * sizeof(T)) - 1 - leading;
  }
};

template <class Op> void decode_count(Decoder &d, Type type) {
  d.expect_operands(2, 2);
  with_integer(d, type, [&](auto t) {
    if constexpr (sizeof(t) >= 4)
      d.out.execute = &lanewise<uint32_t, decltype(t), 1, Op>;
  });
  d.result(0, Type::kB32);
  d.value(1, type);
}
template <class Op> void decode_unsigned_count(Decoder &d) {
  const Type type = d.take_type();
  if (type != Type::kB32 && type != Type::kB64)
    d.invalid("'", d.source.opcode, "' needs .b32 or .b64");
  decode_count<Op>(d, type == Type::kB64 ? Type::kU64 : Type::kU32);
}
void decode_bfind(Decoder &d) {
  const bool shift = d.take("shiftamt");
  const Type type = d.take_type();
  shift ? decode_count<FindHighest<true>>(d, type) : decode_count<FindHighest<false>>(d, type);
}
void decode_brev(Decoder &d) {
  const Type type = d.take_type();
  if (type != Type::kB32 && type != Type::kB64)
    d.invalid("'brev' needs .b32 or .b64");
  decode_integer<1, ReverseBits>(d, type == Type::kB64 ? Type::kU64 : Type::kU32);
}

// bfe: bits [position, position + length), the upper ones filled with the field's sign bit
// (section 9.7.1.19).
template <class T> Outcome extract_bits(Context &c, const Instruction &in) {
  T ra[kLanes], result[kLanes];
  uint32_t rb[kLanes], rc[kLanes];
  const T *a = c.lanes(in.operands[1], ra);
  const uint32_t *positions = c.lanes(in.operands[2], rb), *lengths = c.lanes(in.operands[3], rc);
  using U = std::make_unsigned_t<T>;
  constexpr int kTop = 8 * sizeof(T) - 1;
  for (int i = 0; i < kLanes; ++i) {
    const int position = int(positions[i] & 0xff), length = int(lengths[i] & 0xff);
    const U bits = U(a[i]);
    const bool sign = std::is_signed_v<T> && length && (bits >> std::min(position + length - 1, kTop) & 1);
    U r = sign ? ~U(0) : U(0);
    for (int k = 0; k <= kTop && k < length && position + k <= kTop; ++k)
      r = U((r & ~(U(1) << k)) | (bits >> (position + k) & 1) << k);
    result[i] = T(r);
  }
  c.set(in.operands[0], result);
  return Outcome::kNext;
}
void decode_bfe(Decoder &d) {
  const Type type = d.take_type();
  d.expect_operands(4, 4);
  with_integer(d, type, [&](auto t) {
    if constexpr (sizeof(t) >= 4)
      d.out.execute = &extract_bits<decltype(t)>;
  });
  d.result(0, type);
  d.value(1, type);
  d.value(2, Type::kB32);
  d.value(3, Type::kB32);
}

template <class T> Outcome insert_bits(Context &c, const Instruction &in) {
  T ra[kLanes], rb[kLanes], result[kLanes];
  uint32_t rc[kLanes], rd[kLanes];
  const T *a = c.lanes(in.operands[1], ra), *b = c.lanes(in.operands[2], rb);
  const uint32_t *positions = c.lanes(in.operands[3], rc), *lengths = c.lanes(in.operands[4], rd);
  constexpr int kTop = 8 * sizeof(T) - 1;
  for (int i = 0; i < kLanes; ++i) {
    const int position = int(positions[i] & 0xff), length = int(lengths[i] & 0xff);
    T r = b[i];
    for (int k = 0; k < length && position + k <= kTop; ++k)
      r = T((r & ~(T(1) << (position + k))) | (a[i] >> k & 1) << (position + k));
    result[i] = r;
  }
  c.set(in.operands[0], result);
  return Outcome::kNext;
}
void decode_bfi(Decoder &d) {
  const Type type = d.take_type();
  d.expect_operands(5, 5);
  if (type != Type::kB32 && type != Type::kB64)
    d.invalid("'bfi' needs .b32 or .b64");
  d.out.execute = type == Type::kB64 ? &insert_bits<uint64_t> : &insert_bits<uint32_t>;
  d.result(0, type);
  d.value(1, type);
  d.value(2, type);
  d.value(3, Type::kB32);
  d.value(4, Type::kB32);
}

// fns (section 9.7.1.17): position of the n-th set bit from `base`, upward for n > 0, downward for n < 0.
Outcome find_nth_set(Context &c, const Instruction &in) {
  uint32_t ra[kLanes], rb[kLanes], result[kLanes];
  int32_t rc[kLanes];
  const uint32_t *masks = c.lanes(in.operands[1], ra), *bases = c.lanes(in.operands[2], rb);
  const int32_t *offsets = c.lanes(in.operands[3], rc);
  for (int i = 0; i < kLanes; ++i) {
    result[i] = ~0u;
    int left = offsets[i] == 0 ? 1 : std::abs(offsets[i]);
    const int step = offsets[i] < 0 ? -1 : 1;
    for (int at = int(bases[i] & 31); at >= 0 && at < 32; at += step) {
      if ((masks[i] >> at & 1) && --left == 0) {
        result[i] = uint32_t(at);
        break;
      }
      if (offsets[i] == 0)
        break;
    }
  }
  c.set(in.operands[0], result);
  return Outcome::kNext;
}
void decode_fns(Decoder &d) {
  if (d.take_type() != Type::kB32)
    d.invalid("'fns' needs .b32");
  d.expect_operands(4, 4);
  d.out.execute = find_nth_set;
  d.result(0, Type::kB32);
  for (size_t i = 1; i < 4; ++i)
    d.value(i, Type::kB32);
}

// bmsk: bits [a, a + b). szext: bits from b upward are filled with bit b-1 (or zero). Bit 0: clamp, not wrap.
Outcome bit_mask(Context &c, const Instruction &in) {
  uint32_t ra[kLanes], rb[kLanes], result[kLanes];
  const uint32_t *a = c.lanes(in.operands[1], ra), *b = c.lanes(in.operands[2], rb);
  for (int i = 0; i < kLanes; ++i) {
    const uint32_t position = in.variant & 1 ? std::min<uint32_t>(a[i], 32) : a[i] & 31;
    const uint32_t width = in.variant & 1 ? std::min<uint32_t>(b[i], 32) : b[i] & 31;
    result[i] = uint32_t(((uint64_t{1} << width) - 1) << position);
  }
  c.set(in.operands[0], result);
  return Outcome::kNext;
}
template <class T> Outcome extend(Context &c, const Instruction &in) {
  T ra[kLanes], result[kLanes];
  uint32_t rb[kLanes];
  const T *a = c.lanes(in.operands[1], ra);
  const uint32_t *b = c.lanes(in.operands[2], rb);
  for (int i = 0; i < kLanes; ++i) {
    const uint32_t n = in.variant & 1 ? std::min<uint32_t>(b[i], 32) : b[i] & 31;
    const uint64_t low = n ? uint64_t(uint32_t(a[i])) & ((uint64_t{1} << n) - 1) : 0;
    const bool sign = std::is_signed_v<T> && n && (low >> (n - 1) & 1);
    result[i] = T(uint32_t(low) | (sign ? uint32_t(~((uint64_t{1} << n) - 1)) : 0));
  }
  c.set(in.operands[0], result);
  return Outcome::kNext;
}
void decode_mask_or_extend(Decoder &d, bool mask) {
  const int mode = d.take_one({"wrap", "clamp"});
  const Type type = d.take_type();
  if (mode < 0 || ptx::bytes_of(type) != 4)
    d.invalid("'", d.source.opcode, "' needs .clamp or .wrap and 32 bits");
  d.out.variant = uint64_t(mode == 1);
  d.expect_operands(3, 3);
  d.out.execute = mask ? bit_mask : type == Type::kS32 ? &extend<int32_t> : &extend<uint32_t>;
  d.result(0, type);
  d.value(1, type);
  d.value(2, Type::kB32);
}
void decode_bmsk(Decoder &d) { decode_mask_or_extend(d, true); }
void decode_szext(Decoder &d) { decode_mask_or_extend(d, false); }

constexpr InstructionFamily kTable[] = {
    {"popc", InstructionClass::kInteger, decode_unsigned_count<PopulationCount>},
    {"clz", InstructionClass::kInteger, decode_unsigned_count<LeadingZeros>},
    {"bfind", InstructionClass::kInteger, decode_bfind},
    {"brev", InstructionClass::kInteger, decode_brev},
    {"bfe", InstructionClass::kInteger, decode_bfe},
    {"bfi", InstructionClass::kInteger, decode_bfi},
    {"fns", InstructionClass::kInteger, decode_fns},
    {"bmsk", InstructionClass::kInteger, decode_bmsk},
    {"szext", InstructionClass::kInteger, decode_szext},
};

} // namespace

std::span<const InstructionFamily> bit_instructions() { return kTable; }

} // namespace quaver::sim
