//===- sim_device.h - a simulated GPU -------------------------------------------===//
//
// Memory has addresses of its own, which the host cannot use: every copy goes through a stream, and a byte
// that nobody wrote is an error where it is read. See machine/ for what is checked.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/base/thread_pool.h"
#include "runtime/drivers/sim/machine/launch.h"
#include "runtime/drivers/software/software_stream.h"
#include "runtime/hal/device.h"

namespace quaver::hal {

class SimDevice final : public Device, private SoftwareWork {
public:
  /// `threads` as in DeviceOptions: CPUs that run blocks.
  SimDevice(int threads, const sim::LaunchOptions &options);

  const DeviceInfo &info() const override { return info_; }
  std::string_view identity() const override { return identity_; }
  StatusOr<int> rank_target(std::string_view target, std::span<const std::string> features) const override;
  StatusOr<std::unique_ptr<Buffer>> allocate(size_t bytes) override;
  /// An address inside this device's own memory; host memory is refused.
  StatusOr<std::unique_ptr<Buffer>> import_buffer(void *address, size_t bytes,
                                                  std::function<void()> release) override;
  StatusOr<std::unique_ptr<Stream>> create_stream(StreamMode mode) override;
  StatusOr<std::unique_ptr<Event>> create_event() override;
  StatusOr<std::shared_ptr<Executable>> load_executable(const ExecutableSource &source) override;

private:
  Status copy(void *to, const void *from, size_t bytes, Direction direction) override;
  Status fill(void *to, uint8_t byte, size_t bytes) override;
  Status check_launch(const LaunchParams &params) override;
  Status launch(const LaunchParams &params) override;

  ThreadPool pool_;
  sim::LaunchOptions options_;
  sim::Memory memory_;
  DeviceInfo info_;
  std::string identity_; // each device has its own memory
};

} // namespace quaver::hal
