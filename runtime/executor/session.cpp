//===- session.cpp - a model on a device, ready to run ----------------------===//
#include "runtime/executor/session.h"

#include "runtime/base/trace.h"
#include "runtime/executor/input_shapes.h"
#include "runtime/plan/element_type.h"

#include <algorithm>

namespace quaver {

StatusOr<std::unique_ptr<Session>> Session::create(std::shared_ptr<Model> model,
                                                   const hal::DriverRegistry &drivers,
                                                   const SessionOptions &options) {
  QUAVER_ASSIGN_OR_RETURN(std::shared_ptr<hal::Device> device,
                          drivers.open(options.device, {.threads = options.threads}));
  QUAVER_ASSIGN_OR_RETURN(std::shared_ptr<const LoadedTarget> target,
                          model->load_target(*device, options.target));
  return std::unique_ptr<Session>(
      new Session(std::move(model), std::move(device), std::move(target), options.seed));
}

Session::Session(std::shared_ptr<Model> model, std::shared_ptr<hal::Device> device,
                 std::shared_ptr<const LoadedTarget> target, uint64_t seed)
    : model_(std::move(model)), device_(std::move(device)), target_(std::move(target)), seed_(seed),
      free_contexts_(target_->entries().size()) {
  for (int i = 0; i < model_->plan().weights_size(); ++i)
    memory_.weights += static_cast<size_t>(target_->weight(static_cast<uint32_t>(i)).bytes);
}

Session::~Session() = default;

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

StatusOr<std::unique_ptr<RunContext>> Session::take_context(size_t entry) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto &free = free_contexts_[entry];
    if (!free.empty()) {
      std::unique_ptr<RunContext> context = std::move(free.back());
      free.pop_back();
      return context;
    }
  }
  auto context = std::make_unique<RunContext>();
  QUAVER_ASSIGN_OR_RETURN(context->stream, device_->create_stream(hal::StreamMode::kInline));
  return context;
}

void Session::give_back(size_t entry, std::unique_ptr<RunContext> context) {
  context->temporaries.clear();
  std::lock_guard<std::mutex> lock(mutex_);
  free_contexts_[entry].push_back(std::move(context));
}

void Session::account(size_t arena_before, size_t arena_after, int64_t run_high_water,
                      int64_t dynamic_bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  memory_.arenas += arena_after - arena_before;
  memory_.arenas_high_water = std::max(memory_.arenas_high_water, memory_.arenas);
  memory_.run_high_water = std::max(memory_.run_high_water, static_cast<size_t>(run_high_water));
  memory_.dynamic_high_water = std::max(memory_.dynamic_high_water, static_cast<size_t>(dynamic_bytes));
}

namespace {

/// Puts the outputs asked for into the entry's order.
Status match_outputs(const plan::Entry &entry, std::span<RunOutput> outputs,
                     std::vector<RunOutput *> *out_matched) {
  out_matched->assign(entry.outputs_size(), nullptr);
  for (size_t given = 0; given < outputs.size(); ++given) {
    int index = -1;
    if (given < static_cast<size_t>(entry.outputs_size()) &&
        entry.outputs(static_cast<int>(given)).name() == outputs[given].name)
      index = static_cast<int>(given);
    for (int i = 0; index < 0 && i < entry.outputs_size(); ++i)
      if (entry.outputs(i).name() == outputs[given].name)
        index = i;
    std::string name = "output '" + std::string(outputs[given].name) + "'";
    if (index < 0) {
      std::string known;
      for (const plan::TensorType &output : entry.outputs())
        known += (known.empty() ? "'" : ", '") + output.name() + "'";
      return InvalidArgumentError("there is no " + name + "; entry '" + entry.name() + "' makes " +
                                  (known.empty() ? "none" : known));
    }
    if ((*out_matched)[index])
      return InvalidArgumentError(name + " is asked for twice");
    (*out_matched)[index] = &outputs[given];
  }
  return OkStatus();
}

} // namespace

