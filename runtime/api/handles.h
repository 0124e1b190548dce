//===- handles.h - what is behind the handles of quaver.h -------------------===//
#pragma once

#include "runtime/api/quaver.h"
#include "runtime/executor/session.h"

#include <memory>
#include <string>
#include <vector>

struct qv_status {
  qv_code code;
  std::string message;
};

struct qv_model {
  std::shared_ptr<quaver::Model> model;
};

/// Descriptions of one entry's tensors, made once, so that queries return pointers into it.
struct EntryDescription {
  struct Tensor {
    qv_tensor_info info;
    std::vector<qv_dim> dims;
  };
  std::vector<Tensor> inputs, outputs;
  std::string peak_formula;
};

struct SharedSession {
  std::shared_ptr<quaver::Model> model;
  std::unique_ptr<quaver::Session> session;
  std::vector<EntryDescription> entries; // as session->entries()
  std::vector<EntryDescription::Tensor> states;
};

struct qv_session {
  std::shared_ptr<SharedSession> shared;
};

// The session is declared first everywhere, so that it goes last.
struct qv_buffer {
  std::shared_ptr<SharedSession> session;
  std::unique_ptr<quaver::hal::Buffer> buffer;
};

struct qv_stream {
  std::shared_ptr<SharedSession> session;
  std::unique_ptr<quaver::hal::Stream> stream;
};

struct qv_event {
  std::shared_ptr<SharedSession> session;
  std::unique_ptr<quaver::hal::Event> event;
};

struct qv_states {
  std::shared_ptr<SharedSession> session;
  std::unique_ptr<quaver::StateSet> owned; // empty: the session's own set
  quaver::StateSet *set;
};

namespace quaver::api {

/// NULL for OK.
qv_status *to_c(const Status &status);

/// The C view of every input, output and state of a session.
void describe(SharedSession &shared);

/// Runs `body` (returning Status), lets no exception out: memory may end anywhere.
template <typename Body> qv_status *guarded(Body &&body) {
  try {
    return to_c(body());
  } catch (const std::bad_alloc &) {
    return to_c(ResourceExhaustedError("not enough memory"));
  } catch (const std::exception &error) {
    return to_c(InternalError(std::string("unexpected: ") + error.what()));
  }
}

} // namespace quaver::api
