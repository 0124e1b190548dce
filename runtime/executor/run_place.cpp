//===- run_place.cpp - one run of an entry: where its memory lies -----------===//
#include "runtime/executor/run.h"

#include "runtime/drivers/host/host_buffer.h"

#include "runtime/plan/element_type.h"

#include <utility>

namespace quaver {

StatusOr<int64_t> Run::reserve(uint32_t slot, const std::string &what) const {
  if (context_.sizes.reserve_states[slot] != SizeState::kKnown || context_.sizes.reserve[slot] < 0)
    return program_.sizes().explain(context_.sizes, slot, what, true);
  return context_.sizes.reserve[slot];
}

StatusOr<std::byte *> Run::allocate_temporary(size_t bytes) {
  QUAVER_ASSIGN_OR_RETURN(std::unique_ptr<hal::Buffer> buffer, request_.device.allocate(bytes));
  std::byte *address = static_cast<std::byte *>(buffer->device_address());
  context_.temporaries.push_back(std::move(buffer));
  return address;
}

Status Run::reserve_arena() {
  QUAVER_ASSIGN_OR_RETURN(int64_t bytes,
                          reserve(program_.arena_bytes_, "the arena of entry '" + program_.name() + "'"));
  if (context_.arena && context_.arena->bytes() >= static_cast<size_t>(bytes))
    return OkStatus();
  context_.arena.reset(); // first, so that the old and the new one never exist together
  QUAVER_ASSIGN_OR_RETURN(context_.arena, request_.device.allocate(static_cast<size_t>(bytes)));
  return OkStatus();
}

Status Run::place_inputs() {
  bool needs_staging = !request_.device.info().is_host_addressable;
  input_addresses_.clear();
  for (const TensorView *input : request_.inputs) {
    std::byte *address = static_cast<std::byte *>(const_cast<void *>(input->data));
    if (!address) { // an empty input may have no address, but a binding must have one
      QUAVER_ASSIGN_OR_RETURN(address, allocate_temporary(0));
    } else if (needs_staging && input->space == MemorySpace::kHost) {
      QUAVER_ASSIGN_OR_RETURN(address, allocate_temporary(input->bytes));
      QUAVER_RETURN_IF_ERROR(request_.stream.copy_from_host(address, input->data, input->bytes));
    }
    input_addresses_.push_back(address);
  }
  return OkStatus();
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

Status Run::place_outputs() {
  const int count = program_.entry().outputs_size();
  output_addresses_.assign(count, nullptr);
  output_reserves_.assign(count, kNotPlaced);
  for (int i = 0; i < count; ++i) {
    bool is_known = true;
    for (uint32_t expr : program_.entry().outputs(i).shape())
      is_known &= context_.sizes.reserve_states[program_.sizes().slot(expr)] != SizeState::kUnbound;
    if (is_known)
      QUAVER_RETURN_IF_ERROR(place_output(i, context_.sizes.reserve, context_.sizes.reserve_states));
  }
  return OkStatus();
}

// Reserves an output by its dimensions in `sizes`: those of the run, or their bounds.
Status Run::place_output(int index, const std::vector<int64_t> &sizes, const std::vector<SizeState> &states) {
  const plan::TensorType &type = program_.entry().outputs(index);
  const std::string name = "output '" + type.name() + "'";
  int64_t bytes = static_cast<int64_t>(plan::element_bytes(type.type()));
  for (int axis = 0; axis < type.shape_size(); ++axis) {
    uint32_t slot = program_.sizes().slot(type.shape(axis));
    if (states[slot] != SizeState::kKnown || sizes[slot] < 0)
      return program_.sizes().explain(context_.sizes, slot, name + ", dimension " + std::to_string(axis),
                                      &states == &context_.sizes.reserve_states);
    if (__builtin_mul_overflow(bytes, sizes[slot], &bytes))
      return InvalidArgumentError(name +
                                  " does not fit into 64 bits for these input shapes: use smaller ones");
  }
  if (bytes <= output_reserves_[index])
    return OkStatus(); // placed before, in a loop that binds its size again
  RunOutput *output = request_.outputs[index];
  if (output && output->data) {
    if (output->capacity < static_cast<size_t>(bytes))
      return InvalidArgumentError(name + " needs " + std::to_string(bytes) + " bytes, the buffer given has " +
                                  std::to_string(output->capacity));
    if (reinterpret_cast<uintptr_t>(output->data) % plan::element_bytes(type.type()) != 0)
      return InvalidArgumentError(name + ": the buffer given is not aligned to its elements");
  }
  bool on_device =
      output && (output->space == MemorySpace::kDevice || request_.device.info().is_host_addressable);
  if (output && output->data && on_device) {
    output_addresses_[index] = static_cast<std::byte *>(output->data);
  } else if (output && !output->data) {
    QUAVER_ASSIGN_OR_RETURN(output->allocated, request_.device.allocate(static_cast<size_t>(bytes)));
    output_addresses_[index] = static_cast<std::byte *>(output->allocated->device_address());
  } else {
    QUAVER_ASSIGN_OR_RETURN(output_addresses_[index], allocate_temporary(static_cast<size_t>(bytes)));
  }
  output_reserves_[index] = bytes;
  return OkStatus();
}

Status Run::finish_outputs() {
  const plan::Entry &entry = program_.entry();
  for (int i = 0; i < entry.outputs_size(); ++i) {
    RunOutput *output = request_.outputs[i];
    if (!output)
      continue;
    const plan::TensorType &type = entry.outputs(i);
    if (output_reserves_[i] == kNotPlaced) // no operation touched it: it must be empty
      QUAVER_RETURN_IF_ERROR(place_output(i, context_.sizes.values, context_.sizes.states));
    output->type = type.type();
    output->bytes = plan::element_bytes(type.type());
    output->shape.clear();
    for (uint32_t expr : type.shape()) {
      QUAVER_ASSIGN_OR_RETURN(
          int64_t dim, size(program_.sizes().slot(expr), "a dimension", "output '" + type.name() + "'"));
      output->shape.push_back(dim);
      output->bytes *= static_cast<size_t>(dim);
    }
    if (output->bytes > static_cast<size_t>(output_reserves_[i]))
      return DataLossError("output '" + type.name() +
                           "' is larger than its bound: the plan is wrong, compile again");
    if (output->data && output_addresses_[i] != output->data)
      QUAVER_RETURN_IF_ERROR(request_.stream.copy_to_host(output->data, output_addresses_[i], output->bytes));
    if (output->allocated && output->space == MemorySpace::kHost && !output->allocated->host_address()) {
      QUAVER_ASSIGN_OR_RETURN(std::unique_ptr<hal::Buffer> host, hal::HostBuffer::allocate(output->bytes));
      QUAVER_RETURN_IF_ERROR(
          request_.stream.copy_to_host(host->host_address(), output_addresses_[i], output->bytes));
      context_.temporaries.push_back(std::exchange(output->allocated, std::move(host)));
    }
  }
  return OkStatus();
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

// Before the prologue only inputs have a place; afterwards everything whose size is known or bounded.
Status Run::place_buffers(bool before_prologue) {
  const size_t count = program_.buffers_.size();
  if (before_prologue) {
    context_.bases.assign(count, nullptr);
    context_.limits.assign(count, kNotPlaced);
    context_.unbounded.clear();
    context_.bindings.resize(program_.max_bindings_);
    context_.constants.resize(program_.max_constants_);
    if (program_.prologue_ == 0)
      return OkStatus();
  }
  for (uint32_t i = 0; i < count; ++i)
    if (!before_prologue || program_.buffers_[i].memory == plan::Buffer::INPUT)
      QUAVER_RETURN_IF_ERROR(place_buffer(i));
  return OkStatus();
}

// Resolves a buffer to an address and a size, and checks that it lies within its memory. This is what makes a
// wrong plan an error and not a wild write.
Status Run::place_buffer(uint32_t index) {
  const BufferInfo &buffer = program_.buffers_[index];
  const SizeValues &sizes = context_.sizes;
  bool is_reserved = sizes.reserve_states[buffer.bytes] == SizeState::kKnown;
  SizeState state = is_reserved ? SizeState::kKnown : sizes.states[buffer.bytes];
  int64_t bytes = is_reserved ? sizes.reserve[buffer.bytes] : sizes.values[buffer.bytes];
  if (state == SizeState::kUnbound && buffer.memory != plan::Buffer::ARENA) {
    context_.unbounded.push_back(index);
    return OkStatus();
  }
  if (state != SizeState::kKnown || bytes < 0)
    return program_.sizes().explain(sizes, buffer.bytes, "the size of buffer '" + buffer.label + "'");
  int64_t offset = 0, available = 0;
  std::byte *base = nullptr;
  switch (buffer.memory) {
  case plan::Buffer::ARENA: {
    QUAVER_ASSIGN_OR_RETURN(offset, reserve(buffer.offset, "the offset of a buffer"));
    base = static_cast<std::byte *>(context_.arena->device_address());
    available = sizes.reserve[program_.arena_bytes_];
    break;
  }
  case plan::Buffer::INPUT:
    base = input_addresses_[buffer.index];
    available = static_cast<int64_t>(request_.inputs[buffer.index]->bytes);
    break;
  case plan::Buffer::OUTPUT:
    if (output_reserves_[buffer.index] < bytes && !is_reserved)
      QUAVER_RETURN_IF_ERROR(place_output(static_cast<int>(buffer.index), sizes.values, sizes.states));
    base = output_addresses_[buffer.index];
    available = output_reserves_[buffer.index];
    break;
  case plan::Buffer::WEIGHT:
    base = request_.target.weight(buffer.index).address;
    available = request_.target.weight(buffer.index).bytes;
    break;
  case plan::Buffer::STATE:
    base = static_cast<std::byte *>(request_.states[buffer.index]->device_address());
    available = static_cast<int64_t>(request_.states[buffer.index]->bytes());
    break;
  case plan::Buffer::DYNAMIC: {
    QUAVER_ASSIGN_OR_RETURN(base, allocate_temporary(static_cast<size_t>(bytes)));
    context_.dynamic_bytes += bytes;
    available = bytes;
    break;
  }
  default:
    return DataLossError("a buffer of entry '" + program_.name() + "' is of an unknown memory");
  }
  if (offset > available || bytes > available - offset)
    return DataLossError("buffer '" + buffer.label + "' of entry '" + program_.name() + "' needs " +
                         std::to_string(bytes) + " bytes at " + std::to_string(offset) + ", its memory has " +
                         std::to_string(available) + ": the plan is wrong, compile the model again");
  context_.bases[index] = base + offset;
  context_.limits[index] = bytes;
  return OkStatus();
}

// After a dimension was bound: what waited for it, and what a loop has made larger. A buffer that moves does
// not keep its contents; its old memory stays until the run ends, for work that is still under way.
Status Run::place_unbounded() {
  for (uint32_t index : std::vector<uint32_t>(std::exchange(context_.unbounded, {}))) {
    const BufferInfo &buffer = program_.buffers_[index];
    bool is_known = context_.sizes.states[buffer.bytes] == SizeState::kKnown;
    if (is_known && context_.sizes.values[buffer.bytes] <= context_.limits[index])
      is_known = false; // it fits where it is
    if (is_known)
      QUAVER_RETURN_IF_ERROR(place_buffer(index));
    context_.unbounded.push_back(index);
  }
  return OkStatus();
}

} // namespace quaver
