#include "tools/quaver/npz.h"
#include "runtime/base/atomic_file.h"
#include "runtime/plan/archive.h"
#include <cstdint>

namespace quaver::cli {
namespace {

// Fields of APPNOTE.TXT 4.3.7, 4.3.12 and 4.3.16, little-endian.
void put(std::string &to, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    to += char(value >> (8 * i));
}

constexpr uint32_t kVersion = 20, kDosDate = (1 << 5) | 1; // 1980-01-01: equal arrays make equal files

void put_common(std::string &to, uint32_t crc, uint64_t bytes, size_t name_bytes) {
  put(to, kVersion, 2);
  put(to, 0, 2); // flags
  put(to, 0, 2); // stored
  put(to, 0, 2); // time
  put(to, kDosDate, 2);
  put(to, crc, 4);
  put(to, bytes, 4); // stored size
  put(to, bytes, 4);
  put(to, name_bytes, 2);
  put(to, 0, 2); // extra field
}

} // namespace

Status write_npz(const std::string &path, const std::vector<std::pair<std::string, std::string>> &arrays) {
  std::string file, directory;
  for (const auto &[array, data] : arrays) {
    std::string name = array + ".npy";
    uint32_t crc = plan::crc32_of(std::as_bytes(std::span(data)));
    uint64_t offset = file.size();
    if (offset + data.size() > 0xFFFF0000u)
      return InvalidArgumentError(path, ": arrays of more than 4 GB do not fit an .npz of this form");
    put(file, 0x04034b50, 4);
    put_common(file, crc, data.size(), name.size());
    file += name;
    file += data;
    put(directory, 0x02014b50, 4);
    put(directory, kVersion, 2);
    put_common(directory, crc, data.size(), name.size());
    put(directory, 0, 2); // comment
    put(directory, 0, 2); // disk
    put(directory, 0, 2); // internal attributes
    put(directory, 0, 4); // external attributes
    put(directory, offset, 4);
    directory += name;
  }
  uint64_t start = file.size();
  file += directory;
  put(file, 0x06054b50, 4);
  put(file, 0, 4); // disks
  put(file, arrays.size(), 2);
  put(file, arrays.size(), 2);
  put(file, directory.size(), 4);
  put(file, start, 4);
  put(file, 0, 2);
  return write_file_atomically(path, file);
}

} // namespace quaver::cli
