//===- run.cpp - one run of an entry: reserving and placing memory ----------===//
#include "runtime/executor/run.h"

#include "runtime/executor/input_shapes.h"
#include "runtime/plan/element_type.h"

#include <algorithm>

namespace quaver {

Status Run::issue() {
  QUAVER_RETURN_IF_ERROR(evaluate_sizes());
  context_.temporaries.clear();
  QUAVER_RETURN_IF_ERROR(reserve_arena());
  QUAVER_RETURN_IF_ERROR(place_inputs());
  QUAVER_RETURN_IF_ERROR(place_outputs());
  QUAVER_RETURN_IF_ERROR(place_buffers());
  QUAVER_RETURN_IF_ERROR(walk());
  QUAVER_RETURN_IF_ERROR(finish_outputs());
  measure_high_water();
  return OkStatus();
}

Status Run::evaluate_sizes() {
  auto same = [&](size_t i) { return std::ranges::equal(context_.shapes[i], request_.inputs[i]->shape); };
  bool is_same = context_.has_sizes;
  for (size_t i = 0; is_same && i < request_.inputs.size(); ++i)
    is_same = same(i);
  if (is_same) {
    program_.sizes().forget_late(context_.sizes);
    return OkStatus();
  }
  context_.has_sizes = false;
  QUAVER_RETURN_IF_ERROR(bind_input_shapes(request_.plan, program_, request_.inputs, context_.sizes));
  context_.shapes.resize(request_.inputs.size());
  for (size_t i = 0; i < request_.inputs.size(); ++i)
    context_.shapes[i].assign(request_.inputs[i]->shape.begin(), request_.inputs[i]->shape.end());
  context_.has_sizes = true;
  return OkStatus();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

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
    if (!address) // an empty input may have no address, but a binding must have one
      address = static_cast<std::byte *>(context_.arena->device_address());
    if (needs_staging && input->space == MemorySpace::kHost && input->bytes) {
      QUAVER_ASSIGN_OR_RETURN(address, allocate_temporary(input->bytes));
      QUAVER_RETURN_IF_ERROR(request_.stream.copy_from_host(address, input->data, input->bytes));
    }
    input_addresses_.push_back(address);
  }
  return OkStatus();
}

Status Run::place_outputs() {
  const plan::Entry &entry = program_.entry();
  output_addresses_.assign(entry.outputs_size(), nullptr);
  output_reserves_.assign(entry.outputs_size(), 0);
  for (int i = 0; i < entry.outputs_size(); ++i) {
    const plan::TensorType &type = entry.outputs(i);
    std::string name = "output '" + type.name() + "'";
    int64_t bytes = static_cast<int64_t>(plan::element_bytes(type.type()));
    for (int axis = 0; axis < type.shape_size(); ++axis) {
      QUAVER_ASSIGN_OR_RETURN(int64_t dim, reserve(program_.sizes().slot(type.shape(axis)),
                                                   name + ", dimension " + std::to_string(axis)));
      if (__builtin_mul_overflow(bytes, dim, &bytes))
        return InvalidArgumentError(name +
                                    " does not fit into 64 bits for these input shapes: use smaller ones");
    }
    output_reserves_[i] = bytes;
    RunOutput *output = request_.outputs[i];
    bool on_device =
        output && (output->space == MemorySpace::kDevice || request_.device.info().is_host_addressable);
    if (output && output->data) {
      if (output->capacity < static_cast<size_t>(bytes))
        return InvalidArgumentError(name + " needs " + std::to_string(bytes) +
                                    " bytes, the buffer given has " + std::to_string(output->capacity));
      if (reinterpret_cast<uintptr_t>(output->data) % plan::element_bytes(type.type()) != 0)
        return InvalidArgumentError(name + ": the buffer given is not aligned to its elements");
    }
    if (output && output->data && on_device) {
      output_addresses_[i] = static_cast<std::byte *>(output->data);
    } else if (output && !output->data) {
      QUAVER_ASSIGN_OR_RETURN(output->allocated, request_.device.allocate(static_cast<size_t>(bytes)));
      output_addresses_[i] = static_cast<std::byte *>(output->allocated->device_address());
    } else {
      QUAVER_ASSIGN_OR_RETURN(output_addresses_[i], allocate_temporary(static_cast<size_t>(bytes)));
    }
  }
  return OkStatus();
}

