//===- async_copy.cpp - cp.async and its groups -----------------------------===//
// PTX ISA 9.0, section 9.7.9.25. The bytes arrive at once, but until the thread has waited for the copy they
// are marked as pending: a read of them is a fault. A copy never committed or never waited for stays pending.
//
#include "runtime/drivers/sim/machine/function_builder.h"
#include "runtime/drivers/sim/machine/instructions/bulk_copy.h"
#include "runtime/drivers/sim/machine/instructions/instruction_groups.h"
#include "runtime/drivers/sim/machine/instructions/lanewise.h"
#include "runtime/drivers/sim/machine/instructions/pending_copies.h"
#include "runtime/drivers/sim/machine/observe.h"
#include "runtime/drivers/sim/machine/scheduler.h"

namespace quaver::sim {
namespace {

using ptx::Space;
using ptx::Type;

constexpr uint64_t kHasSize = 1, kHasIgnore = 2;

Outcome copy(Context &c, const Instruction &in) {
  uint64_t to[kLanes], from[kLanes];
  uint32_t room[kLanes];
  Instruction source = in; // with the offset of its address
  source.offset = *static_cast<const int64_t *>(in.extra);
  c.addresses(in, in.operands[0], to);
  c.addresses(source, in.operands[1], from);
  const uint32_t bytes = in.element_bytes;
  const uint32_t *sizes = in.variant & kHasSize ? c.lanes(in.operands[2], room) : nullptr;
  const LaneMask ignored = in.variant & kHasIgnore ? c.predicate(in.operands[2]) : 0;
  BlockCopies &copies = c.block.state<BlockCopies>();
  for (LaneMask left = c.mask; left; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    const uint32_t wanted = ignored >> lane & 1 ? 0 : sizes ? sizes[lane] : bytes;
    if (wanted > bytes)
      return c.fault(in, lane, "cp.async reads ", wanted, " bytes for a copy of ", bytes);
    std::byte data[16] = {};
    if (wanted) {
      // The source's address is aligned to the copy's size, whatever part of it is read.
      const std::byte *at = c.access(in, Space::kGlobal, from[lane], wanted, bytes, Access::kRead, lane);
      if (!at)
        return Outcome::kFault;
      std::memcpy(data, at, wanted);
    }
    uint8_t *known = nullptr;
    std::byte *at = c.access(in, Space::kShared, to[lane], bytes, bytes, Access::kWrite, lane, &known);
    if (!at)
      return Outcome::kFault;
    std::memcpy(at, data, bytes);
    mark_pending({known, bytes});
    copies.threads[c.warp.index * kLanes + uint32_t(lane)].open.push_back({known, bytes});
  }
  const LaunchOptions &options = c.block.launch.options;
  if (!options.counters && !options.races)
    return Outcome::kNext;
  const Outcome read = observe_access(c, in, Space::kGlobal, from, bytes, AccessKind::kLoad);
  return read == Outcome::kNext ? observe_access(c, in, Space::kShared, to, bytes, AccessKind::kStore) : read;
}

Outcome commit(Context &c, const Instruction &) {
  BlockCopies &copies = c.block.state<BlockCopies>();
  for_each_lane(c.mask, [&](int lane) {
    ThreadCopies &t = copies.threads[c.warp.index * kLanes + uint32_t(lane)];
    t.groups.push_back(std::move(t.open));
    t.open.clear();
  });
  return Outcome::kNext;
}

// variant: groups that may stay under way; -1: wait_all, which includes what was not committed.
Outcome wait(Context &c, const Instruction &in) {
  BlockCopies &copies = c.block.state<BlockCopies>();
  const bool all = int64_t(in.variant) < 0;
  for_each_lane(c.mask, [&](int lane) {
    ThreadCopies &t = copies.threads[c.warp.index * kLanes + uint32_t(lane)];
    while (t.groups.size() > (all ? 0 : in.variant)) {
      finish(t.groups.front());
      t.groups.pop_front();
    }
    if (all) {
      finish(t.open);
      t.open.clear();
    }
  });
  return Outcome::kNext;
}

void decode_cp(Decoder &d) {
  if (!d.take("async"))
    return d.unsupported("this form of 'cp'");
  if (d.take("bulk"))
    return decode_bulk_copy(d);
  if (d.take("mbarrier"))
    return decode_copies_arrive(d);
  if (d.take("commit_group")) {
    d.expect_operands(0, 0);
    d.out.execute = commit;
    return;
  }
  if (d.take("wait_group")) {
    d.expect_operands(1, 1);
    d.out.variant = uint64_t(d.constant(0, 0, 1 << 20));
    d.out.execute = wait;
    return;
  }
  if (d.take("wait_all")) {
    d.expect_operands(0, 0);
    d.out.variant = ~uint64_t{0};
    d.out.execute = wait;
    return;
  }
  const int level = d.take_one({"ca", "cg"});
  const bool to_shared = d.take("shared") || d.take("shared::cta"), from_global = d.take("global");
  const bool has_policy = d.take("L2::cache_hint");
  d.take_one({"L2::64B", "L2::128B", "L2::256B"});
  if (level < 0 || !to_shared || !from_global)
    d.invalid("'cp.async' needs .ca or .cg, .shared and .global");
  d.expect_operands(3 + has_policy, 4 + has_policy);
  const int64_t bytes = d.constant(2, 4, 16);
  if ((bytes != 4 && bytes != 8 && bytes != 16) || (level == 1 && bytes != 16))
    d.invalid("'cp.async' copies 4, 8 or 16 bytes, with .cg 16");
  d.out.execute = copy;
  d.out.element_bytes = uint8_t(bytes);
  d.address(0);
  const int64_t to_offset = d.out.offset;
  d.address(1);
  d.out.extra = d.keep(d.out.offset);
  d.out.offset = to_offset;
  if (d.given() == 4 + size_t{has_policy}) {
    const ptx::Operand &o = d.operand(3);
    Type type = Type::kB32;
    if (o.kind == ptx::Operand::Kind::kName)
      d.function.register_operand(o.name, o.component, &type);
    d.out.variant = type == Type::kPred ? kHasIgnore : kHasSize;
    d.value(3, type == Type::kPred ? Type::kPred : Type::kB32);
  }
  if (has_policy)
    d.value(d.given() - 1, Type::kB64);
}

constexpr InstructionFamily kTable[] = {
    {"cp", InstructionClass::kAsyncCopy, decode_cp},
};

} // namespace

std::span<const InstructionFamily> async_copy_instructions() { return kTable; }

} // namespace quaver::sim
