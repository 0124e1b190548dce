//===- control.cpp - branches, calls, ends ----------------------------------===//
// PTX ISA 9.0, section 9.7.12.
#include "runtime/drivers/sim/machine/control.h"

#include "runtime/drivers/sim/machine/function_builder.h"
#include "runtime/drivers/sim/machine/groups.h"
#include "runtime/drivers/sim/machine/instructions/instruction_groups.h"
#include "runtime/drivers/sim/machine/scheduler.h"

namespace quaver::sim {
namespace {

using ptx::Type;

Outcome branch(Context &c, const Instruction &in) {
  Group &group = *c.group;
  const uint32_t here = group.position;
  if (c.mask != group.mask) {
    ++c.block.counters.divergent_branches;
    expect_meeting(c, here);
    Group &rest = split_group(c, group.mask & ~c.mask);
    rest.position = here + 1;
  }
  group.position = in.target;
  return Outcome::kJump;
}

void decode_bra(Decoder &d) {
  d.take("uni");
  d.expect_operands(1, 1);
  d.out.execute = branch;
  const int64_t label = d.function.label(d.operand(0).name);
  if (label < 0)
    return d.invalid("there is no label '", d.operand(0).name, "'");
  d.out.target = uint32_t(label);
  d.function.patch_targets();
}

// brx.idx: each lane to its entry of the list.
Outcome branch_by_index(Context &c, const Instruction &in) {
  uint32_t room[kLanes];
  const uint32_t *index = c.lanes(in.operands[0], room);
  const auto &targets = static_cast<const BranchTargets *>(in.extra)->positions;
  Group &group = *c.group;
  const uint32_t here = group.position;
  bool differ = c.mask != group.mask;
  const uint32_t first = index[__builtin_ctz(c.mask)];
  int bad = -1;
  for_each_lane(c.mask, [&](int i) {
    differ |= index[i] != first;
    bad = bad < 0 && index[i] >= targets.size() ? i : bad;
  });
  if (bad >= 0)
    return c.fault(in, bad, "index ", index[bad], " is not in the list of ", targets.size(), " targets");
  if (differ) {
    ++c.block.counters.divergent_branches;
    expect_meeting(c, here);
  }
  if (c.mask != group.mask) {
    Group &rest = split_group(c, group.mask & ~c.mask);
    rest.position = here + 1;
  }
  for (LaneMask left = c.mask; left;) {
    const uint32_t target = index[__builtin_ctz(left)];
    LaneMask same = 0;
    for_each_lane(left, [&](int i) { same |= LaneMask(index[i] == target) << i; });
    left &= ~same;
    if (left)
      split_group(c, same).position = targets[target];
    else
      group.position = targets[target];
  }
  return Outcome::kJump;
}

void decode_brx(Decoder &d) {
  if (!d.take("idx"))
    d.invalid("'brx' needs .idx");
  d.take("uni");
  d.expect_operands(2, 2);
  d.value(0, Type::kB32);
  d.out.execute = branch_by_index;
  const ptx::TargetList *list = d.function.target_list(d.operand(1).name);
  if (!list)
    return d.invalid("there is no .branchtargets list '", d.operand(1).name, "'");
  BranchTargets targets;
  for (std::string_view name : list->targets) {
    const int64_t label = d.function.label(name);
    if (label < 0)
      return d.invalid("there is no label '", name, "'");
    targets.positions.push_back(uint32_t(label));
  }
  const BranchTargets *kept = d.keep(std::move(targets));
  d.out.extra = kept;
  d.function.patch_targets(const_cast<BranchTargets *>(kept)); // positions are known at the function's end
}

// Lanes that do not take part go on behind the instruction.
void leave_rest_behind(Context &c) {
  if (c.mask == c.group->mask)
    return;
  expect_meeting(c, c.group->position);
  Group &rest = split_group(c, c.group->mask & ~c.mask);
  ++rest.position;
}

Outcome call(Context &c, const Instruction &in) {
  const auto *site = static_cast<const CallSite *>(in.extra);
  leave_rest_behind(c);
  if (site->function >= 0)
    return call_group(c, in, uint32_t(site->function)) ? Outcome::kJump : Outcome::kFault;
  // Indirect: lanes that call another function execute the call by themselves, later.
  uint64_t room[kLanes];
  const uint64_t *address = c.lanes(in.operands[0], room);
  const Program &program = c.block.launch.program;
  const int lane = __builtin_ctz(c.group->mask);
  const uint64_t index = address[lane] - kFunctionWindow;
  if (address[lane] < kFunctionWindow || index >= program.function_of_tree.size() ||
      program.function_of_tree[index] < 0)
    return c.fault(in, lane, "call of 0x", std::hex, address[lane], ", which is no function");
  LaneMask others = 0;
  for_each_lane(c.group->mask, [&](int i) { others |= LaneMask(address[i] != address[lane]) << i; });
  if (others) {
    expect_meeting(c, c.group->position);
    split_group(c, others);
  }
  return call_group(c, in, uint32_t(program.function_of_tree[index])) ? Outcome::kJump : Outcome::kFault;
}

Passed passed(Decoder &d, const ptx::Operand &o, bool is_result) {
  Passed p;
  if (o.kind == ptx::Operand::Kind::kName)
    if (std::optional<Passed> place = d.function.local_place(o.name))
      return *place;
  ptx::Type type = Type::kB64;
  std::optional<Operand> found;
  if (o.kind == ptx::Operand::Kind::kName)
    found = d.function.register_operand(o.name, o.component, &type);
  else if (o.kind == ptx::Operand::Kind::kInteger || o.kind == ptx::Operand::Kind::kFloat)
    found = d.function.constant(o.bits, o.is_single ? 4 : 8);
  else if (o.kind == ptx::Operand::Kind::kSink && is_result) {
    p.value.is_sink = true;
    return p;
  }
  if (!found || (is_result && found->base != Operand::Base::kFrame))
    d.invalid("'", o.name, "' cannot be passed to a function");
  else
    p.value = *found;
  p.bytes = p.value.bytes;
  return p;
}

void decode_call(Decoder &d) {
  d.take("uni");
  CallSite site;
  size_t at = 0;
  if (d.given() > 1 && d.operand(0).kind == ptx::Operand::Kind::kList) {
    for (const ptx::Operand &o : d.operand(0).elements)
      site.results.push_back(passed(d, o, true));
    at = 1;
  }
  const ptx::Operand &target = d.operand(at);
  if (d.given() > at + 1 && d.operand(at + 1).kind == ptx::Operand::Kind::kList)
    for (const ptx::Operand &o : d.operand(at + 1).elements)
      site.arguments.push_back(passed(d, o, false));
  d.out.execute = call;
  ptx::Type type = Type::kB64;
  if (target.kind != ptx::Operand::Kind::kName)
    return d.invalid("the function to call is missing");
  if (d.function.register_operand(target.name, target.component, &type)) {
    d.value(at, Type::kB64);
    const Status reached = d.function.program.reach_address_taken();
    if (!reached.ok())
      return d.invalid(reached.message());
  } else {
    const StatusOr<int> function = d.function.program.reach(target.name, target.at);
    if (!function.ok())
      return d.invalid(function.status().message());
    site.function = *function;
  }
  d.out.extra = d.keep(std::move(site));
}

Outcome return_from(Context &c, const Instruction &) {
  leave_rest_behind(c);
  return_group(c, *c.group);
  if (c.group->mask)
    enter_group(c, *c.group);
  return Outcome::kJump;
}

Outcome exit_thread(Context &c, const Instruction &) {
  leave_rest_behind(c);
  exit_group(c, *c.group);
  return Outcome::kJump;
}

Outcome trap(Context &c, const Instruction &in) {
  return c.fault(in, __builtin_ctz(c.mask),
                 "the kernel ended itself with trap (a failed assertion, perhaps)");
}

void decode_ret(Decoder &d) {
  d.take("uni");
  d.expect_operands(0, 0);
  d.out.execute = return_from;
}
void decode_exit(Decoder &d) {
  d.expect_operands(0, 0);
  d.out.execute = exit_thread;
}
void decode_trap(Decoder &d) {
  d.expect_operands(0, 0);
  d.out.execute = trap;
}

Outcome nothing(Context &, const Instruction &) { return Outcome::kNext; }
void decode_brkpt(Decoder &d) {
  d.expect_operands(0, 0);
  d.out.execute = nothing;
}
void decode_nanosleep(Decoder &d) {
  d.take_type();
  d.expect_operands(1, 1);
  d.value(0, Type::kB32);
  d.out.execute = nothing;
}
void decode_pmevent(Decoder &d) {
  d.take("mask");
  d.constant(0, 0, 65535);
  d.out.execute = nothing;
}

// alloca and the stack pointer (section 9.7.14).
Outcome allocate_stack(Context &c, const Instruction &in) {
  uint64_t room[kLanes], result[kLanes];
  const uint64_t *bytes = c.lanes(in.operands[1], room);
  uint64_t most = 0;
  for_each_lane(c.mask, [&](int i) { most = std::max(most, bytes[i]); });
  const uint64_t align = in.variant;
  const uint64_t base = (c.group->stack_top + align - 1) / align * align;
  const LaunchOptions &options = c.block.launch.options;
  if (most > options.max_local_bytes || !c.grow_local(uint32_t(base + most)))
    return c.fault(in, -1, "alloca of ", most, " bytes: the stack may have ", options.max_local_bytes);
  c.group->stack_top = uint32_t(base + most);
  for (uint64_t &r : result)
    r = base;
  c.set(in.operands[0], result);
  return Outcome::kNext;
}
void decode_alloca(Decoder &d) {
  d.take_type();
  d.expect_operands(2, 3);
  d.out.variant = d.given() == 3 ? uint64_t(d.constant(2, 1, 1 << 16)) : 8;
  d.out.execute = allocate_stack;
  d.result(0, Type::kB64);
  d.value(1, Type::kB64);
}

Outcome save_stack(Context &c, const Instruction &in) {
  uint64_t top[kLanes];
  for (uint64_t &t : top)
    t = c.group->stack_top;
  c.set(in.operands[0], top);
  return Outcome::kNext;
}
Outcome restore_stack(Context &c, const Instruction &in) {
  uint64_t room[kLanes];
  const uint64_t top = c.lanes(in.operands[0], room)[__builtin_ctz(c.mask)];
  if (top > c.group->stack_top)
    return c.fault(in, __builtin_ctz(c.mask), "stackrestore to ", top, ", the stack has ", c.group->stack_top,
                   " bytes");
  if (c.mask == c.group->mask) // lanes of other groups may still use what lies above
    c.group->stack_top = uint32_t(top);
  return Outcome::kNext;
}
void decode_stacksave(Decoder &d) {
  d.take_type();
  d.expect_operands(1, 1);
  d.out.execute = save_stack;
  d.result(0, Type::kB64);
}
void decode_stackrestore(Decoder &d) {
  d.take_type();
  d.expect_operands(1, 1);
  d.out.execute = restore_stack;
  d.value(0, Type::kB64);
}

constexpr InstructionFamily kTable[] = {
    {"bra", InstructionClass::kControl, decode_bra},
    {"brx", InstructionClass::kControl, decode_brx},
    {"call", InstructionClass::kControl, decode_call},
    {"ret", InstructionClass::kControl, decode_ret},
    {"exit", InstructionClass::kControl, decode_exit},
    {"trap", InstructionClass::kControl, decode_trap},
    {"brkpt", InstructionClass::kControl, decode_brkpt},
    {"nanosleep", InstructionClass::kControl, decode_nanosleep},
    {"pmevent", InstructionClass::kControl, decode_pmevent},
    {"alloca", InstructionClass::kControl, decode_alloca},
    {"stacksave", InstructionClass::kControl, decode_stacksave},
    {"stackrestore", InstructionClass::kControl, decode_stackrestore},
};

} // namespace

std::span<const InstructionFamily> control_instructions() { return kTable; }

ControlKind control_kind(const Instruction &in) {
  if (in.execute == branch)
    return ControlKind::kBranch;
  if (in.execute == branch_by_index)
    return ControlKind::kBranchList;
  if (in.execute == return_from || in.execute == exit_thread || in.execute == trap)
    return ControlKind::kEnd;
  return in.execute == call ? ControlKind::kCall : ControlKind::kNone;
}

} // namespace quaver::sim
