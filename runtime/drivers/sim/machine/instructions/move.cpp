//===- move.cpp - mov, cvta, isspacep ---------------------------------------===//
// PTX ISA 9.0, section 9.7.9.
#include "runtime/drivers/sim/machine/function_builder.h"
#include "runtime/drivers/sim/machine/instructions/instruction_groups.h"
#include "runtime/drivers/sim/machine/instructions/lanewise.h"

namespace quaver::sim {
namespace {

using ptx::Space;
using ptx::Type;

template <class T> Outcome move(Context &c, const Instruction &in) {
  T room[kLanes];
  c.set(in.operands[0], c.lanes(in.operands[1], room));
  return Outcome::kNext;
}
Outcome move_predicate(Context &c, const Instruction &in) {
  c.set_predicate(in.operands[0], c.predicate(in.operands[1]));
  return Outcome::kNext;
}

// mov d, {a, b}: the first element is the lowest.
Outcome pack(Context &c, const Instruction &in) {
  const int count = in.operand_count - 1, bytes = in.element_bytes;
  uint8_t result[kLanes * 16];
  uint64_t room[kLanes];
  for (int e = 0; e < count; ++e) {
    const uint64_t *lanes = c.lanes(in.operands[1 + e], room);
    for (int i = 0; i < kLanes; ++i)
      std::memcpy(result + i * count * bytes + e * bytes, &lanes[i], size_t(bytes));
  }
  switch (count * bytes) {
  case 2:
    c.set(in.operands[0], reinterpret_cast<const uint16_t *>(result));
    break;
  case 4:
    c.set(in.operands[0], reinterpret_cast<const uint32_t *>(result));
    break;
  case 8:
    c.set(in.operands[0], reinterpret_cast<const uint64_t *>(result));
    break;
  default:
    c.set(in.operands[0], reinterpret_cast<const Bits128 *>(result));
  }
  return Outcome::kNext;
}

template <class T> void set_elements(Context &c, const Instruction &in, const uint8_t *source, int stride) {
  T element[kLanes];
  for (int e = 0; e < in.results; ++e) {
    for (int i = 0; i < kLanes; ++i)
      std::memcpy(&element[i], source + i * stride + e * int(sizeof(T)), sizeof(T));
    c.set(in.operands[e], element);
  }
}

// mov {a, b}, d.
Outcome unpack_elements(Context &c, const Instruction &in) {
  const Operand &from = in.operands[in.results];
  const int stride = in.results * in.element_bytes;
  Bits128 copy[kLanes]; // of the source: a result may be a part of it
  uint8_t *bytes = reinterpret_cast<uint8_t *>(copy);
  const uint8_t *at = c.bases[size_t(from.base)] + from.offset;
  for (int i = 0; i < kLanes; ++i)
    std::memcpy(bytes + i * stride, at + i * from.bytes, size_t(stride));
  switch (in.element_bytes) {
  case 1:
    set_elements<uint8_t>(c, in, bytes, stride);
    break;
  case 2:
    set_elements<uint16_t>(c, in, bytes, stride);
    break;
  case 4:
    set_elements<uint32_t>(c, in, bytes, stride);
    break;
  default:
    set_elements<uint64_t>(c, in, bytes, stride);
  }
  return Outcome::kNext;
}

Type bits_type(int bytes) {
  return bytes == 1   ? Type::kB8
         : bytes == 2 ? Type::kB16
         : bytes == 4 ? Type::kB32
         : bytes == 8 ? Type::kB64
                      : Type::kB128;
}

void decode_mov(Decoder &d) {
  const Type type = d.take_type();
  d.expect_operands(2, 2);
  if (type == Type::kPred) {
    d.out.execute = move_predicate;
    d.result(0, type);
    return d.value(1, type);
  }
  const ptx::Operand &to = d.operand(0), &from = d.operand(1);
  const bool unpacks = to.kind == ptx::Operand::Kind::kVector,
             packs = from.kind == ptx::Operand::Kind::kVector;
  if (unpacks || packs) {
    const size_t count = unpacks ? to.elements.size() : from.elements.size();
    const int bytes = ptx::bytes_of(type);
    if (unpacks == packs || (count != 2 && count != 4) || bytes % int(count))
      return d.invalid("'mov' between a .", spelling(type), " and a vector of ", count, " elements");
    d.out.element_bytes = uint8_t(bytes / int(count));
    d.out.execute = unpacks ? unpack_elements : pack;
    if (unpacks) {
      d.result_vector(0, bits_type(d.out.element_bytes), int(count));
      d.value(1, type);
    } else {
      d.result(0, type);
      d.value_vector(1, bits_type(d.out.element_bytes), int(count));
    }
    return;
  }
  switch (ptx::bytes_of(type)) {
  case 1:
    d.out.execute = move<uint8_t>;
    break;
  case 2:
    d.out.execute = move<uint16_t>;
    break;
  case 4:
    d.out.execute = move<uint32_t>;
    break;
  case 8:
    d.out.execute = move<uint64_t>;
    break;
  case 16:
    d.out.execute = move<Bits128>;
    break;
  }
  d.result(0, type);
  d.value(1, type);
}

uint64_t window_of(Space space) {
  return space == Space::kShared  ? kSharedWindow
         : space == Space::kLocal ? kLocalWindow
         : space == Space::kParam ? kParamWindow
                                  : 0;
}

// cvta adds the window's address, cvta.to takes it away. variant: the window; offset: -1 for cvta.to.
Outcome convert_address(Context &c, const Instruction &in) {
  uint64_t room[kLanes], result[kLanes];
  const uint64_t *a = c.lanes(in.operands[1], room);
  for (int i = 0; i < kLanes; ++i)
    result[i] = in.offset < 0 ? a[i] - in.variant : a[i] + in.variant;
  c.set(in.operands[0], result);
  return Outcome::kNext;
}

void decode_cvta(Decoder &d) {
  d.out.offset = d.take("to") ? -1 : 0;
  Space space = d.take_space();
  if (d.take("shared::cluster")) // a cluster is one block here
    space = Space::kShared;
  const Type type = d.take_type();
  d.expect_operands(2, 2);
  if (space == Space::kGeneric || type != Type::kU64)
    d.invalid("'cvta' needs a space and .u64");
  if (space == Space::kParam && !d.function.is_kernel()) // a function's parameters lie in local memory
    space = Space::kLocal;
  d.out.variant = window_of(space);
  d.out.execute = convert_address;
  d.result(0, type);
  d.value(1, type);
}

Outcome is_in_space(Context &c, const Instruction &in) {
  uint64_t room[kLanes];
  const uint64_t *a = c.lanes(in.operands[1], room);
  LaneMask result = 0;
  for (int i = 0; i < kLanes; ++i) {
    const uint64_t window = a[i] & ~(kWindowBytes - 1);
    const bool other = window == kSharedWindow || window == kLocalWindow || window == kParamWindow;
    bool is = in.variant ? window == in.variant : !other;
    if (!in.variant && is && in.offset) { // .const: which allocations are read-only
      is = false;
      for (const auto &allocation : *c.allocations())
        is |= allocation->read_only && a[i] - allocation->address < allocation->bytes;
    }
    result |= LaneMask(is) << i;
  }
  c.set_predicate(in.operands[0], result);
  return Outcome::kNext;
}

void decode_isspacep(Decoder &d) {
  Space space = d.take_space();
  if (d.take("shared::cluster"))
    space = Space::kShared;
  d.expect_operands(2, 2);
  if (space == Space::kGeneric)
    d.invalid("'isspacep' needs a space");
  d.out.variant = window_of(space);
  d.out.offset = space == Space::kConst;
  d.out.execute = is_in_space;
  d.result(0, Type::kPred);
  d.value(1, Type::kB64);
}

// mapa: the address of another block's shared memory; in clusters of one block, its own.
Outcome map_address(Context &c, const Instruction &in) {
  uint32_t rank_room[kLanes];
  const uint32_t *rank = c.lanes(in.operands[2], rank_room);
  int bad = -1;
  for_each_lane(c.mask, [&](int i) { bad = rank[i] ? i : bad; });
  if (bad >= 0)
    return c.fault(in, bad, "mapa to block ", rank[bad], " of a cluster of one block");
  uint64_t room[kLanes];
  c.set(in.operands[0], c.lanes(in.operands[1], room));
  return Outcome::kNext;
}
Outcome map_address_32(Context &c, const Instruction &in) {
  uint32_t room[kLanes];
  c.set(in.operands[0], c.lanes(in.operands[1], room));
  return Outcome::kNext;
}
void decode_mapa(Decoder &d) {
  d.take("shared::cluster");
  const Type type = d.take_type();
  d.expect_operands(3, 3);
  d.out.execute = ptx::bytes_of(type) == 8 ? map_address : map_address_32;
  d.result(0, type);
  d.value(1, type);
  d.value(2, Type::kB32);
}
Outcome cluster_rank(Context &c, const Instruction &in) {
  const uint32_t zero[kLanes] = {};
  c.set(in.operands[0], zero);
  return Outcome::kNext;
}
void decode_getctarank(Decoder &d) {
  d.take("shared::cluster");
  const Type type = d.take_type();
  d.expect_operands(2, 2);
  d.out.execute = cluster_rank;
  d.result(0, Type::kB32);
  d.value(1, type);
}

constexpr InstructionFamily kTable[] = {
    {"mov", InstructionClass::kMove, decode_mov},
    {"cvta", InstructionClass::kMove, decode_cvta},
    {"isspacep", InstructionClass::kMove, decode_isspacep},
    {"mapa", InstructionClass::kMove, decode_mapa},
    {"getctarank", InstructionClass::kMove, decode_getctarank},
};

} // namespace

std::span<const InstructionFamily> move_instructions() { return kTable; }

} // namespace quaver::sim
