//===- warp.cpp - exchange between the lanes of a warp ----------------------===//
// PTX ISA 9.0, sections 9.7.9.6 (shfl), 9.7.13.8 to 9.7.13.12 (vote, match, activemask, redux, elect). The
// scheduler has seen to it that the context's lanes are a whole member set: all members that have not exited.
//
#include "runtime/drivers/sim/machine/instructions/instruction_groups.h"
#include "runtime/drivers/sim/machine/instructions/lanewise.h"

namespace quaver::sim {
namespace {

using ptx::Type;

constexpr uint32_t kPoison = 0xa5a5a5a5; // a value that the ISA does not define

enum ShuffleMode : uint64_t { kUp, kDown, kButterfly, kIndex };

Outcome shuffle(Context &c, const Instruction &in) {
  uint32_t ra[kLanes], rb[kLanes], rc[kLanes], result[kLanes] = {};
  const Operand *sources = in.operands + in.results;
  const uint32_t *a = c.lanes(sources[0], ra), *b = c.lanes(sources[1], rb), *clamp = c.lanes(sources[2], rc);
  LaneMask in_range = 0;
  int absent = -1, reader = -1;
  for_each_lane(c.mask, [&](int lane) {
    const int distance = int(b[lane] & 31), bound = int(clamp[lane] & 31),
              segments = int(clamp[lane] >> 8 & 31);
    const int last = (lane & segments) | (bound & ~segments), first = lane & segments;
    int from = lane;
    bool valid = false;
    switch (in.variant) {
    case kUp:
      from = lane - distance;
      valid = from >= last;
      break;
    case kDown:
      from = lane + distance;
      valid = from <= last;
      break;
    case kButterfly:
      from = lane ^ distance;
      valid = from <= last;
      break;
    default:
      from = first | (distance & ~segments);
      valid = from <= last;
    }
    if (!valid)
      from = lane;
    in_range |= LaneMask(valid) << lane;
    if (c.mask >> from & 1) {
      result[lane] = a[from];
    } else {
      result[lane] = kPoison;
      absent = from;
      reader = lane;
    }
  });
  if (absent >= 0)
    c.note(in, str_cat("lane ", reader, " reads lane ", absent,
                       ", which does not take part: its value is undefined"));
  c.set(in.operands[0], result);
  if (in.results == 2)
    c.set_predicate(in.operands[1], in_range);
  return Outcome::kNext;
}

// The last operand of a collective is its member mask.
void members(Decoder &d, size_t i, int operand_index) {
  d.value(i, Type::kB32);
  d.out.convergence = Convergence::kMembers;
  d.out.members = uint16_t(operand_index);
}

void need_sync(Decoder &d) {
  if (!d.take("sync"))
    d.unsupported("'", d.source.opcode, "' without .sync is not for sm_70 and later");
}

void decode_shfl(Decoder &d) {
  need_sync(d);
  const int mode = d.take_one({"up", "down", "bfly", "idx"});
  if (mode < 0 || d.take_type() != Type::kB32)
    d.invalid("'shfl.sync' needs .up, .down, .bfly or .idx and .b32");
  d.expect_operands(5, 5);
  d.out.variant = uint64_t(mode);
  d.out.execute = shuffle;
  const ptx::Operand &to = d.operand(0);
  if (to.kind == ptx::Operand::Kind::kPair) {
    d.result(to.elements[0], Type::kB32);
    d.result(to.elements[1], Type::kPred);
  } else {
    d.result(to, Type::kB32);
  }
  for (size_t i = 1; i < 4; ++i)
    d.value(i, Type::kB32);
  members(d, 4, d.out.results + 3);
}

void set_all(Context &c, const Operand &to, uint32_t value) {
  uint32_t result[kLanes];
  for (uint32_t &r : result)
    r = value;
  c.set(to, result);
}

Outcome vote(Context &c, const Instruction &in) {
  const LaneMask p = c.predicate(in.operands[1]) & c.mask;
  bool r = false;
  switch (in.variant) {
  case 0:
    r = p == c.mask;
    break;
  case 1:
    r = p != 0;
    break;
  case 2:
    r = p == 0 || p == c.mask;
    break;
  default:
    set_all(c, in.operands[0], p);
    return Outcome::kNext;
  }
  c.set_predicate(in.operands[0], r ? kAllLanes : 0);
  return Outcome::kNext;
}
void decode_vote(Decoder &d) {
  need_sync(d);
  const int mode = d.take_one({"all", "any", "uni", "ballot"});
  const Type type = d.take_type();
  if (mode < 0 || type != (mode == 3 ? Type::kB32 : Type::kPred))
    d.invalid("'vote.sync' needs .all.pred, .any.pred, .uni.pred or .ballot.b32");
  d.expect_operands(3, 3);
  d.out.variant = uint64_t(mode);
  d.out.execute = vote;
  d.result(0, type);
  d.value(1, Type::kPred);
  members(d, 2, 2);
}

// match.any: who has my value. match.all: everybody, if all have it.
template <class T, bool kAll> Outcome match(Context &c, const Instruction &in) {
  T room[kLanes];
  const T *a = c.lanes(in.operands[in.results], room);
  uint32_t result[kLanes] = {};
  bool all = true;
  for_each_lane(c.mask, [&](int i) {
    for_each_lane(c.mask, [&](int j) { result[i] |= LaneMask(a[j] == a[i]) << j; });
    all &= result[i] == c.mask;
  });
  if (kAll && !all)
    for (uint32_t &r : result)
      r = 0;
  c.set(in.operands[0], result);
  if (in.results == 2)
    c.set_predicate(in.operands[1], all ? kAllLanes : 0);
  return Outcome::kNext;
}
void decode_match(Decoder &d) {
  const int mode = d.take_one({"any", "all"});
  need_sync(d);
  const Type type = d.take_type();
  if (mode < 0 || (type != Type::kB32 && type != Type::kB64))
    d.invalid("'match' needs .any or .all, .sync, and .b32 or .b64");
  d.expect_operands(3, 3);
  const bool wide = type == Type::kB64;
  d.out.execute = mode == 1 ? (wide ? match<uint64_t, true> : match<uint32_t, true>)
                            : (wide ? match<uint64_t, false> : match<uint32_t, false>);
  const ptx::Operand &to = d.operand(0);
  if (to.kind == ptx::Operand::Kind::kPair) {
    d.result(to.elements[0], Type::kB32);
    d.result(to.elements[1], Type::kPred);
  } else {
    d.result(to, Type::kB32);
  }
  d.value(1, type);
  members(d, 2, d.out.results + 1);
}

Outcome active_mask(Context &c, const Instruction &in) {
  set_all(c, in.operands[0], c.mask);
  return Outcome::kNext;
}
void decode_activemask(Decoder &d) {
  if (d.take_type() != Type::kB32)
    d.invalid("'activemask' needs .b32");
  d.expect_operands(1, 1);
  d.out.execute = active_mask;
  d.result(0, Type::kB32);
}

template <class T> Outcome reduce(Context &c, const Instruction &in) {
  T room[kLanes], result[kLanes];
  const T *a = c.lanes(in.operands[1], room);
  bool first = true;
  T r = 0;
  for_each_lane(c.mask, [&](int i) {
    const T x = a[i];
    if (first)
      r = x;
    else
      switch (in.variant) {
      case 0:
        r = T(uint32_t(r) + uint32_t(x));
        break;
      case 1:
        r = std::min(r, x);
        break;
      case 2:
        r = std::max(r, x);
        break;
      case 3:
        r &= x;
        break;
      case 4:
        r |= x;
        break;
      default:
        r ^= x;
      }
    first = false;
  });
  for (T &x : result)
    x = r;
  c.set(in.operands[0], result);
  return Outcome::kNext;
}
void decode_redux(Decoder &d) {
  need_sync(d);
  const int op = d.take_one({"add", "min", "max", "and", "or", "xor"});
  const Type type = d.take_type();
  if (op < 0 || ptx::bytes_of(type) != 4 || is_float(type))
    d.unsupported("'redux.sync' of .", spelling(type),
                  "; there are .add .min .max of .u32 and .s32, .and .or .xor of .b32");
  d.expect_operands(3, 3);
  d.out.variant = uint64_t(op);
  d.out.execute = type == Type::kS32 ? &reduce<int32_t> : &reduce<uint32_t>;
  d.result(0, Type::kB32);
  d.value(1, Type::kB32);
  members(d, 2, 2);
}

// One lane of the members, always the lowest.
Outcome elect(Context &c, const Instruction &in) {
  const int leader = __builtin_ctz(c.mask);
  set_all(c, in.operands[0], uint32_t(leader));
  c.set_predicate(in.operands[1], LaneMask{1} << leader);
  return Outcome::kNext;
}
void decode_elect(Decoder &d) {
  need_sync(d);
  d.expect_operands(2, 2);
  const ptx::Operand &to = d.operand(0);
  if (to.kind != ptx::Operand::Kind::kPair)
    return d.invalid("'elect.sync' has results d|p");
  d.out.execute = elect;
  d.result(to.elements[0], Type::kB32);
  d.result(to.elements[1], Type::kPred);
  members(d, 1, 2);
}

constexpr InstructionFamily kTable[] = {
    {"shfl", InstructionClass::kWarp, decode_shfl},
    {"vote", InstructionClass::kWarp, decode_vote},
    {"match", InstructionClass::kWarp, decode_match},
    {"activemask", InstructionClass::kWarp, decode_activemask},
    {"redux", InstructionClass::kWarp, decode_redux},
    {"elect", InstructionClass::kWarp, decode_elect},
};

} // namespace

std::span<const InstructionFamily> warp_instructions() { return kTable; }

} // namespace quaver::sim
