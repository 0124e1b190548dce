//===- host_buffer.h - host memory ------------------------------------------===//
#pragma once

#include "runtime/base/status.h"
#include "runtime/hal/buffer.h"

#include <functional>
#include <memory>

namespace quaver::hal {

/// From this size on, owned memory is mapped on its own, aligned to and advised for huge pages.
inline constexpr size_t kHugePageBytes = size_t{2} << 20;

class HostBuffer final : public Buffer {
public:
  static StatusOr<std::unique_ptr<Buffer>> allocate(size_t bytes);
  static std::unique_ptr<Buffer> import(void *address, size_t bytes, std::function<void()> release);
  ~HostBuffer() override;

private:
  HostBuffer(void *address, size_t bytes, bool is_imported, size_t mapped_bytes,
             std::function<void()> release)
      : Buffer(address, address, bytes, is_imported), mapped_bytes_(mapped_bytes),
        release_(std::move(release)) {}

  size_t mapped_bytes_; // 0: from the heap
  std::function<void()> release_;
};

} // namespace quaver::hal
