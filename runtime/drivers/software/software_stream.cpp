//===- software_stream.cpp - in-order work that the CPU does ----------------===//
#include "runtime/drivers/software/software_stream.h"

#include "runtime/drivers/software/software_event.h"
#include "runtime/hal/executable.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
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

/// Checks what is issued; the two kinds say when it is done.
class CheckedStream : public Stream {
public:
  explicit CheckedStream(SoftwareWork &work) : work_(work) {}

  Status copy(void *to, const void *from, size_t bytes) override {
    return issue_copy(to, from, bytes, SoftwareWork::Direction::kDevice);
  }
  Status copy_from_host(void *to, const void *from, size_t bytes) override {
    return issue_copy(to, from, bytes, SoftwareWork::Direction::kFromHost);
  }
  Status copy_to_host(void *to, const void *from, size_t bytes) override {
    return issue_copy(to, from, bytes, SoftwareWork::Direction::kToHost);
  }
  Status fill(void *to, uint8_t byte, size_t bytes) override {
    QUAVER_RETURN_IF_ERROR(check_range("a fill", to, to, bytes));
    if (bytes)
      issue([=, this](Status &status) { status = work_.fill(to, byte, bytes); });
    return OkStatus();
  }
  Status launch(const LaunchParams &params) override {
    QUAVER_RETURN_IF_ERROR(check_launch_counts(params));
    QUAVER_RETURN_IF_ERROR(work_.check_launch(params));
    if (params.workgroups)
      issue_launch(params);
    return OkStatus();
  }

protected:
  /// Gets the stream's status, and may make it an error.
  using Operation = std::function<void(Status &)>;
  /// Does it, now or later, unless the stream has failed by then.
  virtual void issue(Operation operation) = 0;
  /// The same for a launch, whose arrays live until this returns.
  virtual void issue_launch(const LaunchParams &params) = 0;

  SoftwareWork &work_;

private:
  Status issue_copy(void *to, const void *from, size_t bytes, SoftwareWork::Direction direction) {
    QUAVER_RETURN_IF_ERROR(check_range("a copy", to, from, bytes));
    if (bytes)
      issue([=, this](Status &status) { status = work_.copy(to, from, bytes, direction); });
    return OkStatus();
  }
};

//===----------------------------------------------------------------------===//
// Inline
//===----------------------------------------------------------------------===//

class InlineStream final : public CheckedStream {
public:
  using CheckedStream::CheckedStream;

  Status host_callback(HostCallback callback) override {
    callback(status_);
    return OkStatus();
  }

  Status record(Event &event) override {
    auto &software_event = static_cast<SoftwareEvent &>(event);
    software_event.complete_record(software_event.begin_record(), status_);
    return OkStatus();
  }

  Status wait(Event &event) override {
    auto &software_event = static_cast<SoftwareEvent &>(event);
    software_event.wait_for(software_event.newest_record());
    return OkStatus();
  }

  Status synchronize() override { return std::exchange(status_, OkStatus()); }

private:
  void issue(Operation operation) override {
    if (status_.ok())
      operation(status_);
  }
  void issue_launch(const LaunchParams &params) override {
    if (status_.ok()) // nothing to copy: the arrays live until this returns
      status_ = work_.launch(params);
  }

  Status status_; // first error of the work so far
};

//===----------------------------------------------------------------------===//
// Queued
//===----------------------------------------------------------------------===//

class QueuedStream final : public CheckedStream {
public:
  explicit QueuedStream(SoftwareWork &work) : CheckedStream(work), thread_([this] { run(); }) {}

  ~QueuedStream() override {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join(); // works off the queue first
  }

  Status host_callback(HostCallback callback) override {
    push([callback = std::move(callback)](Status &status) { callback(status); });
    return OkStatus();
  }

  Status record(Event &event) override {
    auto &software_event = static_cast<SoftwareEvent &>(event);
    uint64_t ticket = software_event.begin_record();
    push([&software_event, ticket](Status &status) { software_event.complete_record(ticket, status); });
    return OkStatus();
  }

  Status wait(Event &event) override {
    auto &software_event = static_cast<SoftwareEvent &>(event);
    uint64_t ticket = software_event.newest_record();
    push([&software_event, ticket](Status &) { software_event.wait_for(ticket); });
    return OkStatus();
  }

  Status synchronize() override {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return queue_.empty() && !is_working_; });
    return std::exchange(status_, OkStatus());
  }

private:
  void issue(Operation operation) override {
    push([operation = std::move(operation)](Status &status) {
      if (status.ok())
        operation(status);
    });
  }
  void issue_launch(const LaunchParams &params) override {
    issue(
        [this, params, bindings = std::vector<void *>(params.bindings.begin(), params.bindings.end()),
         constants = std::vector<int64_t>(params.constants.begin(), params.constants.end())](Status &status) {
          LaunchParams own = params;
          own.bindings = bindings;
          own.constants = constants;
          status = work_.launch(own);
        });
  }

  void push(Operation operation) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      queue_.push_back(std::move(operation));
    }
    changed_.notify_all();
  }

  void run() {
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

  std::mutex mutex_; // guards what follows
  std::condition_variable changed_;
  std::deque<Operation> queue_;
  bool is_working_ = false;
  bool stopping_ = false;
  Status status_;      // first error of the work so far
  std::thread thread_; // last: starts when the rest exists
};

} // namespace

Status check_launch_counts(const LaunchParams &params) {
  if (!params.kernel)
    return InvalidArgumentError("a launch without a kernel");
  if (params.workgroups < 0 || params.grain < 1)
    return InvalidArgumentError("kernel '" + params.kernel->symbol() + "' launched with " +
                                std::to_string(params.workgroups) + " workgroups and grain " +
                                std::to_string(params.grain) + "; they must be at least 0 and 1");
  return OkStatus();
}

std::unique_ptr<Stream> make_software_stream(SoftwareWork &work, StreamMode mode) {
  if (mode == StreamMode::kQueued)
    return std::make_unique<QueuedStream>(work);
  return std::make_unique<InlineStream>(work);
}

} // namespace quaver::hal
