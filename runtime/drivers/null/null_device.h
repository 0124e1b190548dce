//===- null_device.h - the skeleton device ----------------------------------===//
#pragma once

#include "runtime/hal/device.h"

namespace quaver::hal {

/// A device whose every operation is kUnimplemented.
class NullDevice final : public Device {
public:
  NullDevice();

  const DeviceInfo &info() const override { return info_; }
  std::string_view identity() const override { return "null"; }
  StatusOr<int> rank_target(std::string_view target, std::span<const std::string> features) const override;
  StatusOr<std::unique_ptr<Buffer>> allocate(size_t bytes) override;
  StatusOr<std::unique_ptr<Buffer>> import_buffer(void *address, size_t bytes,
                                                  std::function<void()> release) override;
  StatusOr<std::unique_ptr<Stream>> create_stream(StreamMode mode) override;
  StatusOr<std::unique_ptr<Event>> create_event() override;
  StatusOr<std::shared_ptr<Executable>> load_executable(const ExecutableSource &source) override;

private:
  DeviceInfo info_;
};

} // namespace quaver::hal
