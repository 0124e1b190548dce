//===- barrier.cpp - barriers and fences ------------------------------------===//
// PTX ISA 9.0, sections 9.7.13.1 to 9.7.13.4. A warp arrives at a barrier as a whole: its lanes that have not
// exited must all reach the same instruction; of an .aligned barrier that is all threads of the warp. Warps
// that have exited are not waited for by barriers of the whole block, as the ISA says ("non-exited threads");
// barriers with a thread count wait for that many.
//
#include "runtime/drivers/sim/machine/convergence.h"
#include "runtime/drivers/sim/machine/instructions/instruction_groups.h"
#include "runtime/drivers/sim/machine/instructions/lanewise.h"
#include "runtime/drivers/sim/machine/instructions/memory_order.h"
#include "runtime/drivers/sim/machine/races.h"
#include "runtime/drivers/sim/machine/scheduler.h"

namespace quaver::sim {
namespace {

using ptx::Type;

enum : uint64_t { kSync, kArrive, kRedAnd, kRedOr, kRedPopc, kKindMask = 7, kHasCount = 8, kAligned = 16 };

bool is_reduction(const Instruction &in) { return (in.variant & kKindMask) >= kRedAnd; }

uint32_t uniform(Context &c, const Operand &o, bool &is_uniform) {
  uint32_t room[kLanes];
  const uint32_t *lanes = c.lanes(o, room);
  const uint32_t first = lanes[__builtin_ctz(c.mask)];
  for_each_lane(c.mask, [&](int i) { is_uniform &= lanes[i] == first; });
  return first;
}

// Threads that the phase needs: the count, or all warps that have not exited.
uint32_t needed(const Block &block, const BarrierState &barrier) {
  if (barrier.expected)
    return barrier.expected;
  uint32_t warps = 0;
  for (const Warp &w : block.warps)
    warps += w.live != 0;
  return warps * kLanes;
}

void end_phase(BarrierState &b) {
  ++b.phase;
  b.last_all = b.reduce_all;
  b.last_any = b.reduce_any;
  b.last_count = b.reduce_count;
  b.expected = b.arrived = 0;
  b.reduce_all = 1;
  b.reduce_any = b.reduce_count = 0;
  b.first = nullptr;
}

Outcome finish(Context &c, const Instruction &in, const BarrierState &b) {
  c.group->arrived = false;
  if (RaceDetector *races = c.block.launch.races)
    races->leave(c.warp, &b, c.group->ticket);
  const uint64_t kind = in.variant & kKindMask;
  if (kind == kRedPopc) {
    uint32_t result[kLanes];
    for (uint32_t &r : result)
      r = b.last_count;
    c.set(in.operands[0], result);
  } else if (is_reduction(in)) {
    c.set_predicate(in.operands[0], (kind == kRedAnd ? b.last_all : b.last_any) ? kAllLanes : 0);
  }
  return Outcome::kNext;
}

Outcome barrier(Context &c, const Instruction &in) {
  bool is_uniform = true;
  const uint32_t id = uniform(c, in.operands[in.results], is_uniform);
  if (!is_uniform || id > 15)
    return c.fault(in, __builtin_ctz(c.mask),
                   is_uniform ? "barrier number " : "lanes name different barriers, one is ", id,
                   is_uniform ? " is not in [0, 15]" : "");
  if (in.variant & kAligned && c.mask != c.warp.existing)
    return c.fault(in, __builtin_ctz(c.mask), "divergent barrier: only lanes ", lanes_text(c.mask),
                   " of warp ", c.warp.index, " execute it, lanes ", lanes_text(c.warp.existing & ~c.mask),
                   " have exited");
  BarrierState &b = c.block.barriers[id];
  Group &group = *c.group;
  if (group.arrived) {
    if (b.phase == group.ticket && b.arrived >= needed(c.block, b))
      end_phase(b); // the last ones that were missing have exited
    return b.phase == group.ticket ? Outcome::kRetry : finish(c, in, b);
  }
  uint32_t count = 0;
  if (in.variant & kHasCount) {
    count = uniform(c, in.operands[in.results + 1], is_uniform);
    if (!is_uniform || count == 0 || count % kLanes ||
        count > (c.block.threads + kLanes - 1) / kLanes * kLanes)
      return c.fault(in, __builtin_ctz(c.mask), "the thread count ", count, " of barrier ", id,
                     count % kLanes ? " is not a multiple of 32"
                                    : " is not between 32 and the threads of the block");
  }
  if (b.first && b.expected != count)
    return c.fault(in, __builtin_ctz(c.mask), "barrier ", id, " is waited for with a count of ",
                   count ? str_cat(count) : "all", " threads here, with ",
                   b.expected ? str_cat(b.expected) : "all", " at line ", b.first->source->at.line);
  if (!b.first) {
    b.first = &in;
    b.expected = count;
  }
  if (is_reduction(in)) {
    const LaneMask p = c.predicate(in.operands[in.operand_count - 1]) & c.mask;
    b.reduce_all &= p == c.mask;
    b.reduce_any |= p != 0;
    b.reduce_count += uint32_t(__builtin_popcount(p));
  }
  b.arrived += kLanes;
  if (RaceDetector *races = c.block.launch.races)
    races->arrive(c.warp, &b, b.phase);
  if (b.arrived > needed(c.block, b))
    return c.fault(in, __builtin_ctz(c.mask), "barrier ", id, " is reached by ", b.arrived,
                   " threads, its count is ", needed(c.block, b));
  group.ticket = b.phase;
  if (b.arrived == needed(c.block, b)) {
    end_phase(b);
    return finish(c, in, b);
  }
  if ((in.variant & kKindMask) == kArrive)
    return Outcome::kNext;
  group.arrived = true;
  ++c.block.progress; // arriving is progress, waiting is not
  return Outcome::kRetry;
}

// bar{.cta}.sync is barrier{.cta}.sync.aligned.
void decode_block_barrier(Decoder &d) {
  d.take("cta");
  const bool aligned = d.take("aligned") || d.source.opcode == "bar";
  const int kind = d.take_one({"sync", "arrive", "red"});
  uint64_t variant = uint64_t(kind);
  size_t operands = 2;
  if (kind == 2) {
    const int op = d.take_one({"and", "or", "popc"});
    variant = uint64_t(kRedAnd + std::max(op, 0));
    const Type type = d.take_type();
    if (op < 0 || type != (op == 2 ? Type::kU32 : Type::kPred))
      d.invalid("'", d.source.opcode, ".red' needs .popc.u32, .and.pred or .or.pred");
    d.result(0, type);
    operands = 4;
  }
  if (kind < 0)
    d.invalid("'", d.source.opcode, "' needs .sync, .arrive or .red");
  const size_t first = kind == 2 ? 1 : 0;
  d.expect_operands(kind == 1 ? 2 : operands - 1, operands);
  d.value(first, Type::kB32);
  if (d.given() == operands) {
    variant |= kHasCount;
    d.value(first + 1, Type::kB32);
  }
  if (kind == 2)
    d.value(d.given() - 1, Type::kPred);
  d.out.variant = variant | (aligned ? uint64_t{kAligned} : 0);
  d.out.convergence = Convergence::kWarp;
  d.out.execute = barrier;
}

Outcome nothing(Context &, const Instruction &) { return Outcome::kNext; }
Outcome warp_sync(Context &c, const Instruction &) {
  if (RaceDetector *races = c.block.launch.races)
    races->warp_sync(c.warp);
  return Outcome::kNext;
}
Outcome fence(Context &c, const Instruction &) {
  if (RaceDetector *races = c.block.launch.races)
    races->fence(c.warp);
  return Outcome::kNext;
}

// barrier.cluster of one block: like barrier 0 of its own. arrive and wait are apart.
struct ClusterBarrier {
  uint64_t phase = 0;
  uint32_t arrived = 0;
  uint64_t ticket[32] = {};
  bool waits[32] = {};
};

Outcome cluster_arrive(Context &c, const Instruction &in) {
  ClusterBarrier &b = c.block.state<ClusterBarrier>();
  if (b.waits[c.warp.index])
    return c.fault(in, __builtin_ctz(c.mask),
                   "barrier.cluster.arrive a second time without barrier.cluster.wait");
  b.waits[c.warp.index] = true;
  b.ticket[c.warp.index] = b.phase;
  ++b.arrived;
  if (RaceDetector *races = c.block.launch.races)
    races->arrive(c.warp, &b, b.phase);
  return Outcome::kNext;
}
Outcome cluster_wait(Context &c, const Instruction &in) {
  ClusterBarrier &b = c.block.state<ClusterBarrier>();
  if (!b.waits[c.warp.index])
    return c.fault(in, __builtin_ctz(c.mask), "barrier.cluster.wait without barrier.cluster.arrive");
  uint32_t live = 0;
  for (const Warp &w : c.block.warps)
    live += w.live != 0;
  if (b.ticket[c.warp.index] == b.phase) {
    if (b.arrived < live)
      return Outcome::kRetry;
    ++b.phase;
    b.arrived = 0;
  }
  b.waits[c.warp.index] = false;
  if (RaceDetector *races = c.block.launch.races)
    races->leave(c.warp, &b, b.ticket[c.warp.index]);
  return Outcome::kNext;
}
void decode_cluster_barrier(Decoder &d) {
  d.take("cluster");
  const int kind = d.take_one({"arrive", "wait"});
  d.take("aligned");
  take_memory_order(d);
  d.expect_operands(0, 0);
  if (kind < 0)
    d.invalid("'barrier.cluster' needs .arrive or .wait");
  d.out.convergence = Convergence::kWarp;
  d.out.execute = kind == 0 ? cluster_arrive : cluster_wait;
}

void decode_bar(Decoder &d) {
  if (!d.take("warp"))
    return decode_block_barrier(d);
  if (!d.take("sync"))
    d.invalid("'bar.warp' needs .sync");
  d.expect_operands(1, 1);
  d.value(0, Type::kB32);
  d.out.convergence = Convergence::kMembers;
  d.out.members = 0;
  d.out.execute = warp_sync;
}

void decode_membar(Decoder &d) {
  if (d.take("proxy"))
    return d.unsupported("'membar.proxy'");
  if (d.take_one({"gl", "cta", "sys"}) < 0)
    take_memory_order(d);
  d.expect_operands(0, 0);
  d.out.variant = kStrong | kAcquire | kRelease;
  d.out.execute = fence;
}
// fence.proxy.async: what the warp has written to shared memory through the generic proxy may be read by the
// asynchronous one.
Outcome proxy_fence(Context &c, const Instruction &in) {
  for (uint8_t &s : c.block.shared_shadow)
    if (s >> shadow::kWriterShift == (c.warp.index & 31))
      s &= uint8_t(~shadow::kUnfenced);
  return fence(c, in);
}

void decode_fence(Decoder &d) {
  if (d.take("proxy")) {
    d.take_one({"global", "shared::cta", "shared::cluster"});
    if (d.take_one({"async", "alias"}) < 0)
      d.unsupported("this proxy of 'fence.proxy'");
    d.expect_operands(0, 0);
    d.out.execute = proxy_fence;
    return;
  }
  if (d.take("mbarrier_init"))
    d.take("release"); // of clusters of one block: as any release
  d.out.variant = take_memory_order(d);
  if (!d.out.variant)
    d.out.variant = kStrong | kAcquire | kRelease;
  d.expect_operands(0, 0);
  d.out.execute = fence;
}

// Programmatic dependent launch: launches are in order here.
void decode_griddepcontrol(Decoder &d) {
  if (d.take_one({"launch_dependents", "wait"}) < 0)
    d.invalid("'griddepcontrol' needs .launch_dependents or .wait");
  d.expect_operands(0, 0);
  d.out.execute = nothing;
}

constexpr InstructionFamily kTable[] = {
    {"bar", InstructionClass::kBarrier, decode_bar},
    {"barrier", InstructionClass::kBarrier, decode_cluster_barrier, "cluster"},
    {"barrier", InstructionClass::kBarrier, decode_block_barrier},
    {"membar", InstructionClass::kBarrier, decode_membar},
    {"fence", InstructionClass::kBarrier, decode_fence},
    {"griddepcontrol", InstructionClass::kControl, decode_griddepcontrol},
};

} // namespace

std::span<const InstructionFamily> barrier_instructions() { return kTable; }

} // namespace quaver::sim
