//===- null_device.cpp - the skeleton device --------------------------------===//
#include "runtime/drivers/null/null_device.h"

#include "runtime/hal/buffer.h"
#include "runtime/hal/event.h"
#include "runtime/hal/executable.h"
#include "runtime/hal/stream.h"

namespace quaver::hal {

NullDevice::NullDevice() {
  info_.name = "null";
  info_.description = "the skeleton driver, which runs nothing";
  info_.is_host_addressable = false;
}

StatusOr<int> NullDevice::rank_target(std::string_view target, std::span<const std::string>) const {
  return UnimplementedError("device 'null' runs no code, so not that of target '" + std::string(target) +
                            "': use --device host");
}

StatusOr<std::unique_ptr<Buffer>> NullDevice::allocate(size_t) {
  return UnimplementedError("device 'null' has no memory");
}

StatusOr<std::unique_ptr<Buffer>> NullDevice::import_buffer(void *, size_t, std::function<void()>) {
  return UnimplementedError("device 'null' has no memory");
}

StatusOr<std::unique_ptr<Stream>> NullDevice::create_stream(StreamMode) {
  return UnimplementedError("device 'null' has no streams");
}

StatusOr<std::unique_ptr<Event>> NullDevice::create_event() {
  return UnimplementedError("device 'null' has no events");
}

StatusOr<std::shared_ptr<Executable>> NullDevice::load_executable(const ExecutableSource &source) {
  return UnimplementedError("device 'null' cannot load '" + std::string(source.name) + "'");
}

} // namespace quaver::hal
