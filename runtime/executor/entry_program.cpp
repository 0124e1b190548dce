//===- entry_program.cpp - an entry of the plan as flat arrays --------------===//
#include "runtime/executor/entry_program.h"

#include "runtime/plan/element_type.h"
#include "runtime/plan/expr_printer.h"

#include <algorithm>

namespace quaver {
namespace {

//===----------------------------------------------------------------------===//
// Which expressions an entry uses
//===----------------------------------------------------------------------===//

class RootCollector {
public:
  std::vector<uint32_t> roots;

  void collect(const plan::Entry &entry) {
    for (const auto *types : {&entry.inputs(), &entry.outputs()})
      for (const plan::TensorType &type : *types)
        roots.insert(roots.end(), type.shape().begin(), type.shape().end());
    for (const plan::Buffer &buffer : entry.buffers()) {
      roots.push_back(buffer.bytes());
      if (buffer.memory() == plan::Buffer::ARENA)
        roots.push_back(buffer.offset());
    }
    roots.push_back(entry.arena_bytes());
    collect(entry.body());
  }

private:
  void collect(const plan::Binding &binding) { roots.push_back(binding.offset()); }

  void collect(const plan::Block &block) {
    for (const plan::Instruction &instruction : block.instructions())
      collect(instruction);
  }

