#include "runtime/base/npz.h"
#include "runtime/base/atomic_file.h"
#include "runtime/base/mapped_file.h"
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <zlib.h>

namespace quaver {
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

uint32_t crc_of(std::string_view data) {
  return uint32_t(crc32_z(0, reinterpret_cast<const Bytef *>(data.data()), data.size()));
}

constexpr size_t kEndBytes = 22, kMaxComment = 65535;
constexpr uint64_t kMaxArray = uint64_t{1} << 36; // of one inflated array: 64 GB

/// Little-endian numbers at checked places.
class Bytes {
public:
  explicit Bytes(std::span<const char> file) : file_(file) {}
  bool has(uint64_t at, uint64_t n) const { return at <= file_.size() && n <= file_.size() - at; }
  uint64_t number(uint64_t at, int bytes) const {
    uint64_t v = 0;
    std::memcpy(&v, file_.data() + at, size_t(bytes));
    return v;
  }
  std::string_view text(uint64_t at, uint64_t n) const { return {file_.data() + at, size_t(n)}; }
  uint64_t size() const { return file_.size(); }

private:
  std::span<const char> file_;
};

/// An entry of the central directory (APPNOTE.TXT 4.3.12), sizes from the ZIP64 extra field where they are
/// there (4.5.3).
struct ZipEntry {
  std::string name;
  uint32_t crc = 0, method = 0;
  uint64_t stored = 0, bytes = 0, offset = 0;
};

/// Where the central directory begins and how many entries it has; false: there is none.
bool find_directory(const Bytes &b, uint64_t &start, uint64_t &count) {
  for (uint64_t back = kEndBytes; back <= b.size() && back <= kEndBytes + kMaxComment; ++back) {
    uint64_t at = b.size() - back;
    if (b.number(at, 4) != 0x06054b50)
      continue;
    count = b.number(at + 10, 2), start = b.number(at + 16, 4);
    bool is_zip64 =
        (count == 0xFFFF || start == 0xFFFFFFFF) && at >= 20 && b.number(at - 20, 4) == 0x07064b50;
    if (is_zip64) {
      uint64_t end = b.number(at - 12, 8);
      if (!b.has(end, 56) || b.number(end, 4) != 0x06064b50)
        return false;
      count = b.number(end + 32, 8), start = b.number(end + 48, 8);
    }
    return true;
  }
  return false;
}

/// Reads the entry at `at` and moves behind it.
bool read_entry(const Bytes &b, uint64_t &at, ZipEntry &e) {
  if (!b.has(at, 46) || b.number(at, 4) != 0x02014b50)
    return false;
  e.method = uint32_t(b.number(at + 10, 2)), e.crc = uint32_t(b.number(at + 16, 4));
  e.stored = b.number(at + 20, 4), e.bytes = b.number(at + 24, 4), e.offset = b.number(at + 42, 4);
  uint64_t name = b.number(at + 28, 2), extra = b.number(at + 30, 2), comment = b.number(at + 32, 2);
  if (!b.has(at + 46, name + extra + comment))
    return false;
  e.name = b.text(at + 46, name);
  for (uint64_t x = at + 46 + name, end = x + extra; x + 4 <= end;) {
    uint64_t size = b.number(x + 2, 2), field = x + 4;
    if (field + size > end)
      return false;
    if (b.number(x, 2) == 1)
      for (uint64_t *v : {&e.bytes, &e.stored, &e.offset})
        if (*v == 0xFFFFFFFF) {
          if (field + 8 > x + 4 + size)
            return false;
          *v = b.number(field, 8), field += 8;
        }
    x += 4 + size;
  }
  at += 46 + name + extra + comment;
  return true;
}

/// The bytes of an entry; an error is one clause.
std::string extract(const Bytes &b, const ZipEntry &e, std::string &out) {
  if (!b.has(e.offset, 30) || b.number(e.offset, 4) != 0x04034b50)
    return "has no local header";
  uint64_t data = e.offset + 30 + b.number(e.offset + 26, 2) + b.number(e.offset + 28, 2);
  if (!b.has(data, e.stored) || e.bytes > kMaxArray)
    return "does not lie in the file";
  if (e.method == 0) {
    out = b.text(data, e.stored);
  } else if (e.method == 8) {
    if (e.bytes / 1100 > e.stored + 1) // deflate packs at most 1032 to 1
      return "claims an impossible size";
    out.resize(e.bytes);
    z_stream z = {};
    if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
      return "cannot be inflated";
    uint64_t read = 0, written = 0;
    int code = Z_OK;
    while (code == Z_OK) { // zlib counts in 32 bits
      z.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(b.text(data + read, 0).data()));
      z.avail_in = uInt(std::min<uint64_t>(e.stored - read, 1u << 30));
      z.next_out = reinterpret_cast<Bytef *>(out.data() + written);
      z.avail_out = uInt(std::min<uint64_t>(e.bytes - written, 1u << 30));
      uInt in = z.avail_in, room = z.avail_out;
      code = inflate(&z, Z_NO_FLUSH);
      read += in - z.avail_in, written += room - z.avail_out;
      if (code == Z_OK && in == z.avail_in && room == z.avail_out)
        break; // no progress: truncated, or longer than it says
    }
    inflateEnd(&z);
    if (code != Z_STREAM_END || written != e.bytes)
      return "is damaged: it does not inflate to its size";
  } else {
    return "is packed by method " + std::to_string(e.method) + "; stored and deflated arrays are read";
  }
  if (out.size() != e.bytes || crc_of(out) != e.crc)
    return "is damaged: its checksum differs";
  return "";
}

} // namespace

StatusOr<std::map<std::string, NpyArray>> parse_npz(std::span<const char> file, const std::string &name) {
  Bytes b(file);
  uint64_t at = 0, count = 0;
  if (!find_directory(b, at, count))
    return InvalidArgumentError(name, ": is not an .npz file: it has no ZIP directory");
  std::map<std::string, NpyArray> arrays;
  for (uint64_t i = 0; i < count; ++i) {
    ZipEntry e;
    if (!read_entry(b, at, e))
      return InvalidArgumentError(name, ": is damaged: its ZIP directory is cut off or wrong");
    std::string array = e.name.ends_with(".npy") ? e.name.substr(0, e.name.size() - 4) : e.name;
    std::string bytes;
    if (std::string why = extract(b, e, bytes); !why.empty())
      return InvalidArgumentError(name, ": array \"", array, "\" ", why);
    auto parsed = parse_npy(bytes);
    if (!parsed.ok())
      return InvalidArgumentError(name, ": array \"", array, "\": ", parsed.status().message());
    if (!arrays.emplace(array, std::move(*parsed)).second)
      return InvalidArgumentError(name, ": two arrays are called \"", array, "\"");
  }
  return arrays;
}

StatusOr<std::map<std::string, NpyArray>> read_npz(const std::string &path) {
  QUAVER_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(path));
  auto bytes = file.bytes();
  return parse_npz({reinterpret_cast<const char *>(bytes.data()), bytes.size()}, path);
}

Status write_npz(const std::string &path, const std::vector<std::pair<std::string, std::string>> &arrays) {
  std::string file, directory;
  for (const auto &[array, data] : arrays) {
    std::string name = array + ".npy";
    uint32_t crc = crc_of(data);
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

} // namespace quaver
