// Blobs on their way into an artifact, kept on disk instead of in memory.
#pragma once
#include "runtime/base/status.h"
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace quaver::plan {

/// An unnamed temporary file that grows at its end; it is gone with the object, or with the process. Not
/// thread-safe.
class BlobSpool {
public:
  /// In `folder`, or in the system's folder for temporary files when that is empty.
  static StatusOr<std::unique_ptr<BlobSpool>> create(const std::string &folder);
  ~BlobSpool();
  BlobSpool(const BlobSpool &) = delete;
  BlobSpool &operator=(const BlobSpool &) = delete;

  uint64_t size() const { return size_; }
  Status append(std::span<const std::byte> bytes);
  /// Forgets what was written from `size` on.
  void cut(uint64_t size) { size_ = size; }
  /// All bytes, mapped; valid until the next append.
  StatusOr<std::span<const std::byte>> map();

private:
  explicit BlobSpool(int fd) : fd_(fd) {}
  void unmap();
  int fd_;
  uint64_t size_ = 0;
  std::span<const std::byte> mapped_;
};

} // namespace quaver::plan
