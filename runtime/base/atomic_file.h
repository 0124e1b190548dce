// Files that appear whole or not at all.
#pragma once
#include "runtime/base/status.h"
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace quaver {

/// Writes to a temporary file in the target's folder; commit() syncs it and renames it into place. Without
/// commit nothing is left behind. Not thread-safe.
class AtomicFile {
public:
  static StatusOr<std::unique_ptr<AtomicFile>> create(const std::string &path);
  ~AtomicFile();
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;

  Status write(std::span<const std::byte> bytes);
  /// Overwrites bytes written before, for headers known last.
  Status write_at(uint64_t offset, std::span<const std::byte> bytes);
  uint64_t size() const { return size_; }
  /// fsync, rename, fsync of the folder.
  Status commit();

private:
  AtomicFile(int fd, std::string path, std::string temporary)
      : fd_(fd), path_(std::move(path)), temporary_(std::move(temporary)) {}
  int fd_;
  uint64_t size_ = 0;
  std::string path_, temporary_;
};

/// Writes `text` as the whole of the file.
Status write_file_atomically(const std::string &path, std::string_view text);

} // namespace quaver
