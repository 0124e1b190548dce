#include "runtime/base/trace.h"
#include "runtime/base/atomic_file.h"
#include <chrono>
#include <cstdio>
#include <mutex>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace quaver {

std::atomic<TraceListener *> internal::trace_listener{nullptr};

void set_trace_listener(TraceListener *listener) {
  internal::trace_listener.store(listener, std::memory_order_release);
}

int64_t trace_now_ns() {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

struct TraceFile::Impl {
  struct Scope {
    const char *name;
    std::string detail;
    int64_t begin_ns, end_ns;
    long thread;
  };
  std::string path;
  std::mutex mutex;
  std::vector<Scope> scopes;
};

TraceFile::TraceFile(std::string path) : impl_(new Impl) {
  impl_->path = std::move(path);
  set_trace_listener(this);
}

TraceFile::~TraceFile() {
  TraceListener *self = this;
  internal::trace_listener.compare_exchange_strong(self, nullptr);
}

void TraceFile::record(const char *name, std::string_view detail, int64_t begin_ns, int64_t end_ns) {
  static thread_local const long kThread = syscall(SYS_gettid);
  std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->scopes.push_back({name, std::string(detail), begin_ns, end_ns, kThread});
}

static std::string json_string(std::string_view s) {
  std::string out = "\"";
  for (char c : s) {
    char code[8];
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (static_cast<unsigned char>(c) < 0x20)
      std::snprintf(code, sizeof code, "\\u%04x", c), out += code;
    else
      out += c;
  }
  return out += '"';
}

Status TraceFile::finish() {
  TraceListener *self = this;
  internal::trace_listener.compare_exchange_strong(self, nullptr);
  std::lock_guard<std::mutex> lock(impl_->mutex);
  std::string out = "{\"traceEvents\":[";
  const char *separator = "\n";
  for (const Impl::Scope &s : impl_->scopes) {
    char times[128];
    std::snprintf(times, sizeof times, "\"ph\":\"X\",\"pid\":1,\"tid\":%ld,\"ts\":%.3f,\"dur\":%.3f",
                  s.thread, double(s.begin_ns) / 1e3, double(s.end_ns - s.begin_ns) / 1e3);
    out += separator;
    out += "{\"name\":" + json_string(s.name) + "," + times;
    if (!s.detail.empty())
      out += ",\"args\":{\"detail\":" + json_string(s.detail) + "}";
    out += "}";
    separator = ",\n";
  }
  out += "\n]}\n";
  return write_file_atomically(impl_->path, out);
}

} // namespace quaver
