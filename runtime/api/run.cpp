//===- run.cpp - runs through the C interface -------------------------------===//
#include "runtime/api/handles.h"

#include <algorithm>

using namespace quaver;
using quaver::api::guarded;

namespace {

Status to_inputs(const qv_input *inputs, size_t count, std::vector<RunInput> *out_inputs) {
  if (count && !inputs)
    return InvalidArgumentError(std::to_string(count) + " inputs at a null address");
  out_inputs->clear();
  out_inputs->reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const qv_input &input = inputs[i];
    if (!input.name)
      return InvalidArgumentError("input number " + std::to_string(i) + " has no name");
    if (input.rank < 0 || input.rank > QV_MAX_RANK || (input.rank && !input.shape))
      return InvalidArgumentError("input '" + std::string(input.name) + "' has rank " +
                                  std::to_string(input.rank) + (input.shape ? "" : " and no shape") +
                                  "; ranks are 0 to " + std::to_string(QV_MAX_RANK));
    TensorView view{static_cast<plan::ElementType>(input.type),
                    {input.shape, static_cast<size_t>(input.rank)},
                    input.data,
                    input.bytes,
                    input.memory == QV_MEMORY_DEVICE ? MemorySpace::kDevice : MemorySpace::kHost};
    out_inputs->push_back({input.name, view});
  }
  return OkStatus();
}

Status to_outputs(const qv_output *outputs, size_t count, std::vector<RunOutput> *out_outputs) {
  if (count && !outputs)
    return InvalidArgumentError(std::to_string(count) + " outputs at a null address");
  out_outputs->resize(count);
  for (size_t i = 0; i < count; ++i) {
    if (!outputs[i].name)
      return InvalidArgumentError("output number " + std::to_string(i) + " has no name");
    (*out_outputs)[i].name = outputs[i].name;
    (*out_outputs)[i].data = outputs[i].data;
    (*out_outputs)[i].capacity = outputs[i].capacity;
    (*out_outputs)[i].space =
        outputs[i].memory == QV_MEMORY_DEVICE ? MemorySpace::kDevice : MemorySpace::kHost;
  }
  return OkStatus();
}

void from_output(const std::shared_ptr<SharedSession> &session, RunOutput &from, qv_output &to) {
  to.type = static_cast<qv_type>(from.type);
  to.rank = static_cast<int32_t>(from.shape.size());
  std::copy(from.shape.begin(), from.shape.end(), to.shape);
  to.bytes = from.bytes;
  to.buffer = nullptr;
  if (from.allocated) {
    to.capacity = from.allocated->bytes();
    to.data = from.allocated->device_address();
    to.memory = from.allocated->host_address() ? QV_MEMORY_HOST : QV_MEMORY_DEVICE;
    to.buffer = new qv_buffer{session, std::move(from.allocated)};
  }
}

Status run(qv_session *session, const char *entry_name, const qv_input *inputs, size_t input_count,
           qv_output *outputs, size_t output_count, const qv_run_options *options) {
  RunOptions chosen;
  if (options) {
    if (options->struct_size != sizeof(qv_run_options))
      return InvalidArgumentError(
          "qv_run_options.struct_size is " + std::to_string(options->struct_size) + ", expected " +
          std::to_string(sizeof(qv_run_options)) +
          ": set it to sizeof(qv_run_options) and build against this library's quaver.h");
    // Work of one device cannot wait in another one's queue.
    auto is_elsewhere = [&](const auto *handle) {
      return handle &&
             handle->session->session->device().identity() != session->shared->session->device().identity();
    };
    if (is_elsewhere(options->stream) || is_elsewhere(options->completion))
      return InvalidArgumentError(
          "the stream or event given is of another device: make it with this session");
    chosen.stream = options->stream ? options->stream->stream.get() : nullptr;
    chosen.completion = options->completion ? options->completion->event.get() : nullptr;
    chosen.states = options->states ? options->states->set : nullptr;
  }
  Session &runner = *session->shared->session;
  QUAVER_ASSIGN_OR_RETURN(const EntryProgram *entry, runner.find_entry(entry_name ? entry_name : ""));
  std::vector<RunInput> run_inputs;
  std::vector<RunOutput> run_outputs;
  QUAVER_RETURN_IF_ERROR(to_inputs(inputs, input_count, &run_inputs));
  QUAVER_RETURN_IF_ERROR(to_outputs(outputs, output_count, &run_outputs));
  QUAVER_RETURN_IF_ERROR(runner.run(*entry, run_inputs, run_outputs, chosen));
  for (size_t i = 0; i < output_count; ++i)
    from_output(session->shared, run_outputs[i], outputs[i]);
  return OkStatus();
}

} // namespace

qv_status *qv_run(qv_session *session, const char *entry, const qv_input *inputs, size_t input_count,
                  qv_output *outputs, size_t output_count, const qv_run_options *options) {
  return guarded([&] { return run(session, entry, inputs, input_count, outputs, output_count, options); });
}

qv_status *qv_run_all(qv_session *session, const char *entry, const qv_input *inputs, size_t input_count,
                      qv_output *outputs, size_t output_count) {
  return guarded([&]() -> Status {
    QUAVER_ASSIGN_OR_RETURN(const EntryProgram *found,
                            session->shared->session->find_entry(entry ? entry : ""));
    if (output_count != static_cast<size_t>(found->entry().outputs_size()))
      return InvalidArgumentError("room for " + std::to_string(output_count) + " outputs, entry '" +
                                  found->name() + "' makes " + std::to_string(found->entry().outputs_size()));
    for (size_t i = 0; i < output_count; ++i) {
      outputs[i] = {};
      outputs[i].name = found->entry().outputs(static_cast<int>(i)).name().c_str();
    }
    return run(session, entry, inputs, input_count, outputs, output_count, nullptr);
  });
}

qv_status *qv_output_bytes(const qv_session *session, const char *entry, const qv_input *inputs,
                           size_t input_count, size_t *out_bytes, size_t output_count) {
  return guarded([&]() -> Status {
    Session &runner = *session->shared->session;
    QUAVER_ASSIGN_OR_RETURN(const EntryProgram *found, runner.find_entry(entry ? entry : ""));
    if (output_count != static_cast<size_t>(found->entry().outputs_size()))
      return InvalidArgumentError("room for " + std::to_string(output_count) + " outputs, entry '" +
                                  found->name() + "' makes " + std::to_string(found->entry().outputs_size()));
    std::vector<RunInput> run_inputs;
    std::vector<size_t> bytes;
    QUAVER_RETURN_IF_ERROR(to_inputs(inputs, input_count, &run_inputs));
    QUAVER_RETURN_IF_ERROR(runner.output_bytes(*found, run_inputs, &bytes));
    std::copy(bytes.begin(), bytes.end(), out_bytes);
    return OkStatus();
  });
}

qv_status *qv_peak_bytes(const qv_session *session, const char *entry, const qv_input *inputs,
                         size_t input_count, size_t *out_bytes) {
  *out_bytes = 0;
  return guarded([&]() -> Status {
    Session &runner = *session->shared->session;
    QUAVER_ASSIGN_OR_RETURN(const EntryProgram *found, runner.find_entry(entry ? entry : ""));
    std::vector<RunInput> run_inputs;
    QUAVER_RETURN_IF_ERROR(to_inputs(inputs, input_count, &run_inputs));
    QUAVER_ASSIGN_OR_RETURN(*out_bytes, runner.peak_bytes(*found, run_inputs));
    return OkStatus();
  });
}
