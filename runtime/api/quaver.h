/*===- quaver.h - the C interface of the Quaver runtime ---------------------===
 *
 * Open a model, create a session on a device, run its entries:
 *
 *   qv_model *model; qv_session *session;
 *   qv_status *status = qv_model_open("model.quaver", &model);
 *   if (!status) status = qv_session_create(model, NULL, &session);
 *   if (!status) status = qv_run(session, NULL, inputs, n, outputs, m, NULL);
 *   if (status) { fprintf(stderr, "%s\n", qv_status_message(status)); qv_status_release(status); }
 *
 * Errors: a function that can fail returns a qv_status: NULL on success, else an object with a code and a
 * sentence that the caller releases. Outputs (last parameters) are set to NULL or 0 on failure. Ownership:
 * every *_create / *_open gives a handle that the caller gives to the matching *_release, which accepts NULL.
 * A handle keeps what it was made from alive, so the order of releases does not matter.
 * Threads: every function may be called from any thread; one session from many threads at once, too.
 * Exception: one qv_stream is used by one thread at a time. Strings are UTF-8, NUL-terminated; those returned
 * belong to the object that they came from. Artifacts hold native code: open only those you built or trust.
 *===----------------------------------------------------------------------===*/
#ifndef QUAVER_H
#define QUAVER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define QV_EXPORT __attribute__((visibility("default")))
#else
#define QV_EXPORT
#endif

/* Version of this interface: major changes break callers, minor ones add to it. */
#define QV_VERSION_MAJOR 0
#define QV_VERSION_MINOR 1
#define QV_MAX_RANK 16

/*===----------------------------------------------------------------------===*
 * Status
 *===----------------------------------------------------------------------===*/

typedef struct qv_status qv_status;

typedef enum qv_code {
  QV_OK = 0,
  QV_INVALID_ARGUMENT = 1,    /* the call is wrong: a name, shape, type, size */
  QV_NOT_FOUND = 2,           /* no such file, entry, state, target, device */
  QV_FAILED_PRECONDITION = 3, /* right call, wrong circumstances: another CPU, another version */
  QV_RESOURCE_EXHAUSTED = 4,  /* memory */
  QV_DATA_LOSS = 5,           /* the artifact is damaged, or its plan is wrong */
  QV_UNIMPLEMENTED = 6,       /* this device cannot do that */
  QV_INTERNAL = 7             /* our fault */
} qv_code;

/* The code of a status; QV_OK for NULL. */
QV_EXPORT qv_code qv_status_code(const qv_status *status);
/* One sentence: what, where, what to do. "" for NULL. */
QV_EXPORT const char *qv_status_message(const qv_status *status);
QV_EXPORT void qv_status_release(qv_status *status);

/* Version of the library as "0.1.0". */
QV_EXPORT const char *qv_version(void);

/*===----------------------------------------------------------------------===*
 * Model: an opened artifact
 *===----------------------------------------------------------------------===*/

typedef struct qv_model qv_model;

/* Opens and checks an artifact. Weights are mapped, not read. */
QV_EXPORT qv_status *qv_model_open(const char *path, qv_model **out_model);
QV_EXPORT void qv_model_release(qv_model *model);
/* As the source model calls itself; may be "". */
QV_EXPORT const char *qv_model_name(const qv_model *model);
/* The preset or policy that it was compiled with: "fp8". */
QV_EXPORT const char *qv_model_precision(const qv_model *model);
QV_EXPORT size_t qv_model_target_count(const qv_model *model);
/* "x86-64-v3"; NULL when index is out of range. */
QV_EXPORT const char *qv_model_target_name(const qv_model *model, size_t index);

/*===----------------------------------------------------------------------===*
 * Session: a model on a device
 *===----------------------------------------------------------------------===*/

typedef struct qv_session qv_session;

typedef struct qv_session_options {
  size_t struct_size; /* sizeof(qv_session_options) */
  const char *device; /* "host"; NULL = "host" */
  const char *target; /* one of the model's targets; NULL = the best that the device runs */
  int threads;        /* workers, the calling thread included; 0 = one for each CPU this process may use */
  uint64_t seed;      /* of the model's random generator */
} qv_session_options;

/* options: NULL = defaults (all zero). */
QV_EXPORT qv_status *qv_session_create(qv_model *model, const qv_session_options *options,
                                       qv_session **out_session);
QV_EXPORT void qv_session_release(qv_session *session);
/* The target chosen. */
QV_EXPORT const char *qv_session_target(const qv_session *session);
QV_EXPORT int qv_session_threads(const qv_session *session);

