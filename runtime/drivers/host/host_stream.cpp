//===- host_stream.cpp - in-order work on the host --------------------------===//
#include "runtime/drivers/host/host_stream.h"

#include "runtime/drivers/host/host_event.h"
#include "runtime/drivers/host/host_launch.h"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace quaver::hal {
namespace {

Status check_range(const char *what, const void *to, const void *from, size_t bytes) {
  if (bytes && (!to || !from))
    return InvalidArgumentError(std::string(what) + " of " + std::to_string(bytes) +
                                " bytes got a null address");
  return OkStatus();
}

//===----------------------------------------------------------------------===//
// Inline
//===----------------------------------------------------------------------===//

class InlineStream final : public Stream {
public:
  explicit InlineStream(ThreadPool &pool) : pool_(pool) {}

  Status copy(void *to, const void *from, size_t bytes) override {
    QUAVER_RETURN_IF_ERROR(check_range("a copy", to, from, bytes));
    if (status_.ok() && bytes)
      std::memmove(to, from, bytes); // why: a plan whose ranges overlap is wrong, not undefined
    return OkStatus();
  }
  Status copy_from_host(void *to, const void *from, size_t bytes) override { return copy(to, from, bytes); }
  Status copy_to_host(void *to, const void *from, size_t bytes) override { return copy(to, from, bytes); }

  Status fill(void *to, uint8_t byte, size_t bytes) override {
    QUAVER_RETURN_IF_ERROR(check_range("a fill", to, to, bytes));
    if (status_.ok() && bytes)
      std::memset(to, byte, bytes);
    return OkStatus();
  }

  Status launch(const LaunchParams &params) override {
    QUAVER_RETURN_IF_ERROR(check_launch(params));
    if (status_.ok())
      status_ = run_launch(pool_, params);
    return OkStatus();
  }

  Status host_callback(HostCallback callback) override {
    callback(status_);
    return OkStatus();
  }

  Status record(Event &event) override {
    auto &host_event = static_cast<HostEvent &>(event);
    host_event.complete_record(host_event.begin_record(), status_);
    return OkStatus();
  }

  Status wait(Event &event) override {
    auto &host_event = static_cast<HostEvent &>(event);
    host_event.wait_for(host_event.newest_record());
    return OkStatus();
  }

  Status synchronize() override { return std::exchange(status_, OkStatus()); }

private:
  ThreadPool &pool_;
  Status status_; // first error of the work so far
};

//===----------------------------------------------------------------------===//
// Queued
//===----------------------------------------------------------------------===//

class QueuedStream final : public Stream {
public:
  explicit QueuedStream(ThreadPool &pool) : pool_(pool), thread_([this] { work(); }) {}

  ~QueuedStream() override {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join(); // works off the queue first
  }

  Status copy(void *to, const void *from, size_t bytes) override {
    QUAVER_RETURN_IF_ERROR(check_range("a copy", to, from, bytes));
    if (bytes)
      issue([=](Status &status) {
        if (status.ok())
          std::memmove(to, from, bytes);
      });
    return OkStatus();
  }
  Status copy_from_host(void *to, const void *from, size_t bytes) override { return copy(to, from, bytes); }
  Status copy_to_host(void *to, const void *from, size_t bytes) override { return copy(to, from, bytes); }

  Status fill(void *to, uint8_t byte, size_t bytes) override {
    QUAVER_RETURN_IF_ERROR(check_range("a fill", to, to, bytes));
    if (bytes)
      issue([=](Status &status) {
        if (status.ok())
          std::memset(to, byte, bytes);
      });
    return OkStatus();
  }

  Status launch(const LaunchParams &params) override {
    QUAVER_RETURN_IF_ERROR(check_launch(params));
    issue(
        [this, params, bindings = std::vector<void *>(params.bindings.begin(), params.bindings.end()),
         constants = std::vector<int64_t>(params.constants.begin(), params.constants.end())](Status &status) {
          if (!status.ok())
            return;
          LaunchParams own = params;
          own.bindings = bindings;
          own.constants = constants;
          status = run_launch(pool_, own);
        });
    return OkStatus();
  }

  Status host_callback(HostCallback callback) override {
    issue([callback = std::move(callback)](Status &status) { callback(status); });
    return OkStatus();
  }

  Status record(Event &event) override {
    auto &host_event = static_cast<HostEvent &>(event);
    uint64_t ticket = host_event.begin_record();
    issue([&host_event, ticket](Status &status) { host_event.complete_record(ticket, status); });
    return OkStatus();
  }

  Status wait(Event &event) override {
    auto &host_event = static_cast<HostEvent &>(event);
    uint64_t ticket = host_event.newest_record();
    issue([&host_event, ticket](Status &) { host_event.wait_for(ticket); });
    return OkStatus();
  }

  Status synchronize() override {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return queue_.empty() && !is_working_; });
    return std::exchange(status_, OkStatus());
  }

private:
  using Operation = std::function<void(Status &)>;

  void issue(Operation operation) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      queue_.push_back(std::move(operation));
    }
    changed_.notify_all();
  }

  void work() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
      if (queue_.empty())
        return;
      Operation operation = std::move(queue_.front());
      queue_.pop_front();
      is_working_ = true;
      Status status = status_;
      lock.unlock();
      operation(status);
      operation = nullptr; // what it captured goes before synchronize() returns
      lock.lock();
      status_ = std::move(status);
      is_working_ = false;
      if (queue_.empty())
        changed_.notify_all();
    }
  }

  ThreadPool &pool_;
  std::mutex mutex_; // guards what follows
  std::condition_variable changed_;
  std::deque<Operation> queue_;
  bool is_working_ = false;
  bool stopping_ = false;
  Status status_;      // first error of the work so far
  std::thread thread_; // last: starts when the rest exists
};

} // namespace

std::unique_ptr<Stream> make_host_stream(ThreadPool &pool, StreamMode mode) {
  if (mode == StreamMode::kQueued)
    return std::make_unique<QueuedStream>(pool);
  return std::make_unique<InlineStream>(pool);
}

} // namespace quaver::hal
