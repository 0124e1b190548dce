// A file mapped read-only.
#pragma once
#include "runtime/base/status.h"
#include <cstddef>
#include <span>

namespace quaver {

/// The whole of a regular file, mapped. Movable; unmapped at destruction. Usable from any thread. The bytes
/// are the file's: they change if somebody truncates or rewrites it in place, which our own writers never do.
class MappedFile {
public:
  /// Errors: not there, not a regular file (folder, pipe, device), no permission. An empty file maps to an
  /// empty span.
  static StatusOr<MappedFile> open(const std::string &path);
  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  /// Gives back the memory of the pages that lie wholly inside a part of some MappedFile's bytes. The bytes
  /// stay readable: they come from the file again.
  static void release(std::span<const std::byte> part);

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::string &path() const { return path_; }

private:
  MappedFile(const std::byte *data, size_t size, std::string path)
      : data_(data), size_(size), path_(std::move(path)) {}
  const std::byte *data_ = nullptr;
  size_t size_ = 0;
  std::string path_;
};

} // namespace quaver
