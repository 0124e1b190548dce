//===- host_device.cpp - this machine's CPU ---------------------------------===//
#include "runtime/drivers/host/host_device.h"

#include "runtime/base/cpu_features.h"
#include "runtime/drivers/host/host_buffer.h"
#include "runtime/drivers/host/host_executable.h"
#include "runtime/drivers/software/software_event.h"

namespace quaver::hal {

HostDevice::HostDevice(int threads) : pool_(threads), work_(pool_) {
  info_.name = "host";
  info_.description = cpu_name();
  info_.workers = pool_.size();
  info_.is_host_addressable = true;
}

StatusOr<int> HostDevice::rank_target(std::string_view target, std::span<const std::string> features) const {
  if (!target.starts_with("x86-64"))
    return FailedPreconditionError("target '" + std::string(target) +
                                   "' is not for this CPU, which is x86-64: recompile "
                                   "with --target host");
  std::string missing;
  for (const std::string &feature : features)
    if (!cpu_has_feature(feature))
      missing += (missing.empty() ? "" : ", ") + feature;
  if (!missing.empty())
    return FailedPreconditionError(
        "target '" + std::string(target) + "' needs " + missing + ", this CPU (" + info_.description +
        ") lacks it: recompile with --target host on this machine, or with --target x86-64-v3");
  return static_cast<int>(features.size());
}

StatusOr<std::unique_ptr<Buffer>> HostDevice::allocate(size_t bytes) { return HostBuffer::allocate(bytes); }

StatusOr<std::unique_ptr<Buffer>> HostDevice::import_buffer(void *address, size_t bytes,
                                                            std::function<void()> release) {
  if (!address && bytes)
    return InvalidArgumentError("a buffer of " + std::to_string(bytes) + " bytes at a null address");
  return HostBuffer::import(address, bytes, std::move(release));
}

StatusOr<std::unique_ptr<Stream>> HostDevice::create_stream(StreamMode mode) {
  return make_software_stream(work_, mode);
}

StatusOr<std::unique_ptr<Event>> HostDevice::create_event() {
  return std::unique_ptr<Event>(std::make_unique<SoftwareEvent>());
}

StatusOr<std::shared_ptr<Executable>> HostDevice::load_executable(const ExecutableSource &source) {
  QUAVER_RETURN_IF_ERROR(rank_target(source.target, source.features).status());
  return HostExecutable::load(source);
}

} // namespace quaver::hal
