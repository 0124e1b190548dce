// The container: a ZIP64 archive of stored entries in one canonical form.
//
// Any ZIP program lists and extracts it. Every byte of structure (headers, padding, directory) follows from
// the list of (name, size, CRC-32), so that a reader rebuilds it and compares: a flipped bit anywhere but in
// the data is found at once. Data starts at multiples of 64 bytes, of blobs/ at multiples of 4096. Times are
// fixed: equal content has equal bytes.
#pragma once
#include "runtime/base/atomic_file.h"
#include "runtime/base/mapped_file.h"
#include "runtime/base/status.h"
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace quaver::plan {

struct ArchiveEntry {
  std::string name;
  uint64_t bytes = 0;
  uint32_t crc = 0;
  uint64_t header = 0; // offset of the local header
  uint64_t data = 0;   // offset of the first byte
};

/// Writes entries one after another. Nothing appears under the path before finish().
class ArchiveWriter {
public:
  static StatusOr<std::unique_ptr<ArchiveWriter>> create(const std::string &path);
  Status add(const std::string &name, std::span<const std::byte> data);
  Status finish();

private:
  explicit ArchiveWriter(std::unique_ptr<AtomicFile> file) : file_(std::move(file)) {}
  std::unique_ptr<AtomicFile> file_;
  std::vector<ArchiveEntry> entries_;
};

/// Finds the entries of a mapped archive. `check_structure` is separate so that a newer format's version can
/// be told first.
class ArchiveReader {
public:
  /// Errors: not an archive of ours, truncated, altered on the way (text-mode transfer).
  static StatusOr<ArchiveReader> read(std::span<const std::byte> file, const std::string &path);
  const std::vector<ArchiveEntry> &entries() const { return entries_; }
  const ArchiveEntry *find(std::string_view name) const;
  std::span<const std::byte> data(const ArchiveEntry &entry) const {
    return file_.subspan(entry.data, entry.bytes);
  }
  /// Compares every byte that is not data with what the writer would have written.
  Status check_structure() const;

private:
  std::span<const std::byte> file_;
  std::string path_;
  std::vector<ArchiveEntry> entries_;
};

/// CRC-32 as ZIP has it.
uint32_t crc32_of(std::span<const std::byte> data);

} // namespace quaver::plan
