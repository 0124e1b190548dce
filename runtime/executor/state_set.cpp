//===- state_set.cpp - the states of one user of a session ------------------===//
#include "runtime/executor/state_set.h"

#include "runtime/executor/size_program.h"
#include "runtime/hal/stream.h"

namespace quaver {

StatusOr<std::unique_ptr<StateSet>> StateSet::create(const plan::Plan &plan, const LoadedTarget &target,
                                                     hal::Device &device, uint64_t seed) {
  std::unique_ptr<StateSet> set(new StateSet(plan, target, device, seed));
  std::vector<uint32_t> roots;
  for (const plan::State &state : plan.states())
    roots.push_back(state.capacity());
  SizeProgram sizes(plan, roots);
  SizeValues values;
  sizes.prepare(values);
  // A state outlives the runs that bind dimensions, so it is reserved for the largest ones.
  for (int i = 0; i < plan.dims_size(); ++i)
    if (plan.dims(i).max() > 0) {
      values.dims[i] = plan.dims(i).max();
      values.dim_bound[i] = 1;
    }
  sizes.evaluate(values);
  for (const plan::State &state : plan.states()) {
    uint32_t slot = sizes.slot(state.capacity());
    if (values.states[slot] != SizeState::kKnown || values.values[slot] < 0)
      return FailedPreconditionError("state '" + state.type().name() +
                                     "' depends on a dimension without a limit: "
                                     "compile with --dim NAME=MIN:MAX for each of its dimensions");
    QUAVER_ASSIGN_OR_RETURN(std::unique_ptr<hal::Buffer> buffer,
                            device.allocate(static_cast<size_t>(values.values[slot])));
    set->pointers_.push_back(buffer.get());
    set->buffers_.push_back(std::move(buffer));
  }
  QUAVER_RETURN_IF_ERROR(set->reset({}));
  return set;
}

StatusOr<int> StateSet::find(std::string_view name) const {
  std::string known;
  for (int i = 0; i < plan_.states_size(); ++i) {
    if (plan_.states(i).type().name() == name)
      return i;
    known += (known.empty() ? "'" : ", '") + plan_.states(i).type().name() + "'";
  }
  return NotFoundError("the model has no state '" + std::string(name) + "'; it has " +
                       (known.empty() ? "none" : known));
}

Status StateSet::reset_one(int index, hal::Stream &stream) {
  const plan::State &state = plan_.states(index);
  hal::Buffer &buffer = *buffers_[index];
  if (state.init_plus_1() != 0) {
    const LoadedTarget::WeightPlace &init = target_.weight(state.init_plus_1() - 1);
    if (static_cast<size_t>(init.bytes) != buffer.bytes())
      return DataLossError("state '" + state.type().name() + "' has " + std::to_string(buffer.bytes()) +
                           " bytes, its initial weight " + std::to_string(init.bytes) +
                           ": the plan is wrong, compile the model again");
    return stream.copy(buffer.device_address(), init.address, buffer.bytes());
  }
  QUAVER_RETURN_IF_ERROR(stream.fill(buffer.device_address(), 0, buffer.bytes()));
  if (state.type().name() == kRandomStateName && buffer.bytes() >= sizeof(seed_))
    return stream.copy_from_host(buffer.device_address(), &seed_, sizeof(seed_));
  return OkStatus();
}

Status StateSet::reset(std::string_view name) {
  if (buffers_.empty() && name.empty())
    return OkStatus();
  int only = -1;
  if (!name.empty()) {
    QUAVER_ASSIGN_OR_RETURN(only, find(name));
  }
  QUAVER_ASSIGN_OR_RETURN(std::unique_ptr<hal::Stream> stream,
                          device_.create_stream(hal::StreamMode::kInline));
  StateTurn turn(&gate_, StateGate::Access::kWrite);
  for (int i = 0; i < plan_.states_size(); ++i)
    if (only < 0 || only == i)
      QUAVER_RETURN_IF_ERROR(reset_one(i, *stream));
  return stream->synchronize();
}

StatusOr<size_t> StateSet::bytes(std::string_view name) const {
  QUAVER_ASSIGN_OR_RETURN(int index, find(name));
  return buffers_[index]->bytes();
}

Status StateSet::save(std::string_view name, std::span<std::byte> out) {
  QUAVER_ASSIGN_OR_RETURN(int index, find(name));
  if (out.size() != buffers_[index]->bytes())
    return InvalidArgumentError("state '" + std::string(name) + "' has " +
                                std::to_string(buffers_[index]->bytes()) + " bytes, the buffer given " +
                                std::to_string(out.size()));
  QUAVER_ASSIGN_OR_RETURN(std::unique_ptr<hal::Stream> stream,
                          device_.create_stream(hal::StreamMode::kInline));
  StateTurn turn(&gate_, StateGate::Access::kRead);
  QUAVER_RETURN_IF_ERROR(stream->copy_to_host(out.data(), buffers_[index]->device_address(), out.size()));
  return stream->synchronize();
}

Status StateSet::load(std::string_view name, std::span<const std::byte> in) {
  QUAVER_ASSIGN_OR_RETURN(int index, find(name));
  if (in.size() != buffers_[index]->bytes())
    return InvalidArgumentError("state '" + std::string(name) + "' has " +
                                std::to_string(buffers_[index]->bytes()) + " bytes, the data given " +
                                std::to_string(in.size()));
  QUAVER_ASSIGN_OR_RETURN(std::unique_ptr<hal::Stream> stream,
                          device_.create_stream(hal::StreamMode::kInline));
  StateTurn turn(&gate_, StateGate::Access::kWrite);
  QUAVER_RETURN_IF_ERROR(stream->copy_from_host(buffers_[index]->device_address(), in.data(), in.size()));
  return stream->synchronize();
}

size_t StateSet::total_bytes() const {
  size_t total = 0;
  for (const auto &buffer : buffers_)
    total += buffer->bytes();
  return total;
}

} // namespace quaver
