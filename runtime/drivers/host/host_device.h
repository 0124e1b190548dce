//===- host_device.h - this machine's CPU -----------------------------------===//
#pragma once

#include "runtime/base/thread_pool.h"
#include "runtime/drivers/host/host_launch.h"
#include "runtime/hal/device.h"

namespace quaver::hal {

/// Owns the thread pool that its streams launch on. See device.h for the contract.
class HostDevice final : public Device {
public:
  /// `threads` as in DeviceOptions.
  explicit HostDevice(int threads);

  const DeviceInfo &info() const override { return info_; }
  std::string_view identity() const override { return "host"; }
  StatusOr<int> rank_target(std::string_view target, std::span<const std::string> features) const override;
  StatusOr<std::unique_ptr<Buffer>> allocate(size_t bytes) override;
  StatusOr<std::unique_ptr<Buffer>> import_buffer(void *address, size_t bytes,
                                                  std::function<void()> release) override;
  StatusOr<std::unique_ptr<Stream>> create_stream(StreamMode mode) override;
  StatusOr<std::unique_ptr<Event>> create_event() override;
  StatusOr<std::shared_ptr<Executable>> load_executable(const ExecutableSource &source) override;

private:
  ThreadPool pool_;
  HostWork work_;
  DeviceInfo info_;
};

} // namespace quaver::hal
