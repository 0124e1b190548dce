//===- memory.cpp - buffers, streams, events and states of the C interface --===//
#include "runtime/api/handles.h"

using namespace quaver;
using quaver::api::guarded;
using quaver::api::to_c;

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

qv_status *qv_buffer_create(qv_session *session, size_t bytes, qv_buffer **out_buffer) {
  *out_buffer = nullptr;
  return guarded([&]() -> Status {
    QUAVER_ASSIGN_OR_RETURN(std::unique_ptr<hal::Buffer> buffer,
                            session->shared->session->device().allocate(bytes));
    *out_buffer = new qv_buffer{session->shared, std::move(buffer)};
    return OkStatus();
  });
}

void qv_buffer_release(qv_buffer *buffer) { delete buffer; }
void *qv_buffer_data(const qv_buffer *buffer) { return buffer->buffer->device_address(); }
void *qv_buffer_host_data(const qv_buffer *buffer) { return buffer->buffer->host_address(); }
size_t qv_buffer_bytes(const qv_buffer *buffer) { return buffer->buffer->bytes(); }

qv_status *qv_copy_to_host(qv_session *session, void *to_host, const void *from_device, size_t bytes) {
  return guarded([&]() -> Status {
    QUAVER_ASSIGN_OR_RETURN(std::unique_ptr<hal::Stream> stream,
                            session->shared->session->device().create_stream(hal::StreamMode::kInline));
    QUAVER_RETURN_IF_ERROR(stream->copy_to_host(to_host, from_device, bytes));
    return stream->synchronize();
  });
}

qv_status *qv_copy_from_host(qv_session *session, void *to_device, const void *from_host, size_t bytes) {
  return guarded([&]() -> Status {
    QUAVER_ASSIGN_OR_RETURN(std::unique_ptr<hal::Stream> stream,
                            session->shared->session->device().create_stream(hal::StreamMode::kInline));
    QUAVER_RETURN_IF_ERROR(stream->copy_from_host(to_device, from_host, bytes));
    return stream->synchronize();
  });
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

qv_status *qv_stream_create(qv_session *session, qv_stream **out_stream) {
  *out_stream = nullptr;
  return guarded([&]() -> Status {
    QUAVER_ASSIGN_OR_RETURN(std::unique_ptr<hal::Stream> stream,
                            session->shared->session->device().create_stream(hal::StreamMode::kQueued));
    *out_stream = new qv_stream{session->shared, std::move(stream)};
    return OkStatus();
  });
}

void qv_stream_release(qv_stream *stream) { delete stream; }

qv_status *qv_stream_synchronize(qv_stream *stream) {
  return guarded([&] { return stream->stream->synchronize(); });
}

qv_status *qv_event_create(qv_session *session, qv_event **out_event) {
  *out_event = nullptr;
  return guarded([&]() -> Status {
    QUAVER_ASSIGN_OR_RETURN(std::unique_ptr<hal::Event> event,
                            session->shared->session->device().create_event());
    *out_event = new qv_event{session->shared, std::move(event)};
    return OkStatus();
  });
}

void qv_event_release(qv_event *event) { delete event; }
int qv_event_is_complete(const qv_event *event) { return event->event->is_complete(); }

qv_status *qv_event_wait(qv_event *event) {
  return guarded([&] { return event->event->wait(); });
}

qv_status *qv_stream_record(qv_stream *stream, qv_event *event) {
  return guarded([&] { return stream->stream->record(*event->event); });
}

qv_status *qv_stream_wait(qv_stream *stream, qv_event *event) {
  return guarded([&] { return stream->stream->wait(*event->event); });
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

qv_status *qv_states_create(qv_session *session, qv_states **out_states) {
  *out_states = nullptr;
  return guarded([&]() -> Status {
    QUAVER_ASSIGN_OR_RETURN(std::unique_ptr<StateSet> set, session->shared->session->create_states());
    StateSet *raw = set.get();
    *out_states = new qv_states{session->shared, std::move(set), raw};
    return OkStatus();
  });
}

qv_status *qv_session_states(qv_session *session, qv_states **out_states) {
  *out_states = nullptr;
  return guarded([&]() -> Status {
    QUAVER_ASSIGN_OR_RETURN(StateSet * set, session->shared->session->states());
    *out_states = new qv_states{session->shared, nullptr, set};
    return OkStatus();
  });
}

void qv_states_release(qv_states *states) { delete states; }

namespace {
/// reset() takes an empty name for all states; the others need one.
Status need_name(const char *name) {
  return name && *name ? OkStatus() : InvalidArgumentError("the name of a state is missing");
}
} // namespace

qv_status *qv_states_reset(qv_states *states, const char *name) {
  return guarded([&] { return states->set->reset(name ? name : ""); });
}

qv_status *qv_states_bytes(const qv_states *states, const char *name, size_t *out_bytes) {
  *out_bytes = 0;
  return guarded([&]() -> Status {
    QUAVER_RETURN_IF_ERROR(need_name(name));
    QUAVER_ASSIGN_OR_RETURN(*out_bytes, states->set->bytes(name));
    return OkStatus();
  });
}

qv_status *qv_states_save(qv_states *states, const char *name, void *to_host, size_t bytes) {
  return guarded([&]() -> Status {
    QUAVER_RETURN_IF_ERROR(need_name(name));
    return states->set->save(name, {static_cast<std::byte *>(to_host), bytes});
  });
}

qv_status *qv_states_load(qv_states *states, const char *name, const void *from_host, size_t bytes) {
  return guarded([&]() -> Status {
    QUAVER_RETURN_IF_ERROR(need_name(name));
    return states->set->load(name, {static_cast<const std::byte *>(from_host), bytes});
  });
}

qv_status *qv_session_memory(const qv_session *session, qv_memory_use *out_use) {
  *out_use = {};
  return guarded([&]() -> Status {
    MemoryUse use = session->shared->session->memory();
    *out_use = {use.weights,           use.states,         use.arenas,
                use.arenas_high_water, use.run_high_water, use.dynamic_high_water};
    return OkStatus();
  });
}
