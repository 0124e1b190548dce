//===- run_walk.cpp - one run of an entry: the operations -------------------===//
#include "runtime/executor/run.h"

#include "runtime/base/trace.h"
#include "runtime/plan/element_type.h"

#include <chrono>
#include <cstring>

namespace quaver {

Status Run::walk(size_t begin, size_t end) {
  const std::vector<Operation> &operations = program_.operations_;
  for (size_t pc = begin; pc < end;) {
    Operation op = operations[pc++];
    switch (op.code) {
    case OpCode::kLaunch:
      QUAVER_RETURN_IF_ERROR(launch(program_.launches_[op.index]));
      break;
    case OpCode::kCopy:
      QUAVER_RETURN_IF_ERROR(copy(program_.copies_[op.index]));
      break;
    case OpCode::kFill:
      QUAVER_RETURN_IF_ERROR(fill(program_.fills_[op.index]));
      break;
    case OpCode::kReadBack:
      QUAVER_RETURN_IF_ERROR(read_back(program_.read_backs_[op.index]));
      break;
    case OpCode::kCheck:
      QUAVER_RETURN_IF_ERROR(check(program_.checks_[op.index]));
      break;
    case OpCode::kJumpIfFalse: {
      QUAVER_ASSIGN_OR_RETURN(bool condition, read_condition(program_.jumps_[op.index]));
      if (!condition)
        pc = program_.jumps_[op.index].target;
      break;
    }
    case OpCode::kJump:
      pc = op.index;
      break;
    }
  }
  return OkStatus();
}

std::byte *Run::address(const BufferPlace &place, int64_t bytes) const {
  int64_t offset = context_.sizes.values[place.offset];
  bool is_within = context_.sizes.states[place.offset] == SizeState::kKnown && offset >= 0 && bytes >= 0 &&
                   offset <= context_.limits[place.buffer] && bytes <= context_.limits[place.buffer] - offset;
  return is_within ? context_.bases[place.buffer] + offset : nullptr;
}

Status Run::bad_place(const BufferPlace &place, const std::string &user) const {
  if (context_.limits[place.buffer] == kNotPlaced)
    return program_.sizes().explain(context_.sizes, program_.buffers_[place.buffer].bytes,
                                    user + ": the size of buffer '" + program_.buffers_[place.buffer].label +
                                        "'");
  std::string what = user + ": the offset into buffer '" + program_.buffers_[place.buffer].label + "' of " +
                     std::to_string(context_.limits[place.buffer]) + " bytes";
  return program_.sizes().explain(context_.sizes, place.offset, what);
}

StatusOr<int64_t> Run::size(uint32_t slot, const char *what, const std::string &user) const {
  if (context_.sizes.states[slot] != SizeState::kKnown || context_.sizes.values[slot] < 0)
    return program_.sizes().explain(context_.sizes, slot, user + ": " + what);
  return context_.sizes.values[slot];
}

// The hot path: about ten loads a binding, nothing allocated, strings only on errors.
Status Run::launch(const LaunchOperation &op) {
  const int64_t *values = context_.sizes.values.data();
  const SizeState *states = context_.sizes.states.data();
  const BufferPlace *places = program_.bindings_.data() + op.first_binding;
  for (uint32_t i = 0; i < op.binding_count; ++i) {
    context_.bindings[i] = address(places[i], 0);
    if (!context_.bindings[i])
      return bad_place(places[i], "launch '" + op.label + "'");
  }
  const uint32_t *constants = program_.constants_.data() + op.first_constant;
  for (uint32_t i = 0; i < op.constant_count; ++i) {
    context_.constants[i] = values[constants[i]];
    if (states[constants[i]] != SizeState::kKnown)
      return program_.sizes().explain(context_.sizes, constants[i], "launch '" + op.label + "': a constant");
  }
  for (uint32_t slot : {op.workgroups, op.scratch_bytes, op.grain})
    if (states[slot] != SizeState::kKnown || values[slot] < 0)
      return program_.sizes().explain(context_.sizes, slot, "launch '" + op.label + "': its size");
  if (values[op.workgroups] == 0)
    return OkStatus();
  hal::LaunchParams params;
  params.kernel = op.kernel.kernel;
  params.block_threads = op.kernel.block_threads;
  params.shared_bytes = op.kernel.shared_bytes;
  params.bindings = {context_.bindings.data(), op.binding_count};
  params.constants = {context_.constants.data(), op.constant_count};
  params.workgroups = values[op.workgroups];
  params.grain = values[op.grain] > 0 ? values[op.grain] : 1;
  params.scratch_bytes = static_cast<size_t>(values[op.scratch_bytes]);
  TraceScope scope("launch", op.label);
  if (!request_.profile)
    return request_.stream.launch(params);
  auto begin = std::chrono::steady_clock::now();
  QUAVER_RETURN_IF_ERROR(request_.stream.launch(params));
  QUAVER_RETURN_IF_ERROR(request_.stream.synchronize());
  auto time = std::chrono::steady_clock::now() - begin;
  request_.profile->push_back({op.label, op.kernel.kernel->symbol(),
                               std::chrono::duration_cast<std::chrono::nanoseconds>(time).count()});
  return OkStatus();
}

Status Run::copy(const CopyOperation &op) {
  QUAVER_ASSIGN_OR_RETURN(int64_t bytes, size(op.bytes, "its size", "a copy"));
  std::byte *from = address(op.from, bytes), *to = address(op.to, bytes);
  if (!from || !to)
    return bad_place(from ? op.to : op.from, "a copy of " + std::to_string(bytes) + " bytes");
  if (from == to)
    return OkStatus();
  return request_.stream.copy(to, from, static_cast<size_t>(bytes));
}

Status Run::fill(const FillOperation &op) {
  QUAVER_ASSIGN_OR_RETURN(int64_t bytes, size(op.bytes, "its size", "a fill"));
  std::byte *to = address(op.to, bytes);
  if (!to)
    return bad_place(op.to, "a fill of " + std::to_string(bytes) + " bytes");
  return request_.stream.fill(to, op.byte, static_cast<size_t>(bytes));
}

Status Run::read_device(void *to_host, const void *from, size_t bytes) {
  QUAVER_RETURN_IF_ERROR(request_.stream.copy_to_host(to_host, from, bytes));
  return request_.stream.synchronize();
}

/// Widens an integer of the plan's types. Values above INT64_MAX do not occur as sizes: they read as negative
/// ones.
static int64_t widen(plan::ElementType type, const std::byte *from) {
  auto as = [&](auto value) {
    std::memcpy(&value, from, sizeof(value));
    return static_cast<int64_t>(value);
  };
  switch (type) {
  case plan::I32:
    return as(int32_t{});
  case plan::I16:
    return as(int16_t{});
  case plan::I8:
    return as(int8_t{});
  case plan::U32:
    return as(uint32_t{});
  case plan::U16:
    return as(uint16_t{});
  case plan::U8:
  case plan::BOOL:
    return as(uint8_t{});
  default:
    return as(int64_t{}); // I64, U64; entry_program.cpp lets no other type through
  }
}

Status Run::read_back(const ReadBackOperation &op) {
  size_t bytes = plan::element_bytes(op.type);
  std::byte *from = address(op.from, static_cast<int64_t>(op.byte_offset + bytes));
  if (!from)
    return bad_place(op.from, "reading a dimension back");
  std::byte value[8];
  QUAVER_RETURN_IF_ERROR(read_device(value, from + op.byte_offset, bytes));
  QUAVER_RETURN_IF_ERROR(program_.sizes().bind_late(context_.sizes, op.dim, widen(op.type, value)));
  return context_.unbounded.empty() ? OkStatus() : place_unbounded();
}

Status Run::check(const CheckOperation &op) {
  if (context_.sizes.states[op.condition] != SizeState::kKnown)
    return program_.sizes().explain(context_.sizes, op.condition, "the check '" + op.message + "'");
  return context_.sizes.values[op.condition] != 0 ? OkStatus() : InvalidArgumentError(op.message);
}

StatusOr<bool> Run::read_condition(const JumpOperation &op) {
  std::byte *from = address(op.condition, 1);
  if (!from)
    return bad_place(op.condition, "reading a condition");
  uint8_t value = 0;
  QUAVER_RETURN_IF_ERROR(read_device(&value, from, 1));
  return value != 0;
}

} // namespace quaver
