//===- load_store.cpp - ld, st and cache hints ------------------------------===//
// PTX ISA 9.0, sections 9.7.9.8 to 9.7.9.17. Memory is sequentially consistent here: .relaxed, .acquire,
// .release, .volatile and scopes change nothing but what the race detector takes for synchronisation.
//
#include "runtime/drivers/sim/machine/function_builder.h"
#include "runtime/drivers/sim/machine/instructions/instruction_groups.h"
#include "runtime/drivers/sim/machine/instructions/lanewise.h"
#include "runtime/drivers/sim/machine/instructions/memory_order.h"
#include "runtime/drivers/sim/machine/observe.h"
#include "runtime/drivers/sim/machine/scheduler.h"

#include <algorithm>

namespace quaver::sim {
namespace {

using ptx::Space;
using ptx::Type;

constexpr uint32_t kMaxAccess = 32; // bytes of a lane: .v8.b32
// ld.param of a function's parameter or result: compilers pass structures whole, padding that nobody wrote
// too.
constexpr uint64_t kOfParameter = uint64_t{1} << kMemoryOrderBits;

// Do the lanes of a full warp touch one row of memory, each the piece after its neighbour's?
bool is_row(const uint64_t addresses[kLanes], uint32_t bytes) {
  uint64_t differs = 0;
  for (int i = 0; i < kLanes; ++i)
    differs |= addresses[i] ^ (addresses[0] + uint64_t(i) * bytes);
  return differs == 0;
}

Outcome observe(Context &c, const Instruction &in, const uint64_t addresses[kLanes], uint32_t bytes,
                AccessKind kind) {
  const LaunchOptions &options = c.block.launch.options;
  return options.counters || options.races ? observe_access(c, in, in.space, addresses, bytes, kind)
                                           : Outcome::kNext;
}

// Bytes of every lane's access into `raw`, lane after lane. False: a fault.
bool read_lanes(Context &c, const Instruction &in, const uint64_t addresses[kLanes], uint32_t bytes,
                std::byte *raw) {
  if (c.mask == kAllLanes && in.space != Space::kLocal && is_row(addresses, bytes))
    if (const std::byte *row = c.try_access(in.space, addresses[0], bytes * kLanes, bytes, Access::kRead)) {
      std::memcpy(raw, row, size_t(bytes) * kLanes);
      return true;
    }
  const std::byte *last = nullptr; // lanes often read one place
  uint64_t last_address = 0;
  for (LaneMask left = c.mask; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    if (!last || addresses[i] != last_address || in.space == Space::kLocal || in.space == Space::kGeneric) {
      last = c.access(in, in.space, addresses[i], bytes, bytes,
                      in.variant & kOfParameter ? Access::kReadAny : Access::kRead, i);
      last_address = addresses[i];
      if (!last)
        return false;
    }
    std::memcpy(raw + size_t(i) * bytes, last, bytes);
  }
  return true;
}

template <class T> Outcome load(Context &c, const Instruction &in) {
  alignas(64) std::byte raw[kLanes * kMaxAccess];
  uint64_t addresses[kLanes];
  c.addresses(in, in.operands[in.results], addresses);
  const uint32_t bytes = uint32_t(sizeof(T)) * in.elements;
  if (!read_lanes(c, in, addresses, bytes, raw))
    return Outcome::kFault;
  if (const Outcome seen = observe(c, in, addresses, bytes, AccessKind::kLoad); seen != Outcome::kNext)
    return seen;
  if (in.elements == 1) {
    c.set(in.operands[0], reinterpret_cast<const T *>(raw));
    return Outcome::kNext;
  }
  T element[kLanes];
  for (int e = 0; e < in.elements; ++e) {
    for (int i = 0; i < kLanes; ++i)
      std::memcpy(&element[i], raw + size_t(i) * bytes + size_t(e) * sizeof(T), sizeof(T));
    c.set(in.operands[e], element);
  }
  return Outcome::kNext;
}

template <class T> Outcome store(Context &c, const Instruction &in) {
  alignas(64) std::byte raw[kLanes * kMaxAccess];
  uint64_t addresses[kLanes];
  c.addresses(in, in.operands[0], addresses);
  const uint32_t bytes = uint32_t(sizeof(T)) * in.elements;
  for (int e = 0; e < in.elements; ++e) {
    T room[kLanes];
    const T *lanes = c.lanes(in.operands[1 + e], room);
    for (int i = 0; i < kLanes; ++i)
      std::memcpy(raw + size_t(i) * bytes + size_t(e) * sizeof(T), &lanes[i], sizeof(T));
  }
  if (c.mask == kAllLanes && in.space != Space::kLocal && is_row(addresses, bytes))
    if (std::byte *row = c.try_access(in.space, addresses[0], bytes * kLanes, bytes, Access::kWrite)) {
      std::memcpy(row, raw, size_t(bytes) * kLanes);
      return observe(c, in, addresses, bytes, AccessKind::kStore);
    }
  for (LaneMask left = c.mask; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    std::byte *to = c.access(in, in.space, addresses[i], bytes, bytes, Access::kWrite, i);
    if (!to)
      return Outcome::kFault;
    std::memcpy(to, raw + size_t(i) * bytes, bytes);
  }
  return observe(c, in, addresses, bytes, AccessKind::kStore);
}

// Modifiers that only tell the caches something.
void take_cache_hints(Decoder &d) {
  static constexpr std::string_view kHints[] = {"ca",
                                                "cg",
                                                "cs",
                                                "lu",
                                                "cv",
                                                "wb",
                                                "wt",
                                                "unified",
                                                "L1::evict_normal",
                                                "L1::evict_unchanged",
                                                "L1::evict_first",
                                                "L1::evict_last",
                                                "L1::no_allocate",
                                                "L2::evict_normal",
                                                "L2::evict_first",
                                                "L2::evict_last",
                                                "L2::64B",
                                                "L2::128B",
                                                "L2::256B"};
  for (std::string_view hint : kHints)
    d.take(hint);
}

// The space of an access: function parameters lie in local memory, kernel parameters in .param.
Space resolve_space(Decoder &d, size_t address) {
  Space space = d.take_space();
  if (d.take("shared::cluster"))
    space = Space::kShared;
  if (space != Space::kParam)
    return space;
  const ptx::Operand &o = d.operand(address);
  const Name *name = o.kind == ptx::Operand::Kind::kAddress && o.elements[0].kind == ptx::Operand::Kind::kName
                         ? d.function.find(o.elements[0].name)
                         : nullptr;
  const bool local = name && name->kind == Name::Kind::kLocal;
  return local || (!d.function.is_kernel() && (!name || name->kind == Name::Kind::kRegister)) ? Space::kLocal
                                                                                              : Space::kParam;
}

template <class F> void with_element(Decoder &d, Type type, F &&f) {
  switch (ptx::bytes_of(type)) {
  case 1:
    return ptx::is_signed(type) ? f(int8_t{}) : f(uint8_t{});
  case 2:
    return ptx::is_signed(type) ? f(int16_t{}) : f(uint16_t{});
  case 4:
    return ptx::is_signed(type) ? f(int32_t{}) : f(uint32_t{});
  case 8:
    return f(uint64_t{});
  case 16:
    return f(Bits128{});
  default:
    d.unsupported("'.", spelling(type), "' is no type of '", d.source.opcode, "'");
  }
}

// The width of what lies in memory; registers may be wider.
Type memory_bits(Type type) {
  constexpr Type kBits[] = {Type::kB8, Type::kB16, Type::kB32, Type::kB64, Type::kB128};
  for (Type bits : kBits)
    if (ptx::bytes_of(bits) == ptx::bytes_of(type))
      return bits;
  return type;
}

void decode_access(Decoder &d, bool is_load) {
  take_cache_hints(d);
  const bool has_policy = d.take("L2::cache_hint");
  d.take("nc");
  const bool of_parameter = std::ranges::find(d.left(), "param") != d.left().end();
  d.out.space = resolve_space(d, is_load ? 1 : 0);
  d.out.variant = take_memory_order(d) | (of_parameter && d.out.space == Space::kLocal ? kOfParameter : 0);
  d.out.elements = uint8_t(d.take_vector());
  const Type type = d.take_type(), bits = memory_bits(type);
  d.expect_operands(2 + has_policy, 2 + has_policy);
  d.out.element_bytes = ptx::bytes_of(type);
  if (d.out.element_bytes * d.out.elements > int(kMaxAccess))
    d.invalid("a vector of more than ", kMaxAccess, " bytes");
  with_element(d, type, [&](auto t) { d.out.execute = is_load ? &load<decltype(t)> : &store<decltype(t)>; });
  if (is_load) {
    d.result_vector(0, bits, d.out.elements);
    d.address(1);
  } else {
    d.address(0);
    d.value_vector(1, bits, d.out.elements);
  }
  if (has_policy)
    d.value(2, Type::kB64);
  if (!is_load && (d.out.space == Space::kConst || d.out.space == Space::kParam))
    d.invalid("'st.", spelling(d.out.space), "': this space can only be read");
}
void decode_ld(Decoder &d) { decode_access(d, true); }
void decode_st(Decoder &d) { decode_access(d, false); }

// Hints: nothing to do, but the operands must be right.
Outcome nothing(Context &, const Instruction &) { return Outcome::kNext; }
void decode_hint(Decoder &d) {
  take_cache_hints(d);
  d.take("L1");
  d.take("L2");
  d.take("tensormap");
  d.out.space = d.take_space();
  d.out.execute = nothing;
  d.expect_operands(1, 2);
  d.address(0);
  if (d.given() == 2)
    d.constant(1, 0, 1 << 30);
}

// A cache policy is an opaque 64-bit value; here it is 0.
Outcome make_policy(Context &c, const Instruction &in) {
  const uint64_t zero[kLanes] = {};
  c.set(in.operands[0], zero);
  return Outcome::kNext;
}
void decode_createpolicy(Decoder &d) {
  while (!d.left().empty())
    d.take(d.left().front());
  d.out.execute = make_policy;
  d.expect_operands(1, 4);
  d.result(0, Type::kB64);
}

constexpr InstructionFamily kTable[] = {
    {"ld", InstructionClass::kLoad, decode_ld},
    {"ldu", InstructionClass::kLoad, decode_ld},
    {"st", InstructionClass::kStore, decode_st},
    {"prefetch", InstructionClass::kLoad, decode_hint},
    {"prefetchu", InstructionClass::kLoad, decode_hint},
    {"applypriority", InstructionClass::kLoad, decode_hint},
    {"discard", InstructionClass::kLoad, decode_hint},
    {"createpolicy", InstructionClass::kMove, decode_createpolicy},
};

} // namespace

std::span<const InstructionFamily> load_store_instructions() { return kTable; }

} // namespace quaver::sim
