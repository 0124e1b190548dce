//===- mbarrier.cpp - mbarrier.* --------------------------------------------===//
// PTX ISA 9.0, section 9.7.13.15. try_wait waits until the phase is complete; a wait that nobody ends is a
// deadlock of the block. test_wait answers at once.
//
#include "runtime/drivers/sim/machine/instructions/mbarrier.h"

#include "runtime/drivers/sim/machine/instructions/instruction_groups.h"
#include "runtime/drivers/sim/machine/instructions/lanewise.h"
#include "runtime/drivers/sim/machine/instructions/memory_order.h"
#include "runtime/drivers/sim/machine/races.h"
#include "runtime/drivers/sim/machine/scheduler.h"

namespace quaver::sim {
namespace {

using ptx::Space;
using ptx::Type;

constexpr uint32_t kMostArrivals = (1 << 20) - 1;
constexpr int64_t kMostTransactions = (1 << 20) - 1;
constexpr uint64_t kMagic = 0x6d62617272696572; // "mbarrier": what the word of a live object holds

struct Mbarriers {
  std::map<uint32_t, Mbarrier> at; // by address in .shared; nodes stay where they are
};

uint32_t shared_address(uint64_t address) {
  return uint32_t((address & ~(kWindowBytes - 1)) == kSharedWindow ? address - kSharedWindow : address);
}

void complete_if_done(Mbarrier &b) {
  if (b.pending || b.transactions)
    return;
  ++b.phase;
  b.pending = b.expected;
  b.arrived.insert(b.arrived.end(), b.copies.begin(), b.copies.end());
  b.copies.clear();
}

// A token of a phase: its number above the pending count.
uint64_t token(const Mbarrier &b) { return b.phase << 32 | b.pending; }

std::byte *word(Context &c, const Instruction &in, uint64_t address, Access kind, int lane) {
  return c.access(in, in.space, address, 8, 8, kind, lane);
}

enum Operation : uint64_t {
  kInit,
  kInval,
  kArrive,
  kArriveDrop,
  kExpect,
  kComplete,
  kOperationMask = 15,
  kWithTransactions = 16,
  kNoComplete = 32
};

Outcome operate(Context &c, const Instruction &in) {
  uint64_t addresses[kLanes], tokens[kLanes] = {};
  uint32_t room[kLanes];
  c.addresses(in, in.operands[in.results], addresses);
  const uint32_t *counts =
      in.operand_count > in.results + 1 ? c.lanes(in.operands[in.results + 1], room) : nullptr;
  auto &all = c.block.state<Mbarriers>().at;
  const uint64_t operation = in.variant & kOperationMask;
  for (LaneMask left = c.mask; left; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    const uint32_t at = shared_address(addresses[lane]);
    if (operation == kInit) {
      std::byte *object = word(c, in, addresses[lane], Access::kWrite, lane);
      if (!object)
        return Outcome::kFault;
      if (all.count(at))
        return c.fault(in, lane, "the mbarrier is initialized a second time without mbarrier.inval");
      if (counts[lane] == 0 || counts[lane] > kMostArrivals)
        return c.fault(in, lane, "an mbarrier's count of ", counts[lane], " is not between 1 and 2^20 - 1");
      std::memcpy(object, &kMagic, 8);
      all[at] = {counts[lane], counts[lane], 0, 0, {}, {}};
      continue;
    }
    Mbarrier *b = find_mbarrier(c, in, addresses[lane], lane);
    if (!b)
      return Outcome::kFault;
    if (operation == kInval) {
      all.erase(at);
      continue;
    }
    tokens[lane] = token(*b);
    const bool transactions =
        in.variant & kWithTransactions || operation == kExpect || operation == kComplete;
    if (transactions &&
        !add_transactions(c, in, *b, operation == kComplete ? -int64_t{counts[lane]} : int64_t{counts[lane]},
                          lane))
      return Outcome::kFault;
    if (operation == kArrive || operation == kArriveDrop) {
      const uint32_t count = counts && !(in.variant & kWithTransactions) ? counts[lane] : 1;
      if (operation == kArriveDrop)
        b->expected -= std::min(count, b->expected);
      if (in.variant & kNoComplete && count >= b->pending)
        return c.fault(in, lane, "mbarrier.arrive.noComplete completes the phase");
      if (!arrive_at(c, in, *b, count, lane))
        return Outcome::kFault;
    }
  }
  if (in.results)
    c.set(in.operands[0], tokens);
  return Outcome::kNext;
}

constexpr uint64_t kParity = 1, kMayWait = 2;

Outcome wait(Context &c, const Instruction &in) {
  uint64_t addresses[kLanes], token_room[kLanes];
  uint32_t parity_room[kLanes];
  c.addresses(in, in.operands[1], addresses);
  const uint64_t *tokens = in.variant & kParity ? nullptr : c.lanes(in.operands[2], token_room);
  const uint32_t *parities = in.variant & kParity ? c.lanes(in.operands[2], parity_room) : nullptr;
  LaneMask complete = 0;
  for (LaneMask left = c.mask; left; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    Mbarrier *b = find_mbarrier(c, in, addresses[lane], lane);
    if (!b)
      return Outcome::kFault;
    bool done;
    if (parities) {
      if (parities[lane] > 1)
        return c.fault(in, lane, "a phase's parity of ", parities[lane], " is not 0 or 1");
      done = (b->phase & 1) != parities[lane];
    } else {
      const uint64_t phase = tokens[lane] >> 32;
      if (phase != b->phase && phase + 1 != b->phase)
        return c.fault(in, lane, "the token is of phase ", phase, " of the mbarrier, which is in phase ",
                       b->phase, "; only the current and the preceding one can be waited for");
      done = phase != b->phase;
    }
    complete |= LaneMask(done) << lane;
  }
  if (complete != c.mask && in.variant & kMayWait)
    return Outcome::kRetry;
  for_each_lane(complete, [&](int lane) {
    Mbarrier &b = *find_mbarrier(c, in, addresses[lane], lane);
    finish(b.arrived);
    b.arrived.clear();
    if (RaceDetector *races = c.block.launch.races)
      races->leave(c.warp, &b, b.phase - 1);
  });
  c.set_predicate(in.operands[0], complete);
  return Outcome::kNext;
}

Outcome pending_count(Context &c, const Instruction &in) {
  uint64_t room[kLanes];
  uint32_t result[kLanes];
  const uint64_t *tokens = c.lanes(in.operands[1], room);
  for (int i = 0; i < kLanes; ++i)
    result[i] = uint32_t(tokens[i]);
  c.set(in.operands[0], result);
  return Outcome::kNext;
}

void take_shared(Decoder &d) {
  d.out.space = d.take_space();
  if (d.take("shared::cluster"))
    d.out.space = Space::kShared;
  if (d.out.space != Space::kGeneric && d.out.space != Space::kShared)
    d.invalid("an mbarrier lies in shared memory");
}

void decode_wait(Decoder &d, bool may_wait) {
  const bool parity = d.take("parity");
  d.out.variant = (parity ? kParity : 0) | (may_wait ? kMayWait : 0);
  d.expect_operands(3, may_wait ? 4 : 3);
  d.out.execute = wait;
  d.result(0, Type::kPred);
  d.address(1);
  d.value(2, parity ? Type::kB32 : Type::kB64);
  if (d.given() == 4) // a limit of time, which does not pass here
    d.value(3, Type::kB32);
}

void decode_mbarrier(Decoder &d) {
  const int what = d.take_one({"init", "inval", "arrive", "arrive_drop", "expect_tx", "complete_tx",
                               "test_wait", "try_wait", "pending_count"});
  take_memory_order(d);
  if (what < 0)
    return d.invalid("'mbarrier' needs an operation such as .init");
  if (what == 8) {
    d.take("b64");
    d.expect_operands(2, 2);
    d.out.execute = pending_count;
    d.result(0, Type::kB32);
    return d.value(1, Type::kB64);
  }
  take_shared(d);
  uint64_t variant = uint64_t(what);
  if (what == 2 || what == 3) {
    variant |= d.take("expect_tx") ? uint64_t{kWithTransactions} : 0;
    variant |= d.take("noComplete") ? uint64_t{kNoComplete} : 0;
  }
  if (!d.take("b64"))
    d.invalid("'mbarrier' needs .b64");
  if (what >= 6)
    return decode_wait(d, what == 7);
  d.out.variant = variant;
  d.out.execute = operate;
  const bool has_result = what == 2 || what == 3;
  // A token may be left out of `mbarrier.arrive` on another block's barrier.
  const bool written = has_result && d.given() > 0 && d.operand(0).kind != ptx::Operand::Kind::kAddress;
  if (written)
    d.result(0, Type::kB64);
  const size_t first = written ? 1 : 0;
  const bool needs_count = what == 0 || what >= 4 || variant & (kWithTransactions | kNoComplete);
  d.expect_operands(first + 1 + needs_count, first + (what == 1 ? 1 : 2));
  d.address(first);
  if (d.given() > first + 1)
    d.value(first + 1, Type::kB32);
}

constexpr InstructionFamily kTable[] = {
    {"mbarrier", InstructionClass::kBarrier, decode_mbarrier},
};

} // namespace

Mbarrier *find_mbarrier(Context &c, const Instruction &in, uint64_t address, int lane) {
  const std::byte *object =
      c.access(in, (address & ~(kWindowBytes - 1)) == kSharedWindow ? Space::kGeneric : Space::kShared,
               address, 8, 8, Access::kReadAny, lane);
  if (!object)
    return nullptr;
  auto &all = c.block.state<Mbarriers>().at;
  auto found = all.find(shared_address(address));
  if (found == all.end()) {
    c.fault(in, lane, "the mbarrier at 0x", std::hex, shared_address(address), " was not initialized");
    return nullptr;
  }
  if (std::memcmp(object, &kMagic, 8) != 0) {
    c.fault(in, lane, "the mbarrier at 0x", std::hex, shared_address(address),
            " was overwritten by an ordinary store or copy");
    return nullptr;
  }
  return &found->second;
}

bool arrive_at(Context &c, const Instruction &in, Mbarrier &b, uint32_t count, int lane) {
  if (count == 0 || count > b.pending) {
    c.fault(in, lane, count, " arrivals at an mbarrier whose phase waits for ", b.pending, " of ",
            b.expected);
    return false;
  }
  if (RaceDetector *races = c.block.launch.races)
    races->arrive(c.warp, &b, b.phase);
  b.pending -= count;
  complete_if_done(b);
  return true;
}

bool add_transactions(Context &c, const Instruction &in, Mbarrier &b, int64_t bytes, int lane) {
  b.transactions += bytes;
  if (b.transactions > kMostTransactions || b.transactions < -kMostTransactions) {
    c.fault(in, lane, "the mbarrier expects ", b.transactions, " bytes; the limit is 2^20 - 1");
    return false;
  }
  // An expectation alone never ends a phase: the arrival that follows it does.
  if (bytes < 0) {
    if (RaceDetector *races = c.block.launch.races)
      races->arrive(c.warp, &b, b.phase); // what the copy has written comes with its bytes
    complete_if_done(b);
  }
  return true;
}

std::span<const InstructionFamily> mbarrier_instructions() { return kTable; }

} // namespace quaver::sim