// Resolves every buffer of the entry to an address and a size, and checks that it lies within its memory.
// This is what makes a wrong plan an error and not a wild write.
Status Run::place_buffers() {
  context_.bases.resize(program_.buffers_.size());
  context_.limits.resize(program_.buffers_.size());
  for (size_t i = 0; i < program_.buffers_.size(); ++i) {
    const BufferInfo &buffer = program_.buffers_[i];
    SizeState state = context_.sizes.reserve_states[buffer.bytes];
    int64_t bytes = context_.sizes.reserve[buffer.bytes], offset = 0, available = 0;
    if (state != SizeState::kKnown || bytes < 0)
      return program_.sizes().explain(context_.sizes, buffer.bytes,
                                      "the size of buffer '" + buffer.label + "'", true);
    std::byte *base = nullptr;
    switch (buffer.memory) {
    case plan::Buffer::ARENA: {
      QUAVER_ASSIGN_OR_RETURN(offset, reserve(buffer.offset, "the offset of a buffer"));
      base = static_cast<std::byte *>(context_.arena->device_address());
      available = context_.sizes.reserve[program_.arena_bytes_];
      break;
    }
    case plan::Buffer::INPUT:
      base = input_addresses_[buffer.index];
      available = static_cast<int64_t>(request_.inputs[buffer.index]->bytes);
      break;
    case plan::Buffer::OUTPUT:
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
    default:
      return DataLossError("a buffer of entry '" + program_.name() + "' is of an unknown memory");
    }
    if (offset > available || bytes > available - offset)
      return DataLossError("buffer '" + buffer.label + "' of entry '" + program_.name() + "' needs " +
                           std::to_string(bytes) + " bytes at " + std::to_string(offset) +
                           ", its memory has " + std::to_string(available) +
                           ": the plan is wrong, compile the model again");
    context_.bases[i] = base + offset;
    context_.limits[i] = bytes;
  }
  context_.bindings.resize(program_.max_bindings_);
  context_.constants.resize(program_.max_constants_);
  return OkStatus();
}

// With the sizes that the run really had: equal to the plan's peak where nothing depends on data, never above
// it.
void Run::measure_high_water() {
  int64_t end = 0;
  for (const BufferInfo &buffer : program_.buffers_)
    if (buffer.memory == plan::Buffer::ARENA && context_.sizes.states[buffer.bytes] == SizeState::kKnown)
      end = std::max(end, context_.sizes.reserve[buffer.offset] + context_.sizes.values[buffer.bytes]);
  context_.high_water = (end + int64_t{hal::kBufferAlignment} - 1) & ~(int64_t{hal::kBufferAlignment} - 1);
}

Status Run::finish_outputs() {
  const plan::Entry &entry = program_.entry();
  for (int i = 0; i < entry.outputs_size(); ++i) {
    RunOutput *output = request_.outputs[i];
    if (!output)
      continue;
    const plan::TensorType &type = entry.outputs(i);
    output->type = type.type();
    output->bytes = plan::element_bytes(type.type());
    output->shape.clear();
    for (uint32_t expr : type.shape()) {
      QUAVER_ASSIGN_OR_RETURN(
          int64_t dim, size(program_.sizes().slot(expr), "a dimension", "output '" + type.name() + "'"));
      output->shape.push_back(dim);
      output->bytes *= static_cast<size_t>(dim); // no overflow: each is at most its reserve
    }
    if (output->bytes > static_cast<size_t>(output_reserves_[i]))
      return DataLossError("output '" + type.name() +
                           "' is larger than its bound: the plan is wrong, compile again");
    if (output->data && output_addresses_[i] != output->data)
      QUAVER_RETURN_IF_ERROR(request_.stream.copy_to_host(output->data, output_addresses_[i], output->bytes));
  }
  return OkStatus();
}

} // namespace quaver