/* Element types. Sub-byte values do not occur; QV_BOOL is one byte, 0 or 1. */
typedef enum qv_type {
  QV_F64 = 1,
  QV_F32 = 2,
  QV_F16 = 3,
  QV_BF16 = 4,
  QV_F8E4M3FN = 5,
  QV_F8E5M2 = 6,
  QV_F8E4M3FNUZ = 7,
  QV_F8E5M2FNUZ = 8,
  QV_F8E8M0FNU = 9,
  QV_I64 = 10,
  QV_I32 = 11,
  QV_I16 = 12,
  QV_I8 = 13,
  QV_U64 = 14,
  QV_U32 = 15,
  QV_U16 = 16,
  QV_U8 = 17,
  QV_BOOL = 18
} qv_type;

/* Bytes of one element; 0 for a value that is no type. */
QV_EXPORT size_t qv_type_bytes(qv_type type);
/* "f32", "bf16", "f8E4M3FN", "i64", "bool"; "invalid" for a value that is no type. */
QV_EXPORT const char *qv_type_name(qv_type type);

/* A dimension of an input or output. */
typedef struct qv_dim {
  const char *name; /* "batch", "64", "past + sequence" */
  int64_t size;     /* -1 when it depends on input shapes or data */
  int64_t min, max; /* limits of a symbol, inclusive; max 0 = none stated; both `size` when that is known */
  int64_t multiple_of; /* 1 = any */
} qv_dim;

typedef struct qv_tensor_info {
  const char *name;
  qv_type type;
  int32_t rank;
  const qv_dim *dims; /* rank of them, owned by the session */
} qv_tensor_info;

QV_EXPORT size_t qv_session_entry_count(const qv_session *session);
/* NULL when index is out of range. */
QV_EXPORT const char *qv_session_entry_name(const qv_session *session, size_t index);
/* entry: NULL = the first one. An unknown entry has 0 inputs and outputs. */
QV_EXPORT size_t qv_session_input_count(const qv_session *session, const char *entry);
QV_EXPORT size_t qv_session_output_count(const qv_session *session, const char *entry);
QV_EXPORT qv_status *qv_session_input(const qv_session *session, const char *entry, size_t index,
                                      qv_tensor_info *out_info);
QV_EXPORT qv_status *qv_session_output(const qv_session *session, const char *entry, size_t index,
                                       qv_tensor_info *out_info);

/*===----------------------------------------------------------------------===*
 * Buffers, streams, events
 *===----------------------------------------------------------------------===*/

typedef enum qv_memory { QV_MEMORY_HOST = 0, QV_MEMORY_DEVICE = 1 } qv_memory;

/* Device memory, 64-byte aligned. On the host device that is host memory. */
typedef struct qv_buffer qv_buffer;
QV_EXPORT qv_status *qv_buffer_create(qv_session *session, size_t bytes, qv_buffer **out_buffer);
QV_EXPORT void qv_buffer_release(qv_buffer *buffer);
/* The device address. */
QV_EXPORT void *qv_buffer_data(const qv_buffer *buffer);
/* The same bytes for the host, NULL where it cannot address them. */
QV_EXPORT void *qv_buffer_host_data(const qv_buffer *buffer);
QV_EXPORT size_t qv_buffer_bytes(const qv_buffer *buffer);
/* Copies between the host and the session's device; returns when done. */
QV_EXPORT qv_status *qv_copy_to_host(qv_session *session, void *to_host, const void *from_device,
                                     size_t bytes);
QV_EXPORT qv_status *qv_copy_from_host(qv_session *session, void *to_device, const void *from_host,
                                       size_t bytes);

/* An in-order queue of runs that proceed in the background. */
typedef struct qv_stream qv_stream;
QV_EXPORT qv_status *qv_stream_create(qv_session *session, qv_stream **out_stream);
/* Waits for its work. */
QV_EXPORT void qv_stream_release(qv_stream *stream);
/* Waits for all work issued so far; returns its first error and clears it. */
QV_EXPORT qv_status *qv_stream_synchronize(qv_stream *stream);

/* A point in a stream's work; complete while never recorded. Release it only after the streams have passed
 * it. */
typedef struct qv_event qv_event;
QV_EXPORT qv_status *qv_event_create(qv_session *session, qv_event **out_event);
QV_EXPORT void qv_event_release(qv_event *event);
QV_EXPORT int qv_event_is_complete(const qv_event *event);
/* Waits; returns the error of the work before the point. */
QV_EXPORT qv_status *qv_event_wait(qv_event *event);
QV_EXPORT qv_status *qv_stream_record(qv_stream *stream, qv_event *event);
/* Later work of `stream` waits for `event` as it is recorded now. */
QV_EXPORT qv_status *qv_stream_wait(qv_stream *stream, qv_event *event);

/*===----------------------------------------------------------------------===*
 * Runs
 *===----------------------------------------------------------------------===*/

/* Caller-owned, dense, row-major, aligned to its elements; valid and unchanged until the run has completed.
 */
