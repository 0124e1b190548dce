// The container: a ZIP64 archive of stored entries in one canonical form.
//
// Any ZIP program lists and extracts it. Every byte of structure (headers, padding, directory) follows from
// the list of (name, size, CRC-32) and the format version, so that a reader rebuilds it and compares: a
// flipped bit anywhere but in the data is found at once. Data starts at multiples of 64 bytes, of blobs/ at
// multiples of 4096. Times are fixed: equal content has equal bytes. The first entry is quaver.pb; its header
// carries a magic number and the version at a fixed place, so that any later reader and writer can tell what
// it has before it.
#pragma once
#include "runtime/base/atomic_file.h"
#include "runtime/base/mapped_file.h"
#include "runtime/base/status.h"
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace quaver::plan {

struct FormatVersion {
  uint32_t major = 0, minor = 0;
};

struct ArchiveEntry {
  std::string name;
  uint64_t bytes = 0;
  uint32_t crc = 0;
  uint64_t header = 0; // offset of the local header
  uint64_t data = 0;   // offset of the first byte
};

/// Writes entries one after another, quaver.pb first. Nothing appears under the path before finish().
class ArchiveWriter {
public:
  static StatusOr<std::unique_ptr<ArchiveWriter>> create(const std::string &path, FormatVersion version);
  /// Writes the data through to the file; it is not needed afterwards.
  Status add(const std::string &name, std::span<const std::byte> data);
  Status finish();

private:
  ArchiveWriter(std::unique_ptr<AtomicFile> file, FormatVersion version)
      : file_(std::move(file)), version_(version) {}
  std::unique_ptr<AtomicFile> file_;
  FormatVersion version_;
  std::vector<ArchiveEntry> entries_;
};

/// The entries of a mapped archive, every one within the file.
class ArchiveReader {
public:
  ArchiveReader() = default;
  /// Checks, in this order: is it an artifact, was it mangled on the way, is its major version `major`, is it
  /// whole, and is every byte that is not data what the writer would have written. `path` is for messages:
  /// each says what is wrong and what to do.
  static StatusOr<ArchiveReader> read(std::span<const std::byte> file, const std::string &path,
                                      uint32_t major);

  FormatVersion version() const { return version_; }
  const std::vector<ArchiveEntry> &entries() const { return entries_; }
  const ArchiveEntry *find(std::string_view name) const;
  std::span<const std::byte> data(const ArchiveEntry &entry) const {
    return file_.subspan(entry.data, entry.bytes);
  }

private:
  Status read_version(uint32_t major);
  Status read_directory();
  Status check_structure() const;
  Status not_an_artifact() const;
  Status damaged() const;

  std::span<const std::byte> file_;
  std::string path_;
  FormatVersion version_;
  std::vector<ArchiveEntry> entries_;
  std::map<std::string, size_t, std::less<>> by_name_;
};

/// CRC-32 as ZIP has it.
uint32_t crc32_of(std::span<const std::byte> data);

} // namespace quaver::plan
