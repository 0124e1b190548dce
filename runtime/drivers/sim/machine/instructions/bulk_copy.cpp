//===- bulk_copy.cpp - cp.async.bulk ----------------------------------------===//
// PTX ISA 9.0, sections 9.7.9.25.4 (bulk copies) and 9.7.13.15.17 (cp.async.mbarrier.arrive). The bytes
// arrive at once; those in shared memory are pending until somebody has waited for the mbarrier's phase.
// Copies out of shared memory read it through the asynchronous proxy: what ordinary stores wrote there must
// have been fenced by the warps that wrote it.
//
#include "runtime/drivers/sim/machine/instructions/bulk_copy.h"

#include "runtime/drivers/sim/machine/instructions/lanewise.h"
#include "runtime/drivers/sim/machine/instructions/mbarrier.h"
#include "runtime/drivers/sim/machine/observe.h"
#include "runtime/drivers/sim/machine/scheduler.h"

namespace quaver::sim {
namespace {

using ptx::Space;
using ptx::Type;

struct BulkCopy {
  Space to = Space::kShared, from = Space::kGlobal;
  int64_t to_offset = 0, from_offset = 0, barrier_offset = 0;
  bool has_barrier = false;
};

void addresses_with(Context &c, const Instruction &in, const Operand &base, int64_t offset,
                    uint64_t out[kLanes]) {
  Instruction at = in;
  at.offset = offset;
  c.addresses(at, base, out);
}

// Every byte must have been written, and fenced if by ordinary stores.
bool fenced(Context &c, const Instruction &in, const uint8_t *shadows, uint32_t bytes, uint64_t address,
            int lane) {
  for (uint32_t i = 0; i < bytes; ++i)
    if (shadows[i] & shadow::kUnfenced) {
      c.fault(in, lane, "reads 0x", std::hex, address + i, std::dec,
              " through the asynchronous proxy, which warp ", shadows[i] >> shadow::kWriterShift,
              " wrote by an ordinary store with no fence.proxy.async since");
      return false;
    }
  return true;
}

Outcome copy_bulk(Context &c, const Instruction &in) {
  const BulkCopy &v = *static_cast<const BulkCopy *>(in.extra);
  uint64_t to[kLanes], from[kLanes], barrier[kLanes];
  uint32_t room[kLanes];
  addresses_with(c, in, in.operands[0], v.to_offset, to);
  addresses_with(c, in, in.operands[1], v.from_offset, from);
  const uint32_t *sizes = c.lanes(in.operands[2], room);
  if (v.has_barrier)
    addresses_with(c, in, in.operands[3], v.barrier_offset, barrier);
  for (LaneMask left = c.mask; left; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    const uint32_t bytes = sizes[lane];
    if (bytes % 16 || bytes >= 1 << 20)
      return c.fault(in, lane, "a bulk copy of ", bytes,
                     " bytes; the size must be a multiple of 16 below 2^20");
    if (bytes == 0)
      continue;
    uint8_t *from_shadow = nullptr, *to_shadow = nullptr;
    const std::byte *source = c.access(in, v.from, from[lane], bytes, 16, Access::kRead, lane, &from_shadow);
    if (!source || (v.from == Space::kShared && !fenced(c, in, from_shadow, bytes, from[lane], lane)))
      return Outcome::kFault;
    std::byte *target = c.access(in, v.to, to[lane], bytes, 16, Access::kWrite, lane, &to_shadow);
    if (!target)
      return Outcome::kFault;
    std::memmove(target, source, bytes);
    if (c.block.launch.options.counters || c.block.launch.options.races) {
      const LaneMask all = c.mask;
      c.mask = LaneMask{1} << lane;
      Outcome seen = observe_access(c, in, v.from, from, bytes, AccessKind::kLoad);
      if (seen == Outcome::kNext)
        seen = observe_access(c, in, v.to, to, bytes, AccessKind::kStore);
      c.mask = all;
      if (seen != Outcome::kNext)
        return seen;
    }
    if (v.to == Space::kShared)
      for (uint32_t i = 0; i < bytes; ++i)
        to_shadow[i] = shadow::kWritten | shadow::kPending;
    if (v.has_barrier) {
      Mbarrier *b = find_mbarrier(c, in, barrier[lane], lane);
      if (!b)
        return Outcome::kFault;
      b->copies.push_back({to_shadow, bytes});
      if (!add_transactions(c, in, *b, -int64_t{bytes}, lane))
        return Outcome::kFault;
    }
  }
  return Outcome::kNext;
}

// Groups of copies out of shared memory: their bytes have been read when the copy was issued.
Outcome nothing(Context &, const Instruction &) { return Outcome::kNext; }

Outcome copies_arrive(Context &c, const Instruction &in) {
  uint64_t addresses[kLanes];
  c.addresses(in, in.operands[0], addresses);
  BlockCopies &copies = c.block.state<BlockCopies>();
  for (LaneMask left = c.mask; left; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    Mbarrier *b = find_mbarrier(c, in, addresses[lane], lane);
    if (!b)
      return Outcome::kFault;
    ThreadCopies &t = copies.threads[c.warp.index * kLanes + uint32_t(lane)];
    for (const PendingCopies &group : t.groups)
      b->copies.insert(b->copies.end(), group.begin(), group.end());
    b->copies.insert(b->copies.end(), t.open.begin(), t.open.end());
    t.groups.clear();
    t.open.clear();
    if (!in.variant) // the arrival is one more than the phase counts
      ++b->pending;
    if (!arrive_at(c, in, *b, 1, lane))
      return Outcome::kFault;
  }
  return Outcome::kNext;
}

} // namespace

void decode_copies_arrive(Decoder &d) {
  if (!d.take("arrive"))
    d.invalid("'cp.async.mbarrier' needs .arrive");
  d.out.variant = d.take("noinc");
  d.out.space = d.take_space();
  if (!d.take("b64"))
    d.invalid("'cp.async.mbarrier.arrive' needs .b64");
  d.expect_operands(1, 1);
  d.out.execute = copies_arrive;
  d.address(0);
}

void decode_bulk_copy(Decoder &d) {
  if (d.take("commit_group")) {
    d.expect_operands(0, 0);
    d.out.execute = nothing;
    return;
  }
  if (d.take("wait_group")) {
    d.take("read");
    d.constant(0, 0, 1 << 20);
    d.out.execute = nothing;
    return;
  }
  if (d.take("prefetch")) { // fills a cache
    while (!d.left().empty())
      d.take(d.left().front());
    d.out.execute = nothing;
    return;
  }
  if (d.take("tensor"))
    return decode_tensor_copy(d);
  std::vector<Space> spaces;
  const std::vector<std::string_view> left = d.left();
  for (std::string_view m : left)
    if (m.starts_with("shared") || m == "global") {
      spaces.push_back(m == "global" ? Space::kGlobal : Space::kShared);
      d.take(m);
    }
  BulkCopy v;
  v.has_barrier = d.take("mbarrier::complete_tx::bytes");
  const bool grouped = d.take("bulk_group");
  const bool has_policy = d.take("L2::cache_hint");
  if (spaces.size() != 2 || v.has_barrier == grouped || v.has_barrier != (spaces[0] == Space::kShared))
    return d.unsupported("'cp.async.bulk' in this form");
  v.to = spaces[0];
  v.from = spaces[1];
  const size_t count = 3 + v.has_barrier + has_policy;
  d.expect_operands(count, count);
  d.out.execute = copy_bulk;
  d.address(0);
  v.to_offset = d.out.offset;
  d.address(1);
  v.from_offset = d.out.offset;
  d.value(2, Type::kB32);
  if (v.has_barrier) {
    d.address(3);
    v.barrier_offset = d.out.offset;
  }
  if (has_policy)
    d.value(count - 1, Type::kB64);
  d.out.space = v.to;
  d.out.extra = d.keep(v);
}

} // namespace quaver::sim