Status Session::run(const EntryProgram &entry, std::span<const RunInput> inputs, std::span<RunOutput> outputs,
                    const RunOptions &options) {
  TraceScope scope("run", entry.name());
  std::vector<const TensorView *> ordered_inputs;
  std::vector<RunOutput *> ordered_outputs;
  QUAVER_RETURN_IF_ERROR(match_inputs(entry.entry(), inputs, &ordered_inputs));
  QUAVER_RETURN_IF_ERROR(check_inputs(entry.entry(), ordered_inputs));
  QUAVER_RETURN_IF_ERROR(match_outputs(entry.entry(), outputs, &ordered_outputs));

  StateGate::Access access = entry.state_access();
  StateSet *states = options.states;
  if (!states && access != StateGate::Access::kNone) {
    QUAVER_ASSIGN_OR_RETURN(states, this->states());
  }
  if (states && &states->target() != target_.get())
    return InvalidArgumentError(
        "the states given are those of another model or target: make them with this session");

  const size_t index = index_of(entry);
  QUAVER_ASSIGN_OR_RETURN(std::unique_ptr<RunContext> context, take_context(index));
  hal::Stream &stream = options.stream ? *options.stream : *context->stream;
  StateTurn turn(states ? &states->gate() : nullptr, access);

  const size_t arena_before = context->arena ? context->arena->bytes() : 0;
  RunRequest request{
      model_->plan(), entry,  *target_,       states ? states->buffers() : std::span<hal::Buffer *const>(),
      *device_,       stream, ordered_inputs, ordered_outputs,
      options.profile};
  Status status = Run(request, *context).issue();
  account(arena_before, context->arena ? context->arena->bytes() : 0, status.ok() ? context->high_water : 0,
          context->dynamic_bytes);

  if (options.stream && status.ok()) {
    // The work is still under way: whoever completes it gives back what it uses. (Shared, since a
    // std::function must be copyable.)
    struct Held {
      StateTurn turn;
      std::unique_ptr<RunContext> context;
    };
    auto held = std::make_shared<Held>(Held{std::move(turn), std::move(context)});
    status = stream.host_callback(
        [this, index, held](const Status &) { give_back(index, std::move(held->context)); });
    if (status.ok())
      return options.completion ? stream.record(*options.completion) : OkStatus();
    stream.synchronize().ignore_error(); // `status` is the error to report
    return status;
  }
  Status done = stream.synchronize(); // also after an error: nothing may touch the context any more
  if (status.ok())
    status = done;
  give_back(index, std::move(context));
  if (status.ok() && options.completion)
    status = stream.record(*options.completion);
  return status;
}

Status Session::evaluate_for(const EntryProgram &entry, std::span<const RunInput> inputs,
                             SizeValues &values) const {
  std::vector<const TensorView *> ordered;
  QUAVER_RETURN_IF_ERROR(match_inputs(entry.entry(), inputs, &ordered));
  QUAVER_RETURN_IF_ERROR(check_ranks(entry.entry(), ordered));
  return bind_input_shapes(model_->plan(), entry, ordered, values);
}

StatusOr<size_t> Session::peak_bytes(const EntryProgram &entry, std::span<const RunInput> inputs) const {
  SizeValues values;
  QUAVER_RETURN_IF_ERROR(evaluate_for(entry, inputs, values));
  uint32_t slot = entry.arena_bytes();
  if (values.reserve_states[slot] != SizeState::kKnown || values.reserve[slot] < 0)
    return entry.sizes().explain(values, slot, "the arena of entry '" + entry.name() + "'", true);
  return static_cast<size_t>(values.reserve[slot]);
}

Status Session::output_bytes(const EntryProgram &entry, std::span<const RunInput> inputs,
                             std::vector<size_t> *out_bytes) const {
  SizeValues values;
  QUAVER_RETURN_IF_ERROR(evaluate_for(entry, inputs, values));
  out_bytes->clear();
  for (const plan::TensorType &type : entry.entry().outputs()) {
    int64_t bytes = static_cast<int64_t>(plan::element_bytes(type.type()));
    for (uint32_t expr : type.shape()) {
      uint32_t slot = entry.sizes().slot(expr);
      if (values.reserve_states[slot] != SizeState::kKnown || values.reserve[slot] < 0 ||
          __builtin_mul_overflow(bytes, values.reserve[slot], &bytes))
        return entry.sizes().explain(values, slot, "output '" + type.name() + "', a dimension", true);
    }
    out_bytes->push_back(static_cast<size_t>(bytes));
  }
  return OkStatus();
}

//===----------------------------------------------------------------------===//
// States and memory
//===----------------------------------------------------------------------===//

StatusOr<std::unique_ptr<StateSet>> Session::create_states() {
  return StateSet::create(model_->plan(), *target_, *device_, seed_);
}

StatusOr<StateSet *> Session::states() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!states_) {
    QUAVER_ASSIGN_OR_RETURN(states_, create_states());
    memory_.states = states_->total_bytes();
  }
  return states_.get();
}

MemoryUse Session::memory() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return memory_;
}

} // namespace quaver
