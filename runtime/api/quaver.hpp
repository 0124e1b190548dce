//===- quaver.hpp - C++ over quaver.h ---------------------------------------===//
//
// Header-only RAII: handles are move-only objects, tensors are spans, a failed call throws qv::Error (thrown
// by this header, in your code; none crosses the library). Link libquaver.so.
//
//   qv::Model model("model.quaver");
//   qv::Session session(model);
//   std::vector<float> x(128);
//   std::vector<qv::Output> y = session.run({qv::input<float>("x", {1, 128}, x)});
//   std::span<const float> result = y[0].as<float>();
//
//===----------------------------------------------------------------------===//
#pragma once

#include "quaver.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace qv {

/// A failed call: what() is the sentence, code() its kind.
class Error : public std::runtime_error {
public:
  Error(qv_code code, const char *message) : std::runtime_error(message), code_(code) {}
  qv_code code() const { return code_; }

private:
  qv_code code_;
};

/// Throws for a failed status, and releases it.
inline void check(qv_status *status) {
  if (!status)
    return;
  Error error(qv_status_code(status), qv_status_message(status));
  qv_status_release(status);
  throw error;
}

template <typename T> struct ElementOf {
  static_assert(!sizeof(T), "no element type for this C++ type: use qv::raw_input and name the qv_type");
};
template <> struct ElementOf<double> {
  static constexpr qv_type value = QV_F64;
};
template <> struct ElementOf<float> {
  static constexpr qv_type value = QV_F32;
};
template <> struct ElementOf<int64_t> {
  static constexpr qv_type value = QV_I64;
};
template <> struct ElementOf<int32_t> {
  static constexpr qv_type value = QV_I32;
};
template <> struct ElementOf<int16_t> {
  static constexpr qv_type value = QV_I16;
};
template <> struct ElementOf<int8_t> {
  static constexpr qv_type value = QV_I8;
};
template <> struct ElementOf<uint64_t> {
  static constexpr qv_type value = QV_U64;
};
template <> struct ElementOf<uint32_t> {
  static constexpr qv_type value = QV_U32;
};
template <> struct ElementOf<uint16_t> {
  static constexpr qv_type value = QV_U16;
};
template <> struct ElementOf<uint8_t> {
  static constexpr qv_type value = QV_U8;
};
template <> struct ElementOf<bool> {
  static constexpr qv_type value = QV_BOOL;
};

namespace detail {
template <auto Release> struct Deleter {
  template <typename T> void operator()(T *handle) const { Release(handle); }
};
template <typename T, auto Release> using Handle = std::unique_ptr<T, Deleter<Release>>;
} // namespace detail

/// An input of a run. The data is the caller's, the shape is kept here.
struct Input {
  std::string name;
  qv_type type;
  std::vector<int64_t> shape;
  const void *data;
  size_t bytes;
  qv_memory memory = QV_MEMORY_HOST;
};

inline Input raw_input(std::string name, qv_type type, std::vector<int64_t> shape, const void *data,
                       size_t bytes, qv_memory memory = QV_MEMORY_HOST) {
  return {std::move(name), type, std::move(shape), data, bytes, memory};
}

template <typename T>
Input input(std::string name, std::vector<int64_t> shape, std::type_identity_t<std::span<const T>> data) {
  return {std::move(name), ElementOf<T>::value, std::move(shape), data.data(), data.size_bytes()};
}

/// Device memory (host memory on the host).
class Buffer {
public:
  explicit Buffer(qv_buffer *handle) : handle_(handle) {}
  void *data() const { return qv_buffer_data(handle_.get()); }
  void *host_data() const { return qv_buffer_host_data(handle_.get()); }
  size_t bytes() const { return qv_buffer_bytes(handle_.get()); }

private:
  detail::Handle<qv_buffer, qv_buffer_release> handle_;
};

/// A result that the run allocated; the memory goes with the object.
class Output {
public:
  explicit Output(const qv_output &from)
      : name_(from.name), type_(from.type), shape_(from.shape, from.shape + from.rank), bytes_(from.bytes),
        buffer_(from.buffer) {}

  const std::string &name() const { return name_; }
  qv_type type() const { return type_; }
  const std::vector<int64_t> &shape() const { return shape_; }
  size_t bytes() const { return bytes_; }
  const void *data() const { return buffer_.data(); }

  /// The elements, on a device whose memory the host can address.
  template <typename T> std::span<const T> as() const {
    if (type_ != ElementOf<T>::value)
      throw Error(QV_INVALID_ARGUMENT, ("output '" + name_ + "' is " + qv_type_name(type_)).c_str());
    if (!buffer_.host_data())
      throw Error(QV_FAILED_PRECONDITION, ("output '" + name_ + "' is in device memory").c_str());
    return {static_cast<const T *>(buffer_.host_data()), bytes_ / sizeof(T)};
  }

private:
  std::string name_;
  qv_type type_;
  std::vector<int64_t> shape_;
  size_t bytes_;
  Buffer buffer_;
};

class Model {
public:
  explicit Model(const std::string &path) {
    qv_model *handle = nullptr;
    check(qv_model_open(path.c_str(), &handle));
    handle_.reset(handle);
  }
  std::string name() const { return qv_model_name(handle_.get()); }
  std::string precision() const { return qv_model_precision(handle_.get()); }
  qv_model *handle() const { return handle_.get(); }

private:
  detail::Handle<qv_model, qv_model_release> handle_;
};

struct SessionOptions {
  std::string device = "host";
  std::string target = ""; // empty = best
  int threads = 0;         // 0 = all CPUs
  uint64_t seed = 0;
};

