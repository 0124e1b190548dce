// Trace hooks: scopes whose times are recorded while somebody listens. Off they cost one load each.
#pragma once
#include "runtime/base/status.h"
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace quaver {

/// Receives finished scopes, from any thread and at the same time.
class TraceListener {
public:
  virtual ~TraceListener() = default;
  /// Times in nanoseconds of the steady clock. `name` is a literal, `detail` lives during the call only.
  virtual void record(const char *name, std::string_view detail, int64_t begin_ns, int64_t end_ns) = 0;
};

/// Sends scopes to `listener`, which outlives all scopes that begin before it is replaced; nullptr = off.
void set_trace_listener(TraceListener *listener);
int64_t trace_now_ns();

namespace internal {
extern std::atomic<TraceListener *> trace_listener;
} // namespace internal

/// Records from its construction to its destruction. `name` must be a literal; `detail` must outlive the
/// scope.
class TraceScope {
public:
  explicit TraceScope(const char *name, std::string_view detail = {})
      : listener_(internal::trace_listener.load(std::memory_order_acquire)) {
    if (listener_)
      name_ = name, detail_ = detail, begin_ = trace_now_ns();
  }
  ~TraceScope() {
    if (listener_)
      listener_->record(name_, detail_, begin_, trace_now_ns());
  }
  TraceScope(const TraceScope &) = delete;
  TraceScope &operator=(const TraceScope &) = delete;

private:
  TraceListener *listener_;
  const char *name_ = nullptr;
  std::string_view detail_;
  int64_t begin_ = 0;
};

/// Listens from construction to finish(), which writes all scopes as Chrome trace JSON (chrome://tracing,
/// Perfetto). libquaver.so keeps one from the first model on, to the process's end, when QUAVER_TRACE names a
/// file.
class TraceFile : public TraceListener {
public:
  explicit TraceFile(std::string path);
  ~TraceFile() override;
  void record(const char *name, std::string_view detail, int64_t begin_ns, int64_t end_ns) override;
  /// Stops listening and writes the file, whole or not at all. Call it when no scope is open any more.
  Status finish();

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace quaver
