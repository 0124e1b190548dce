//===- convergence.cpp - instructions that lanes execute together -----------===//
#include "runtime/drivers/sim/machine/convergence.h"

#include "runtime/drivers/sim/machine/groups.h"
#include "runtime/drivers/sim/machine/scheduler.h"

#include <sstream>

namespace quaver::sim {
namespace {

std::string hex(uint64_t value) {
  std::ostringstream out;
  out << "0x" << std::hex << value;
  return out.str();
}

// Lanes of one member set among `lanes`, beginning with the lowest lane. False: a fault was recorded.
bool member_set(Context &c, const Instruction &in, LaneMask lanes, LaneMask &set, LaneMask &with_it) {
  uint32_t room[kLanes];
  const uint32_t *members = c.lanes(in.operands[in.members], room);
  const int first = __builtin_ctz(lanes);
  set = members[first];
  with_it = 0;
  for_each_lane(lanes, [&](int lane) { with_it |= members[lane] == set ? LaneMask{1} << lane : 0; });
  if (const LaneMask outside = with_it & ~set) {
    c.fault(in, __builtin_ctz(outside), "the member mask ", hex(set),
            " does not name the lane that executes it, ", __builtin_ctz(outside));
    return false;
  }
  if (const LaneMask absent = set & ~c.warp.existing) {
    c.fault(in, first, "the member mask ", hex(set), " names lane ", __builtin_ctz(absent),
            ", but the warp has only ", __builtin_popcount(c.warp.existing), " lanes");
    return false;
  }
  // bar.warp.sync waits for threads that have not exited; of the others a value is asked for.
  if (const LaneMask gone = set & ~c.warp.live; gone && in.cls != InstructionClass::kBarrier) {
    c.fault(in, first, "the member mask ", hex(set), " names lane ", __builtin_ctz(gone),
            ", which has exited");
    return false;
  }
  return true;
}

void gather(Context &c) {
  Group &group = *c.group;
  for (size_t i = 0; i < c.warp.groups.size(); ++i) {
    Group &other = *c.warp.groups[i];
    if (&other != &group && other.mask && other.waits && other.position == group.position &&
        other.frame == group.frame && !other.arrived && !group.arrived)
      merge(c, group, other);
  }
}

} // namespace

std::string lanes_text(LaneMask lanes) {
  std::ostringstream out;
  bool first = true;
  for (int i = 0; i < kLanes; ++i) {
    if (!(lanes >> i & 1))
      continue;
    int last = i;
    while (last + 1 < kLanes && lanes >> (last + 1) & 1)
      ++last;
    out << (first ? "" : ", ") << i;
    if (last > i)
      out << "-" << last;
    first = false;
    i = last;
  }
  return out.str();
}

namespace {

// "warp 0 lanes 0-15 at line 12 (bar.sync 0)", for every waiting group but one.
std::string others_text(const Block &block, const Group *but) {
  std::ostringstream out;
  int listed = 0;
  for (const Warp &warp : block.warps)
    for (const auto &group : warp.groups) {
      if (!group->mask || group.get() == but)
        continue;
      if (++listed > 4) {
        out << "; and others";
        return out.str();
      }
      const Instruction &at = block.launch.program.code[group->position];
      out << (listed > 1 ? "; " : "") << "warp " << warp.index << " lanes " << lanes_text(group->mask)
          << " at line " << at.source->at.line << " (" << at.source->text << ")";
    }
  return listed ? out.str() : "no other thread waits";
}

} // namespace

Outcome execute_members(Context &c, const Instruction &in) {
  const LaneMask lanes = c.mask;
  for (LaneMask left = lanes; left;) {
    LaneMask set = 0, with_it = 0;
    if (!member_set(c, in, left, set, with_it))
      return Outcome::kFault;
    if ((set & c.warp.live) != with_it) { // some are elsewhere, or name another set
      c.mask = lanes;
      return execute_converged(c, in);
    }
    left &= ~with_it;
  }
  for (LaneMask left = lanes; left;) {
    LaneMask set = 0, with_it = 0;
    member_set(c, in, left, set, with_it);
    c.mask = with_it;
    if (in.execute(c, in) == Outcome::kFault)
      return Outcome::kFault;
    left &= ~with_it;
  }
  c.mask = lanes;
  return Outcome::kNext;
}

Outcome execute_converged(Context &c, const Instruction &in) {
  Group &group = *c.group;
  if (c.mask != group.mask) { // those whose guard is false go on
    Group &rest = split_group(c, group.mask & ~c.mask);
    ++rest.position;
    ++c.block.progress;
  }
  if (group.arrived) // already converged: it waits at the barrier
    return in.execute(c, in);
  gather(c);
  c.mask = group.mask;
  if (in.convergence == Convergence::kWarp)
    return c.mask == c.warp.live ? in.execute(c, in) : Outcome::kRetry;
  const LaneMask lanes = c.mask;
  LaneMask done = 0;
  for (LaneMask left = lanes; left;) {
    LaneMask set = 0, with_it = 0;
    if (!member_set(c, in, left, set, with_it))
      return Outcome::kFault;
    left &= ~with_it;
    if ((set & c.warp.live) != with_it)
      continue;
    c.mask = with_it;
    if (in.execute(c, in) == Outcome::kFault)
      return Outcome::kFault;
    done |= with_it;
  }
  c.mask = lanes;
  if (done == lanes)
    return Outcome::kNext;
  if (done) {
    Group &ahead = split_group(c, done);
    ++ahead.position;
    ++c.block.progress;
  }
  return Outcome::kRetry;
}

void report_stuck(Block &block) {
  // The first group whose lanes are not all there explains the most; else all wait at barriers.
  const std::vector<Instruction> &code = block.launch.program.code;
  for (Warp &warp : block.warps)
    for (const auto &group : warp.groups) {
      const Instruction &in = code[group->position];
      if (!group->mask || in.convergence == Convergence::kNone || group->arrived)
        continue;
      Context c(block, warp);
      enter_group(c, *group);
      c.mask = group->mask;
      const int lane = __builtin_ctz(group->mask);
      const std::string others = others_text(block, group.get());
      if (in.convergence == Convergence::kMembers) {
        uint32_t room[kLanes];
        const LaneMask set = c.lanes(in.operands[in.members], room)[lane];
        c.fault(in, lane, "the member mask ", hex(set), " names lanes ",
                lanes_text(set & warp.live & ~group->mask),
                ", which never execute it with the same mask: ", others);
      } else if (in.cls == InstructionClass::kBarrier) {
        c.fault(in, lane, "divergent barrier: lanes ", lanes_text(group->mask), " of warp ", warp.index,
                " wait at it, lanes ", lanes_text(warp.live & ~group->mask), " do not reach it: ", others);
      } else {
        c.fault(in, lane, "all lanes of the warp must execute it together; lanes ",
                lanes_text(warp.live & ~group->mask), " do not: ", others);
      }
      return;
    }
  for (Warp &warp : block.warps)
    for (const auto &group : warp.groups)
      if (group->mask) {
        Context c(block, warp);
        enter_group(c, *group);
        uint32_t exited = 0;
        for (const Warp &w : block.warps)
          exited += uint32_t(__builtin_popcount(w.existing & ~w.live));
        c.fault(code[group->position], __builtin_ctz(group->mask),
                "deadlock: every thread of the block waits",
                exited ? str_cat(" (", exited, " have exited)") : "",
                "; also: ", others_text(block, group.get()));
        return;
      }
}

} // namespace quaver::sim