typedef struct qv_input {
  const char *name;
  qv_type type;
  int32_t rank;
  const int64_t *shape;
  const void *data;
  size_t bytes;
  qv_memory memory;
} qv_input;

/* Before the run: name, and either data + capacity + memory (the caller's buffer) or data = NULL and memory
 * (the run allocates there). After it: type, rank, shape, bytes; data and buffer (to be released) where the
 * run allocated.
 */
typedef struct qv_output {
  const char *name;
  void *data;
  size_t capacity;
  qv_memory memory;
  qv_type type;
  int32_t rank;
  int64_t shape[QV_MAX_RANK];
  size_t bytes;
  qv_buffer *buffer;
} qv_output;

typedef struct qv_states qv_states;

typedef struct qv_run_options {
  size_t struct_size; /* sizeof(qv_run_options) */
  qv_stream
      *stream; /* NULL: qv_run returns when the run has completed. Else it returns when the work is issued,
                  having waited only where the plan reads a value back (data-dependent sizes, if, while). */
  qv_event *completion; /* recorded after the run's work, or NULL */
  qv_states *states;    /* NULL = the session's own */
} qv_run_options;

/* Runs an entry (NULL = the first). Outputs that are not named are computed and dropped. Output memory must
 * not overlap input memory. Concurrent runs do not wait for each other, unless both write the same qv_states.
 */
QV_EXPORT qv_status *qv_run(qv_session *session, const char *entry, const qv_input *inputs,
                            size_t input_count, qv_output *outputs, size_t output_count,
                            const qv_run_options *options);

/* The convenient form: fills outputs[0 .. qv_session_output_count) with all outputs in order, each allocated.
 */
QV_EXPORT qv_status *qv_run_all(qv_session *session, const char *entry, const qv_input *inputs,
                                size_t input_count, qv_output *outputs, size_t output_count);

/* Bytes to provide for each output of the entry, in order, for inputs of these shapes (their data may be
 * NULL). Exact, or the upper bound where a size depends on data. */
QV_EXPORT qv_status *qv_output_bytes(const qv_session *session, const char *entry, const qv_input *inputs,
                                     size_t input_count, size_t *out_bytes, size_t output_count);

/*===----------------------------------------------------------------------===*
 * State: what outlives a run (key-value caches, parameters, moments)
 *===----------------------------------------------------------------------===*/

QV_EXPORT size_t qv_state_count(const qv_session *session);
/* The dims of a state are its largest sizes. */
QV_EXPORT qv_status *qv_state_info(const qv_session *session, size_t index, qv_tensor_info *out_info);

/* A set of all states of the model, at their initial values: one for each conversation, say. */
QV_EXPORT qv_status *qv_states_create(qv_session *session, qv_states **out_states);
/* A handle of the session's own set, to be released too. */
QV_EXPORT qv_status *qv_session_states(qv_session *session, qv_states **out_states);
QV_EXPORT void qv_states_release(qv_states *states);
/* Back to the initial value: the state `name`, or all when it is NULL. */
QV_EXPORT qv_status *qv_states_reset(qv_states *states, const char *name);
QV_EXPORT qv_status *qv_states_bytes(const qv_states *states, const char *name, size_t *out_bytes);
/* `bytes` must be exactly that many. Both wait for runs under way that use the set. */
QV_EXPORT qv_status *qv_states_save(qv_states *states, const char *name, void *to_host, size_t bytes);
QV_EXPORT qv_status *qv_states_load(qv_states *states, const char *name, const void *from_host, size_t bytes);

/*===----------------------------------------------------------------------===*
 * Memory
 *===----------------------------------------------------------------------===*/

/* All in bytes. */
typedef struct qv_memory_use {
  size_t weights;            /* mapped (host) or uploaded (other devices) */
  size_t states;             /* of the session's own set, once it is used */
  size_t arenas;             /* reserved now, for all concurrent runs */
  size_t arenas_high_water;  /* largest `arenas` so far */
  size_t run_high_water;     /* largest use of its arena by one run so far */
  size_t dynamic_high_water; /* most that one run needed for buffers whose size depends on data without a
                                bound */
} qv_memory_use;

QV_EXPORT qv_status *qv_session_memory(const qv_session *session, qv_memory_use *out_use);
/* The arena of one run of the entry as a formula of the dimension symbols, in bytes: "1024*batch*sequence +
 * 64". NULL when there is no such entry. */
QV_EXPORT const char *qv_session_peak_formula(const qv_session *session, const char *entry);
/* The same for inputs of these shapes. */
QV_EXPORT qv_status *qv_peak_bytes(const qv_session *session, const char *entry, const qv_input *inputs,
                                   size_t input_count, size_t *out_bytes);

#ifdef __cplusplus
}
#endif
#endif