class Event {
public:
  explicit Event(qv_event *handle) : handle_(handle) {}
  bool is_complete() const { return qv_event_is_complete(handle_.get()) != 0; }
  void wait() { check(qv_event_wait(handle_.get())); }
  qv_event *handle() const { return handle_.get(); }

private:
  detail::Handle<qv_event, qv_event_release> handle_;
};

class Stream {
public:
  explicit Stream(qv_stream *handle) : handle_(handle) {}
  void synchronize() { check(qv_stream_synchronize(handle_.get())); }
  void record(Event &event) { check(qv_stream_record(handle_.get(), event.handle())); }
  void wait(Event &event) { check(qv_stream_wait(handle_.get(), event.handle())); }
  qv_stream *handle() const { return handle_.get(); }

private:
  detail::Handle<qv_stream, qv_stream_release> handle_;
};

/// All states of a model: key-value caches, parameters, moments.
class States {
public:
  explicit States(qv_states *handle) : handle_(handle) {}
  void reset() { check(qv_states_reset(handle_.get(), nullptr)); }
  void reset(const std::string &name) { check(qv_states_reset(handle_.get(), name.c_str())); }
  std::vector<std::byte> save(const std::string &name) const {
    size_t bytes = 0;
    check(qv_states_bytes(handle_.get(), name.c_str(), &bytes));
    std::vector<std::byte> saved(bytes);
    check(qv_states_save(handle_.get(), name.c_str(), saved.data(), bytes));
    return saved;
  }
  void load(const std::string &name, std::span<const std::byte> from) {
    check(qv_states_load(handle_.get(), name.c_str(), from.data(), from.size()));
  }
  qv_states *handle() const { return handle_.get(); }

private:
  detail::Handle<qv_states, qv_states_release> handle_;
};

class Session {
public:
  explicit Session(const Model &model, const SessionOptions &options = {}) {
    qv_session_options c{};
    c.struct_size = sizeof(c);
    c.device = options.device.c_str();
    c.target = options.target.empty() ? nullptr : options.target.c_str();
    c.threads = options.threads;
    c.seed = options.seed;
    qv_session *handle = nullptr;
    check(qv_session_create(model.handle(), &c, &handle));
    handle_.reset(handle);
  }

  std::string target() const { return qv_session_target(handle_.get()); }
  int threads() const { return qv_session_threads(handle_.get()); }
  qv_session *handle() const { return handle_.get(); }

  /// Descriptions are views into the session. entry: empty = the first one.
  std::vector<qv_tensor_info> inputs(const std::string &entry = {}) const {
    std::vector<qv_tensor_info> all(qv_session_input_count(handle_.get(), or_null(entry)));
    for (size_t i = 0; i < all.size(); ++i)
      check(qv_session_input(handle_.get(), or_null(entry), i, &all[i]));
    return all;
  }
  std::vector<qv_tensor_info> outputs(const std::string &entry = {}) const {
    std::vector<qv_tensor_info> all(qv_session_output_count(handle_.get(), or_null(entry)));
    for (size_t i = 0; i < all.size(); ++i)
      check(qv_session_output(handle_.get(), or_null(entry), i, &all[i]));
    return all;
  }

  /// Runs an entry and returns all outputs, allocated by the run.
  std::vector<Output> run(const std::vector<Input> &inputs, const std::string &entry = {}) {
    std::vector<qv_input> c = to_c(inputs);
    std::vector<qv_output> outputs(qv_session_output_count(handle_.get(), or_null(entry)));
    check(qv_run_all(handle_.get(), or_null(entry), c.data(), c.size(), outputs.data(), outputs.size()));
    std::vector<Output> results;
    results.reserve(outputs.size());
    for (const qv_output &output : outputs)
      results.emplace_back(output);
    return results;
  }

  /// Runs into the caller's memory: fill name, data, capacity and memory of each output. With a stream in
  /// `options` the inputs' data and the outputs must live until the work has completed.
  void run_into(const std::vector<Input> &inputs, std::span<qv_output> outputs, const std::string &entry = {},
                const qv_run_options *options = nullptr) {
    std::vector<qv_input> c = to_c(inputs);
    check(qv_run(handle_.get(), or_null(entry), c.data(), c.size(), outputs.data(), outputs.size(), options));
  }

  Buffer allocate(size_t bytes) {
    qv_buffer *buffer = nullptr;
    check(qv_buffer_create(handle_.get(), bytes, &buffer));
    return Buffer(buffer);
  }
  Stream create_stream() {
    qv_stream *stream = nullptr;
    check(qv_stream_create(handle_.get(), &stream));
    return Stream(stream);
  }
  Event create_event() {
    qv_event *event = nullptr;
    check(qv_event_create(handle_.get(), &event));
    return Event(event);
  }
  /// The session's own states, and a fresh set.
  States states() {
    qv_states *states = nullptr;
    check(qv_session_states(handle_.get(), &states));
    return States(states);
  }
  States create_states() {
    qv_states *states = nullptr;
    check(qv_states_create(handle_.get(), &states));
    return States(states);
  }
  qv_memory_use memory() const {
    qv_memory_use use{};
    check(qv_session_memory(handle_.get(), &use));
    return use;
  }
  std::string peak_formula(const std::string &entry = {}) const {
    const char *formula = qv_session_peak_formula(handle_.get(), or_null(entry));
    return formula ? formula : "";
  }

private:
  static const char *or_null(const std::string &text) { return text.empty() ? nullptr : text.c_str(); }
  static std::vector<qv_input> to_c(const std::vector<Input> &inputs) {
    std::vector<qv_input> c;
    for (const Input &i : inputs)
      c.push_back({i.name.c_str(), i.type, static_cast<int32_t>(i.shape.size()), i.shape.data(), i.data,
                   i.bytes, i.memory});
    return c;
  }

  detail::Handle<qv_session, qv_session_release> handle_;
};

} // namespace qv
