#include "runtime/plan/archive_format.h"
#include <zlib.h>

namespace quaver::plan {

uint32_t crc32_of(std::span<const std::byte> data) {
  return uint32_t(crc32_z(0, reinterpret_cast<const Bytef *>(data.data()), data.size()));
}

namespace zip {
namespace {

constexpr uint16_t kZip64Id = 1, kPaddingId = 0x5651; // "QV"
constexpr uint16_t kVersion = 45, kDate = 0x21;       // ZIP64; 1980-01-01

class Bytes {
public:
  void u16(uint16_t v) { raw(&v, 2); }
  void u32(uint32_t v) { raw(&v, 4); }
  void u64(uint64_t v) { raw(&v, 8); }
  void text(std::string_view s) { out.append(s); }
  std::string out;

private:
  void raw(const void *p, size_t n) { out.append(static_cast<const char *>(p), n); }
};

uint64_t alignment_of(const std::string &name) { return name.starts_with("blobs/") ? 4096 : 64; }

std::string version_block(FormatVersion version) {
  Bytes b;
  b.text(kMagic), b.u32(version.major), b.u32(version.minor);
  b.u32(crc32_of(as_bytes(b.out)));
  return std::move(b.out);
}

} // namespace

std::string local_header(const ArchiveEntry &e, FormatVersion version) {
  std::string content = e.header == 0 ? version_block(version) : "";
  uint64_t fixed = e.header + kLocalBytes + e.name.size() + kLocalZip64Bytes + 4 + content.size();
  uint64_t align = alignment_of(e.name);
  content.append((align - fixed % align) % align, '\0');
  Bytes b;
  b.u32(kLocalSignature), b.u16(kVersion), b.u16(0), b.u16(0), b.u16(0), b.u16(kDate), b.u32(e.crc);
  b.u32(0xffffffff), b.u32(0xffffffff);
  b.u16(uint16_t(e.name.size())), b.u16(uint16_t(kLocalZip64Bytes + 4 + content.size()));
  b.text(e.name);
  b.u16(kZip64Id), b.u16(16), b.u64(e.bytes), b.u64(e.bytes);
  b.u16(kPaddingId), b.u16(uint16_t(content.size())), b.text(content);
  return std::move(b.out);
}

std::string central_header(const ArchiveEntry &e) {
  Bytes b;
  b.u32(kCentralSignature), b.u16(kVersion), b.u16(kVersion), b.u16(0), b.u16(0), b.u16(0), b.u16(kDate),
      b.u32(e.crc);
  b.u32(0xffffffff), b.u32(0xffffffff), b.u16(uint16_t(e.name.size())), b.u16(kCentralZip64Bytes), b.u16(0),
      b.u16(0);
  b.u16(0), b.u32(0), b.u32(0xffffffff);
  b.text(e.name);
  b.u16(kZip64Id), b.u16(24), b.u64(e.bytes), b.u64(e.bytes), b.u64(e.header);
  return std::move(b.out);
}

std::string end_records(uint64_t count, uint64_t directory, uint64_t directory_bytes) {
  Bytes b;
  b.u32(kEnd64Signature), b.u64(kEnd64Bytes - 12), b.u16(kVersion), b.u16(kVersion), b.u32(0), b.u32(0);
  b.u64(count), b.u64(count), b.u64(directory_bytes), b.u64(directory);
  b.u32(kLocatorSignature), b.u32(0), b.u64(directory + directory_bytes), b.u32(1);
  b.u32(kEndSignature), b.u16(0), b.u16(0), b.u16(0xffff), b.u16(0xffff), b.u32(0xffffffff),
      b.u32(0xffffffff), b.u16(0);
  return std::move(b.out);
}

} // namespace zip
} // namespace quaver::plan
