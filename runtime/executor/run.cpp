//===- run.cpp - one run of an entry: the order of things -------------------===//
#include "runtime/executor/run.h"

#include "runtime/executor/input_shapes.h"

#include <algorithm>

namespace quaver {

Status Run::issue() {
  context_.temporaries.clear();
  context_.dynamic_bytes = 0;
  QUAVER_RETURN_IF_ERROR(evaluate_sizes());
  QUAVER_RETURN_IF_ERROR(place_inputs());
  QUAVER_RETURN_IF_ERROR(place_buffers(/*before_prologue=*/true));
  QUAVER_RETURN_IF_ERROR(walk(0, program_.prologue_));
  if (program_.sizes().has_late())
    program_.sizes().evaluate_reserve(context_.sizes);
  QUAVER_RETURN_IF_ERROR(reserve_arena());
  QUAVER_RETURN_IF_ERROR(place_outputs());
  QUAVER_RETURN_IF_ERROR(place_buffers(/*before_prologue=*/false));
  QUAVER_RETURN_IF_ERROR(walk(program_.prologue_, program_.operations_.size()));
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

// With the sizes that the run really had: equal to the plan's peak where nothing depends on data, never above
// it.
void Run::measure_high_water() {
  int64_t end = 0;
  for (const BufferInfo &buffer : program_.buffers_)
    if (buffer.memory == plan::Buffer::ARENA && context_.sizes.states[buffer.bytes] == SizeState::kKnown)
      end = std::max(end, context_.sizes.reserve[buffer.offset] + context_.sizes.values[buffer.bytes]);
  context_.high_water = (end + int64_t{hal::kBufferAlignment} - 1) & ~(int64_t{hal::kBufferAlignment} - 1);
}

} // namespace quaver
