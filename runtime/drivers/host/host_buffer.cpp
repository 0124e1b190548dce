//===- host_buffer.cpp - host memory ----------------------------------------===//
#include "runtime/drivers/host/host_buffer.h"

#include <cstdlib>
#include <limits>
#include <string>
#include <sys/mman.h>

namespace quaver::hal {
namespace {

/// Maps `bytes` (a multiple of the huge page) at a multiple of the huge page, or returns nullptr.
void *map_huge(size_t bytes) {
  size_t reserved = bytes + kHugePageBytes;
  void *raw = mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED)
    return nullptr;
  uintptr_t begin = reinterpret_cast<uintptr_t>(raw);
  uintptr_t aligned = (begin + kHugePageBytes - 1) & ~(uintptr_t{kHugePageBytes} - 1);
  if (aligned > begin)
    munmap(raw, aligned - begin);
  if (size_t tail = begin + reserved - (aligned + bytes))
    munmap(reinterpret_cast<void *>(aligned + bytes), tail);
  // Only advice: a kernel without huge pages refuses, and small pages work as well.
  madvise(reinterpret_cast<void *>(aligned), bytes, MADV_HUGEPAGE);
  return reinterpret_cast<void *>(aligned);
}

Status no_memory(size_t bytes) {
  return ResourceExhaustedError("not enough memory on the host for a buffer of " + std::to_string(bytes) +
                                " bytes");
}

} // namespace

StatusOr<std::unique_ptr<Buffer>> HostBuffer::allocate(size_t bytes) {
  if (bytes > std::numeric_limits<size_t>::max() / 2)
    return no_memory(bytes);
  if (bytes >= kHugePageBytes) {
    size_t mapped = (bytes + kHugePageBytes - 1) & ~(kHugePageBytes - 1);
    void *address = map_huge(mapped);
    if (!address)
      return no_memory(bytes);
    return std::unique_ptr<Buffer>(new HostBuffer(address, bytes, false, mapped, {}));
  }
  // At least one line, so that an empty buffer has an address too.
  size_t rounded = bytes == 0 ? kBufferAlignment : (bytes + kBufferAlignment - 1) & ~(kBufferAlignment - 1);
  void *address = std::aligned_alloc(kBufferAlignment, rounded);
  if (!address)
    return no_memory(bytes);
  return std::unique_ptr<Buffer>(new HostBuffer(address, bytes, false, 0, {}));
}

std::unique_ptr<Buffer> HostBuffer::import(void *address, size_t bytes, std::function<void()> release) {
  return std::unique_ptr<Buffer>(new HostBuffer(address, bytes, true, 0, std::move(release)));
}

HostBuffer::~HostBuffer() {
  if (is_imported()) {
    if (release_)
      release_();
  } else if (mapped_bytes_) {
    munmap(device_address(), mapped_bytes_);
  } else {
    std::free(device_address());
  }
}

} // namespace quaver::hal
