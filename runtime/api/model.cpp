//===- model.cpp - models and sessions of the C interface -------------------===//
#include "runtime/api/handles.h"

#include "runtime/base/env.h"
#include "runtime/base/trace.h"
#include "runtime/drivers/registration.h"
#include <cstdio>
#include <cstdlib>

using namespace quaver;
using quaver::api::guarded;

void qv_status_release(qv_status *status) {
  if (status && !status->message.empty()) // the one status without a message is static
    delete status;
}

const char *qv_version(void) { return QUAVER_VERSION; }

//===----------------------------------------------------------------------===//
// Model
//===----------------------------------------------------------------------===//

// The library keeps the trace itself: its scopes are seen by listeners of its own only, whoever the embedder
// is.
static void trace_if_asked() {
  [[maybe_unused]] static const bool once = [] {
    static TraceFile *trace = nullptr; // lives until the process ends, as scopes of any thread may
    if (std::string file = env(Env::kTrace); !file.empty()) {
      trace = new TraceFile(file);
      std::atexit([] {
        if (Status written = trace->finish(); !written.ok())
          std::fprintf(stderr, "quaver: the trace was not written: %s\n", written.message().c_str());
      });
    }
    return true;
  }();
}

qv_status *qv_model_open(const char *path, qv_model **out_model) {
  *out_model = nullptr;
  trace_if_asked();
  return guarded([&]() -> Status {
    if (!path)
      return InvalidArgumentError("qv_model_open got no path");
    QUAVER_ASSIGN_OR_RETURN(std::shared_ptr<Model> model, Model::open(path));
    *out_model = new qv_model{std::move(model)};
    return OkStatus();
  });
}

void qv_model_release(qv_model *model) { delete model; }
const char *qv_model_name(const qv_model *model) { return model->model->plan().model_name().c_str(); }
const char *qv_model_precision(const qv_model *model) { return model->model->plan().precision().c_str(); }

size_t qv_model_target_count(const qv_model *model) {
  return static_cast<size_t>(model->model->plan().targets_size());
}

const char *qv_model_target_name(const qv_model *model, size_t index) {
  if (index >= qv_model_target_count(model))
    return nullptr;
  return model->model->plan().targets(static_cast<int>(index)).name().c_str();
}

//===----------------------------------------------------------------------===//
// Session
//===----------------------------------------------------------------------===//

qv_status *qv_session_create(qv_model *model, const qv_session_options *options, qv_session **out_session) {
  *out_session = nullptr;
  return guarded([&]() -> Status {
    if (!model)
      return InvalidArgumentError("qv_session_create got no model");
    SessionOptions chosen;
    if (options) {
      if (options->struct_size != sizeof(qv_session_options))
        return InvalidArgumentError(
            "qv_session_options.struct_size is " + std::to_string(options->struct_size) + ", expected " +
            std::to_string(sizeof(qv_session_options)) +
            ": set it to sizeof(qv_session_options) and build against this library's quaver.h");
      if (options->device)
        chosen.device = options->device;
      if (options->target)
        chosen.target = options->target;
      chosen.threads = options->threads;
      chosen.seed = options->seed;
    }
    auto shared = std::make_shared<SharedSession>();
    shared->model = model->model;
    QUAVER_ASSIGN_OR_RETURN(shared->session, Session::create(model->model, default_drivers(), chosen));
    for (const EntryProgram &entry : shared->session->entries())
      for (const auto *types : {&entry.entry().inputs(), &entry.entry().outputs()})
        for (const plan::TensorType &type : *types)
          if (type.shape_size() > QV_MAX_RANK)
            return UnimplementedError("'" + type.name() + "' has rank " + std::to_string(type.shape_size()) +
                                      "; this interface carries at most " + std::to_string(QV_MAX_RANK));
    api::describe(*shared);
    *out_session = new qv_session{std::move(shared)};
    return OkStatus();
  });
}

void qv_session_release(qv_session *session) { delete session; }

const char *qv_session_target(const qv_session *session) {
  return session->shared->session->target().name().c_str();
}

int qv_session_threads(const qv_session *session) {
  return session->shared->session->device().info().workers;
}

size_t qv_session_entry_count(const qv_session *session) { return session->shared->entries.size(); }

const char *qv_session_entry_name(const qv_session *session, size_t index) {
  const auto &entries = session->shared->session->entries();
  return index < entries.size() ? entries[index].name().c_str() : nullptr;
}

namespace {

StatusOr<const EntryDescription *> find(const qv_session *session, const char *name) {
  const SharedSession &shared = *session->shared;
  QUAVER_ASSIGN_OR_RETURN(const EntryProgram *entry, shared.session->find_entry(name ? name : ""));
  return &shared.entries[static_cast<size_t>(entry - shared.session->entries().data())];
}

using Tensors = std::vector<EntryDescription::Tensor>;

Status tensor_info(const Tensors &tensors, size_t index, const char *kind, qv_tensor_info *out_info) {
  if (index >= tensors.size())
    return NotFoundError("there is no " + std::string(kind) + " number " + std::to_string(index) + ", only " +
                         std::to_string(tensors.size()));
  *out_info = tensors[index].info;
  return OkStatus();
}

} // namespace

size_t qv_session_input_count(const qv_session *session, const char *entry) {
  auto found = find(session, entry);
  return found.ok() ? (*found)->inputs.size() : 0;
}

size_t qv_session_output_count(const qv_session *session, const char *entry) {
  auto found = find(session, entry);
  return found.ok() ? (*found)->outputs.size() : 0;
}

qv_status *qv_session_input(const qv_session *session, const char *entry, size_t index,
                            qv_tensor_info *out_info) {
  *out_info = {};
  return guarded([&]() -> Status {
    QUAVER_ASSIGN_OR_RETURN(const EntryDescription *found, find(session, entry));
    return tensor_info(found->inputs, index, "input", out_info);
  });
}

qv_status *qv_session_output(const qv_session *session, const char *entry, size_t index,
                             qv_tensor_info *out_info) {
  *out_info = {};
  return guarded([&]() -> Status {
    QUAVER_ASSIGN_OR_RETURN(const EntryDescription *found, find(session, entry));
    return tensor_info(found->outputs, index, "output", out_info);
  });
}

size_t qv_state_count(const qv_session *session) { return session->shared->states.size(); }

qv_status *qv_state_info(const qv_session *session, size_t index, qv_tensor_info *out_info) {
  *out_info = {};
  return guarded([&] { return tensor_info(session->shared->states, index, "state", out_info); });
}

const char *qv_session_peak_formula(const qv_session *session, const char *entry) {
  auto found = find(session, entry);
  return found.ok() ? (*found)->peak_formula.c_str() : nullptr;
}