  void collect(const plan::Instruction &instruction) {
    switch (instruction.kind_case()) {
    case plan::Instruction::kLaunch: {
      const plan::Launch &launch = instruction.launch();
      for (const plan::Binding &binding : launch.bindings())
        collect(binding);
      roots.insert(roots.end(), launch.constants().begin(), launch.constants().end());
      roots.push_back(launch.workgroups());
      roots.push_back(launch.scratch_bytes());
      roots.push_back(launch.grain());
      break;
    }
    case plan::Instruction::kCopy:
      collect(instruction.copy().from());
      collect(instruction.copy().to());
      roots.push_back(instruction.copy().bytes());
      break;
    case plan::Instruction::kFill:
      collect(instruction.fill().to());
      roots.push_back(instruction.fill().bytes());
      break;
    case plan::Instruction::kReadBack:
      collect(instruction.read_back().from());
      break;
    case plan::Instruction::kCheck:
      roots.push_back(instruction.check().condition());
      break;
    case plan::Instruction::kIf:
      collect(instruction.if_().condition());
      collect(instruction.if_().then_block());
      collect(instruction.if_().else_block());
      break;
    case plan::Instruction::kWhile:
      collect(instruction.while_().before());
      collect(instruction.while_().condition());
      collect(instruction.while_().body());
      break;
    case plan::Instruction::KIND_NOT_SET:
      break;
    }
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Blocks to operations
//===----------------------------------------------------------------------===//

class EntryFlattener {
public:
  EntryFlattener(EntryProgram &program, const plan::Entry &entry, const EntryProgram::KernelFinder &find)
      : program_(program), entry_(entry), find_(find) {}

  Status flatten(const plan::Block &block) {
    for (const plan::Instruction &instruction : block.instructions())
      QUAVER_RETURN_IF_ERROR(flatten(instruction));
    return OkStatus();
  }

private:
  Status flatten(const plan::Instruction &instruction) {
    switch (instruction.kind_case()) {
    case plan::Instruction::kLaunch:
      return flatten(instruction.launch());
    case plan::Instruction::kCopy: {
      const plan::Copy &copy = instruction.copy();
      emit(OpCode::kCopy, program_.copies_.size());
      program_.copies_.push_back({place(copy.from(), false), place(copy.to(), true), slot(copy.bytes())});
      return OkStatus();
    }
    case plan::Instruction::kFill: {
      const plan::Fill &fill = instruction.fill();
      emit(OpCode::kFill, program_.fills_.size());
      program_.fills_.push_back(
          {place(fill.to(), true), slot(fill.bytes()), static_cast<uint8_t>(fill.byte())});
      return OkStatus();
    }
    case plan::Instruction::kReadBack:
      return flatten(instruction.read_back());
    case plan::Instruction::kCheck:
      emit(OpCode::kCheck, program_.checks_.size());
      program_.checks_.push_back({slot(instruction.check().condition()), instruction.check().message()});
      return OkStatus();
    case plan::Instruction::kIf:
      return flatten(instruction.if_());
    case plan::Instruction::kWhile:
      return flatten(instruction.while_());
    case plan::Instruction::KIND_NOT_SET:
      break;
    }
    return DataLossError("entry '" + entry_.name() +
                         "' holds an instruction this runtime does not know: use a newer runtime");
  }

  Status flatten(const plan::Launch &launch) {
    LaunchOperation op{};
    QUAVER_ASSIGN_OR_RETURN(op.kernel, find_(launch.kernel()));
    op.first_binding = static_cast<uint32_t>(program_.bindings_.size());
    op.binding_count = static_cast<uint32_t>(launch.bindings_size());
    for (const plan::Binding &binding : launch.bindings())
      program_.bindings_.push_back(place(binding, binding.written()));
    op.first_constant = static_cast<uint32_t>(program_.constants_.size());
    op.constant_count = static_cast<uint32_t>(launch.constants_size());
    for (uint32_t constant : launch.constants())
      program_.constants_.push_back(slot(constant));
    op.workgroups = slot(launch.workgroups());
    op.scratch_bytes = slot(launch.scratch_bytes());
    op.grain = slot(launch.grain());
    op.label = launch.label();
    program_.max_bindings_ = std::max(program_.max_bindings_, op.binding_count);
    program_.max_constants_ = std::max(program_.max_constants_, op.constant_count);
    emit(OpCode::kLaunch, program_.launches_.size());
    program_.launches_.push_back(std::move(op));
    return OkStatus();
  }

  Status flatten(const plan::ReadBack &read_back) {
    plan::ElementType type = entry_.buffers(static_cast<int>(read_back.from().buffer())).type();
    if (type < plan::I64 || type > plan::BOOL)
      return DataLossError("entry '" + entry_.name() + "' reads a dimension from a buffer of " +
                           std::string(plan::element_name(type)) + ", which is no integer type");
    emit(OpCode::kReadBack, program_.read_backs_.size());
    program_.read_backs_.push_back({read_back.dim(), place(read_back.from(), false), type,
                                    read_back.element() * plan::element_bytes(type)});
    return OkStatus();
  }

  //   jump-if-false else; then...; jump end; else: else...; end:
  Status flatten(const plan::If &branch) {
    uint32_t to_else = emit_jump_if_false(branch.condition());
    QUAVER_RETURN_IF_ERROR(flatten(branch.then_block()));
    if (branch.else_block().instructions_size() == 0) {
      program_.jumps_[to_else].target = here();
      return OkStatus();
    }
    uint32_t over_else = here();
    emit(OpCode::kJump, 0);
    program_.jumps_[to_else].target = here();
    QUAVER_RETURN_IF_ERROR(flatten(branch.else_block()));
    program_.operations_[over_else].index = here();
    return OkStatus();
  }

  //   begin: before...; jump-if-false end; body...; jump begin; end:
  Status flatten(const plan::While &loop) {
    uint32_t begin = here();
    QUAVER_RETURN_IF_ERROR(flatten(loop.before()));
    uint32_t to_end = emit_jump_if_false(loop.condition());
    QUAVER_RETURN_IF_ERROR(flatten(loop.body()));
    emit(OpCode::kJump, begin);
    program_.jumps_[to_end].target = here();
    return OkStatus();
  }

  uint32_t emit_jump_if_false(const plan::Binding &condition) {
    uint32_t jump = static_cast<uint32_t>(program_.jumps_.size());
    emit(OpCode::kJumpIfFalse, jump);
    program_.jumps_.push_back({place(condition, false), 0});
    return jump;
  }

  void emit(OpCode code, size_t index) {
    program_.operations_.push_back({code, static_cast<uint32_t>(index)});
  }
  uint32_t here() const { return static_cast<uint32_t>(program_.operations_.size()); }
  uint32_t slot(uint32_t expr) const { return program_.sizes_.slot(expr); }

  BufferPlace place(const plan::Binding &binding, bool written) {
    if (entry_.buffers(static_cast<int>(binding.buffer())).memory() == plan::Buffer::STATE)
      program_.state_access_ =
          std::max(program_.state_access_, written ? StateGate::Access::kWrite : StateGate::Access::kRead);
    return {binding.buffer(), slot(binding.offset())};
  }

  EntryProgram &program_;
  const plan::Entry &entry_;
  const EntryProgram::KernelFinder &find_;
};

StatusOr<EntryProgram> EntryProgram::build(const plan::Plan &plan, const plan::Entry &entry,
                                           const KernelFinder &find) {
  RootCollector collector;
  collector.collect(entry);
  EntryProgram program(plan, entry, collector.roots);
  program.arena_bytes_ = program.sizes_.slot(entry.arena_bytes());
  program.peak_formula_ = plan::print_expr(plan, entry.arena_bytes(), 4000);
  for (const plan::Buffer &buffer : entry.buffers()) {
    bool in_arena = buffer.memory() == plan::Buffer::ARENA;
    program.buffers_.push_back({buffer.memory(), buffer.index(),
                                in_arena ? program.sizes_.slot(buffer.offset()) : kNoSlot,
                                program.sizes_.slot(buffer.bytes()), buffer.label()});
  }
  QUAVER_RETURN_IF_ERROR(EntryFlattener(program, entry, find).flatten(entry.body()));
  program.find_prologue();
  return program;
}

void EntryProgram::find_prologue() {
  auto reads_input = [&](const ReadBackOperation &op) {
    return buffers_[op.from.buffer].memory == plan::Buffer::INPUT;
  };
  while (prologue_ < operations_.size()) {
    const Operation &op = operations_[prologue_];
    if (op.code != OpCode::kCheck && !(op.code == OpCode::kReadBack && reads_input(read_backs_[op.index])))
      break;
    ++prologue_;
  }
}

} // namespace quaver
