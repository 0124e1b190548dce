//===- groups.cpp - divergence, calls, exits --------------------------------===//
#include "runtime/drivers/sim/machine/groups.h"

#include "runtime/drivers/sim/machine/scheduler.h"

#include <algorithm>

namespace quaver::sim {
namespace {

constexpr uint8_t kPoison = 0xa5; // of registers at a function's start: their value is anything

std::shared_ptr<Frame> make_frame(const Program &program, uint32_t function, uint32_t local_base) {
  const FunctionCode &code = program.functions[function];
  auto frame = std::make_shared<Frame>();
  frame->registers.reset(new uint8_t[code.frame_bytes + 64]);
  frame->base = frame->registers.get() + (64 - reinterpret_cast<uintptr_t>(frame->registers.get()) % 64) % 64;
  std::memset(frame->base, kPoison, code.frame_bytes);
  frame->function = function;
  frame->local_base = local_base;
  for (const FunctionCode::LocalAddress &a : code.local_addresses)
    std::fill_n(reinterpret_cast<uint64_t *>(frame->base + a.slot), kLanes, uint64_t{local_base} + a.offset);
  return frame;
}

// Copies bytes of the threads' local memory with what is known of them.
void copy_local(Warp &warp, LaneMask lanes, uint32_t to, uint32_t from, uint32_t bytes) {
  if (bytes == 0)
    return;
  for_each_lane(lanes, [&](int lane) {
    const size_t base = size_t(lane) * warp.local_capacity;
    std::memmove(warp.local.data() + base + to, warp.local.data() + base + from, bytes);
    std::memmove(warp.local_shadow.data() + base + to, warp.local_shadow.data() + base + from, bytes);
  });
}

uint8_t *lanes_of(const Launch &launch, Warp &warp, const Frame &frame, const Operand &o) {
  switch (o.base) {
  case Operand::Base::kFrame:
    return frame.base + o.offset;
  case Operand::Base::kConstant:
    return const_cast<uint8_t *>(launch.constants) + o.offset;
  default:
    return warp.specials.get() + o.offset;
  }
}

// Gives what `from` of one activation holds to `to` of another.
void pass(const Launch &launch, Warp &warp, LaneMask lanes, const Frame &from_frame, const Passed &from,
          const Frame &to_frame, const Passed &to) {
  const uint32_t bytes = std::min(from.bytes, to.bytes);
  if (from.in_local && to.in_local)
    return copy_local(warp, lanes, to_frame.local_base + to.local, from_frame.local_base + from.local, bytes);
  if (!to.in_local && to.value.is_sink)
    return;
  if (!from.in_local && from.value.bytes == 0) { // a predicate
    auto *source = reinterpret_cast<LaneMask *>(lanes_of(launch, warp, from_frame, from.value));
    auto *target = reinterpret_cast<LaneMask *>(lanes_of(launch, warp, to_frame, to.value));
    *target = (*target & ~lanes) | (*source & lanes);
    return;
  }
  for_each_lane(lanes, [&](int lane) {
    const size_t base = size_t(lane) * warp.local_capacity;
    const void *source =
        from.in_local
            ? static_cast<const void *>(warp.local.data() + base + from_frame.local_base + from.local)
            : lanes_of(launch, warp, from_frame, from.value) + lane * from.value.bytes;
    void *target = to.in_local
                       ? static_cast<void *>(warp.local.data() + base + to_frame.local_base + to.local)
                       : lanes_of(launch, warp, to_frame, to.value) + lane * to.value.bytes;
    std::memcpy(target, source, bytes);
    if (to.in_local)
      std::memset(warp.local_shadow.data() + base + to_frame.local_base + to.local, shadow::kWritten, bytes);
  });
}

Group &add_group(Warp &warp, Group group) {
  warp.groups.push_back(std::make_unique<Group>(std::move(group)));
  return *warp.groups.back();
}

// Lanes that a meeting expects no more.
void forget(Context &c, Meeting &meeting, LaneMask lanes) {
  meeting.expected &= ~lanes;
  meeting.arrived &= ~lanes;
  if (meeting.arrived && meeting.arrived == meeting.expected)
    release(c, meeting);
}

} // namespace

void enter_group(Context &c, Group &group) {
  c.group = &group;
  c.bases[0] = group.frame->base;
  c.bases[1] = c.block.launch.constants;
  c.bases[2] = c.warp.specials.get();
}

void start_warp(Context &c) {
  Group group;
  group.mask = c.warp.existing;
  group.frame = make_frame(c.block.launch.program, 0, 0);
  group.stack_top = c.block.launch.program.functions[0].local_bytes;
  group.position = c.block.launch.program.functions[0].begin;
  add_group(c.warp, std::move(group));
}

Group &split_group(Context &c, LaneMask lanes) {
  Group part = *c.group;
  part.mask = lanes;
  part.waits = part.arrived = false;
  c.group->mask &= ~lanes;
  return add_group(c.warp, std::move(part));
}

void expect_meeting(Context &c, uint32_t branch) {
  Group &g = *c.group;
  const uint32_t position = c.block.launch.program.meets_at[branch];
  if (position == kReturnPosition && !g.frame->caller)
    return; // nothing to do together at the end of a thread
  if (g.meeting && g.meeting->position == position && g.meeting->frame == g.frame)
    return;
  auto meeting = std::make_shared<Meeting>();
  meeting->position = position;
  meeting->frame = g.frame;
  meeting->expected = g.mask;
  meeting->stack_top = g.stack_top;
  meeting->outer = g.meeting;
  g.meeting = std::move(meeting);
}

void arrive(Context &c, Group &group) {
  const std::shared_ptr<Meeting> meeting = group.meeting;
  meeting->arrived |= group.mask;
  meeting->stack_top = std::max(meeting->stack_top, group.stack_top);
  group.mask = 0;
  if (meeting->arrived == meeting->expected)
    release(c, *meeting);
}

void release(Context &c, Meeting &meeting) {
  Group group;
  group.mask = meeting.arrived;
  group.position = meeting.position;
  group.frame = meeting.frame;
  group.meeting = meeting.outer;
  group.stack_top = meeting.stack_top;
  meeting.expected &= ~meeting.arrived;
  meeting.arrived = 0;
  meeting.patience = 0;
  Group &released = add_group(c.warp, std::move(group));
  if (released.position == kReturnPosition)
    return_group(c, released);
}

void merge(Context &c, Group &group, Group &other) {
  // The innermost meeting that both are expected at; those further in expect their lanes no more.
  auto has = [](const Group &g, const Meeting *m) {
    for (const Meeting *at = g.meeting.get(); at; at = at->outer.get())
      if (at == m)
        return true;
    return false;
  };
  std::shared_ptr<Meeting> common = group.meeting;
  while (common && !has(other, common.get()))
    common = common->outer;
  const std::shared_ptr<Meeting> chains[2] = {group.meeting, other.meeting};
  const LaneMask lanes[2] = {group.mask, other.mask};
  group.meeting = common;
  group.mask |= other.mask;
  group.stack_top = std::max(group.stack_top, other.stack_top);
  other.mask = 0;
  for (int i = 0; i < 2; ++i)
    for (std::shared_ptr<Meeting> at = chains[i]; at != common; at = at->outer)
      forget(c, *at, lanes[i]);
}

void exit_group(Context &c, Group &group) {
  const LaneMask lanes = group.mask;
  c.warp.live &= ~lanes;
  group.mask = 0;
  for (std::shared_ptr<Meeting> at = group.meeting; at; at = at->outer)
    forget(c, *at, lanes);
}

void return_group(Context &c, Group &group) {
  const Launch &launch = c.block.launch;
  const std::shared_ptr<Frame> callee = group.frame;
  if (!callee->caller)
    return exit_group(c, group);
  if (group.meeting && group.meeting->frame == callee && group.meeting->position == kReturnPosition)
    return arrive(c, group);
  const auto *site = static_cast<const CallSite *>(launch.program.code[callee->call].extra);
  const FunctionCode &code = launch.program.functions[callee->function];
  for (size_t i = 0; i < std::min(site->results.size(), code.results.size()); ++i)
    pass(launch, c.warp, group.mask, *callee, code.results[i], *callee->caller, site->results[i]);
  group.frame = callee->caller;
  group.position = callee->call + 1;
  group.stack_top = callee->local_base;
}

bool call_group(Context &c, const Instruction &in, uint32_t function) {
  const Launch &launch = c.block.launch;
  const FunctionCode &code = launch.program.functions[function];
  const auto *site = static_cast<const CallSite *>(in.extra);
  Group &group = *c.group;
  if (site->arguments.size() != code.parameters.size() || site->results.size() != code.results.size()) {
    c.fault(in, -1, "function '", code.name, "' has ", code.parameters.size(), " parameters and ",
            code.results.size(), " results, called with ", site->arguments.size(), " and ",
            site->results.size());
    return false;
  }
  auto is_predicate = [](const Passed &p) { return !p.in_local && !p.value.is_sink && p.value.bytes == 0; };
  for (size_t i = 0; i < site->arguments.size(); ++i)
    if (is_predicate(site->arguments[i]) != is_predicate(code.parameters[i])) {
      c.fault(in, -1, "argument ", i, " of function '", code.name,
              "': a predicate passed for a value, or a value for a predicate");
      return false;
    }
  for (size_t i = 0; i < site->results.size(); ++i)
    if (!site->results[i].value.is_sink && is_predicate(site->results[i]) != is_predicate(code.results[i])) {
      c.fault(in, -1, "result ", i, " of function '", code.name,
              "': a predicate taken for a value, or a value for a predicate");
      return false;
    }
  const uint32_t depth = group.frame->depth + 1;
  if (depth > launch.options.max_call_depth) {
    c.fault(in, -1, "calls are nested deeper than ", launch.options.max_call_depth, ": endless recursion?");
    return false;
  }
  const uint32_t local_base = (group.stack_top + 15) / 16 * 16;
  if (!c.grow_local(local_base + code.local_bytes)) {
    c.fault(in, -1, "the stack needs ", local_base + code.local_bytes,
            " bytes of local memory for a thread, ", launch.options.max_local_bytes, " are allowed");
    return false;
  }
  std::shared_ptr<Frame> frame = make_frame(launch.program, function, local_base);
  frame->caller = group.frame;
  frame->depth = depth;
  frame->call = group.position;
  if (code.local_bytes)
    for_each_lane(group.mask, [&](int lane) {
      std::memset(c.warp.local_shadow.data() + size_t(lane) * c.warp.local_capacity + local_base, 0,
                  code.local_bytes);
    });
  for (size_t i = 0; i < code.parameters.size(); ++i)
    pass(launch, c.warp, group.mask, *group.frame, site->arguments[i], *frame, code.parameters[i]);
  group.frame = std::move(frame);
  group.stack_top = local_base + code.local_bytes;
  group.position = code.begin;
  enter_group(c, group);
  return true;
}

} // namespace quaver::sim
