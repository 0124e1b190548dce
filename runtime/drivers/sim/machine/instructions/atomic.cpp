//===- atomic.cpp - atom and red --------------------------------------------===//
// PTX ISA 9.0, sections 9.7.13.6 and 9.7.13.7. Lanes follow each other in ascending order. Blocks run on
// several threads, hence compare-and-swap on the host's memory.
//
#include "runtime/drivers/sim/machine/instructions/float_rules.h"
#include "runtime/drivers/sim/machine/instructions/half_lanes.h"
#include "runtime/drivers/sim/machine/instructions/instruction_groups.h"
#include "runtime/drivers/sim/machine/instructions/lanewise.h"
#include "runtime/drivers/sim/machine/instructions/memory_order.h"
#include "runtime/drivers/sim/machine/observe.h"
#include "runtime/drivers/sim/machine/scheduler.h"

#include <mutex>

namespace quaver::sim {
namespace {

using ptx::Space;
using ptx::Type;

enum Operation : int {
  kAnd,
  kOr,
  kXor,
  kExchange,
  kAdd,
  kIncrement,
  kDecrement,
  kMinimum,
  kMaximum,
  kCompareAndSwap
};

// New value of memory that holds `old`. Bits is the storage, T the type of the arithmetic.
template <class T> T integer_result(int op, T old, T b) {
  using U = std::make_unsigned_t<T>;
  switch (op) {
  case kAnd:
    return T(old & b);
  case kOr:
    return T(old | b);
  case kXor:
    return T(old ^ b);
  case kAdd:
    return T(uint64_t(U(old)) + uint64_t(U(b)));
  case kIncrement:
    return U(old) >= U(b) ? T(0) : T(U(old) + 1);
  case kDecrement:
    return old == 0 || U(old) > U(b) ? b : T(U(old) - 1);
  case kMinimum:
    return std::min(old, b);
  case kMaximum:
    return std::max(old, b);
  default:
    return b;
  }
}

template <class T> struct IntegerCell {
  using Bits = std::make_unsigned_t<T>;
  static Bits apply(int op, Bits old, Bits b, bool) { return Bits(integer_result(op, T(old), T(b))); }
};
// add.f32 on global memory flushes subnormals, on shared memory it does not (section 9.7.13.6).
struct FloatCell {
  using Bits = uint32_t;
  static Bits apply(int, Bits old, Bits b, bool is_global) {
    const float x = std::bit_cast<float>(old), y = std::bit_cast<float>(b);
    return std::bit_cast<Bits>(canonical(is_global ? flushed(flushed(x) + flushed(y)) : x + y));
  }
};
struct DoubleCell {
  using Bits = uint64_t;
  static Bits apply(int, Bits old, Bits b, bool) {
    return std::bit_cast<Bits>(canonical(std::bit_cast<double>(old) + std::bit_cast<double>(b)));
  }
};
template <class Half> uint16_t half_result(int op, uint16_t old, uint16_t b) {
  const double x = Half::decode(old), y = Half::decode(b);
  if (op == kAdd)
    return Half::encode(x + y);
  if (x != x || y != y)
    return x != x ? b : old;
  return (op == kMinimum ? x < y : x > y) ? old : b;
}
template <class Half> struct HalfCell {
  using Bits = uint16_t;
  static Bits apply(int op, Bits old, Bits b, bool) { return half_result<Half>(op, old, b); }
};
template <class Half> struct HalfPairCell {
  using Bits = uint32_t;
  static Bits apply(int op, Bits old, Bits b, bool) {
    return half_result<Half>(op, uint16_t(old), uint16_t(b)) |
           uint32_t(half_result<Half>(op, uint16_t(old >> 16), uint16_t(b >> 16))) << 16;
  }
};

bool is_global(Space space, uint64_t address) {
  return space == Space::kGlobal || (space == Space::kGeneric && address >= kParamWindow + kWindowBytes);
}

int operation_of(const Instruction &in) { return int(in.variant >> kMemoryOrderBits); }

template <class Cell> Outcome atomic(Context &c, const Instruction &in) {
  using Bits = typename Cell::Bits;
  const int op = operation_of(in), count = in.elements;
  const bool has_result = in.results > 0;
  uint64_t addresses[kLanes];
  const Operand *sources = in.operands + in.results;
  c.addresses(in, sources[0], addresses);
  Bits old[8][kLanes] = {}, rb[8][kLanes], rc[kLanes];
  const Bits *b[8], *swap = nullptr;
  for (int e = 0; e < count; ++e)
    b[e] = c.lanes(sources[1 + e], rb[e]);
  if (op == kCompareAndSwap)
    swap = c.lanes(sources[2], rc);
  const uint32_t bytes = uint32_t(sizeof(Bits)) * uint32_t(count);
  for (LaneMask left = c.mask; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    std::byte *at = c.access(in, in.space, addresses[i], bytes, bytes, Access::kReadModify, i);
    if (!at)
      return Outcome::kFault;
    for (int e = 0; e < count; ++e) {
      Bits *cell = reinterpret_cast<Bits *>(at) + e;
      Bits seen = __atomic_load_n(cell, __ATOMIC_SEQ_CST);
      for (;;) {
        Bits next;
        if (op == kCompareAndSwap)
          next = seen == b[e][i] ? swap[i] : seen;
        else if (op == kExchange)
          next = b[e][i];
        else
          next = Cell::apply(op, seen, b[e][i], is_global(in.space, addresses[i]));
        if (__atomic_compare_exchange_n(cell, &seen, next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
          break;
      }
      old[e][i] = seen;
    }
  }
  const LaunchOptions &options = c.block.launch.options;
  if (options.counters || options.races)
    if (const Outcome seen = observe_access(c, in, in.space, addresses, bytes, AccessKind::kAtomic);
        seen != Outcome::kNext)
      return seen;
  if (has_result)
    for (int e = 0; e < count; ++e)
      c.set(in.operands[e], old[e]);
  return Outcome::kNext;
}

// atom.{cas,exch}.b128.
Outcome atomic_128(Context &c, const Instruction &in) {
  static std::mutex mutex;
  uint64_t addresses[kLanes];
  const Operand *sources = in.operands + in.results;
  c.addresses(in, sources[0], addresses);
  Bits128 rb[kLanes], rc[kLanes], old[kLanes] = {};
  const bool swaps = operation_of(in) == kCompareAndSwap;
  const Bits128 *b = c.lanes(sources[1], rb), *value = swaps ? c.lanes(sources[2], rc) : b;
  for (LaneMask left = c.mask; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    std::byte *at = c.access(in, in.space, addresses[i], 16, 16, Access::kReadModify, i);
    if (!at)
      return Outcome::kFault;
    std::lock_guard lock(mutex);
    std::memcpy(&old[i], at, 16);
    if (!swaps || std::memcmp(&old[i], &b[i], 16) == 0)
      std::memcpy(at, &value[i], 16);
  }
  if (in.results)
    c.set(in.operands[0], old);
  return Outcome::kNext;
}

Execute handler(Type type, int op) {
  const bool bitwise = op <= kExchange || op == kCompareAndSwap;
  const bool half = op == kAdd || op == kMinimum || op == kMaximum;
  switch (type) {
  case Type::kB16:
    return op == kExchange || op == kCompareAndSwap ? &atomic<IntegerCell<uint16_t>> : nullptr;
  case Type::kB32:
    return bitwise ? &atomic<IntegerCell<uint32_t>> : nullptr;
  case Type::kU32:
    return op >= kExchange ? &atomic<IntegerCell<uint32_t>> : nullptr;
  case Type::kS32:
    return op == kAdd || op == kMinimum || op == kMaximum || op == kExchange || op == kCompareAndSwap
               ? &atomic<IntegerCell<int32_t>>
               : nullptr;
  case Type::kB64:
    return bitwise ? &atomic<IntegerCell<uint64_t>> : nullptr;
  case Type::kU64:
    return op != kIncrement && op != kDecrement && op >= kExchange ? &atomic<IntegerCell<uint64_t>> : nullptr;
  case Type::kS64:
    return op == kMinimum || op == kMaximum || op == kAdd ? &atomic<IntegerCell<int64_t>> : nullptr;
  case Type::kB128:
    return op == kExchange || op == kCompareAndSwap ? &atomic_128 : nullptr;
  case Type::kF32:
    return op == kAdd || op == kExchange ? &atomic<FloatCell> : nullptr;
  case Type::kF64:
    return op == kAdd ? &atomic<DoubleCell> : nullptr;
  case Type::kF16:
    return half ? &atomic<HalfCell<HalfF16>> : nullptr;
  case Type::kBf16:
    return half ? &atomic<HalfCell<HalfBf16>> : nullptr;
  case Type::kF16x2:
    return half ? &atomic<HalfPairCell<HalfF16>> : nullptr;
  case Type::kBf16x2:
    return half ? &atomic<HalfPairCell<HalfBf16>> : nullptr;
  default:
    return nullptr;
  }
}

Type bits_of(Type type) {
  switch (ptx::bytes_of(type)) {
  case 2:
    return Type::kB16;
  case 4:
    return Type::kB32;
  case 8:
    return Type::kB64;
  default:
    return Type::kB128;
  }
}

void decode_atomic(Decoder &d, bool has_result) {
  const uint64_t order = take_memory_order(d);
  d.out.space = d.take_space();
  if (d.take("shared::cluster"))
    d.out.space = Space::kShared;
  const int op = d.take_one({"and", "or", "xor", "exch", "add", "inc", "dec", "min", "max", "cas"});
  d.take("noftz");
  const bool has_policy = d.take("L2::cache_hint");
  d.out.elements = uint8_t(d.take_vector());
  const Type type = d.take_type(), bits = bits_of(type);
  if (op < 0 || (!has_result && (op == kExchange || op == kCompareAndSwap)))
    d.invalid("'", d.source.opcode, "' needs an operation such as .add");
  d.out.execute = handler(type, op);
  if (!d.out.execute)
    d.unsupported("'", d.source.opcode, "' has no such operation on .", spelling(type));
  if (d.out.elements > 1 && (!is_float(type) || op == kExchange || d.out.elements * ptx::bytes_of(type) > 16))
    d.invalid("vectors of atomics are for floats and of at most 16 bytes");
  // Atomics are strong operations, relaxed where nothing else is said.
  d.out.variant = (order | kStrong) | uint64_t(std::max(op, 0)) << kMemoryOrderBits;
  d.out.element_bytes = ptx::bytes_of(type);
  const size_t first = has_result ? 1 : 0, count = first + 2 + (op == kCompareAndSwap) + has_policy;
  d.expect_operands(count, count);
  if (has_result)
    d.result_vector(0, bits, d.out.elements);
  d.address(first);
  d.value_vector(first + 1, bits, d.out.elements);
  if (op == kCompareAndSwap)
    d.value(first + 2, bits);
  if (has_policy)
    d.value(count - 1, Type::kB64);
}
void decode_atom(Decoder &d) { decode_atomic(d, true); }
void decode_red(Decoder &d) { decode_atomic(d, false); }

constexpr InstructionFamily kTable[] = {
    {"atom", InstructionClass::kAtomic, decode_atom},
    {"red", InstructionClass::kAtomic, decode_red},
};

} // namespace

std::span<const InstructionFamily> atomic_instructions() { return kTable; }

} // namespace quaver::sim
