#include "runtime/plan/archive.h"
#include <cstring>
#include <zlib.h>

namespace quaver::plan {
namespace {

// Sizes and signatures: PKWARE APPNOTE.TXT 6.3.10, sections 4.3.7, 4.3.12, 4.3.14 to 4.3.16, 4.5.3.
constexpr uint32_t kLocalSignature = 0x04034b50, kCentralSignature = 0x02014b50;
constexpr uint32_t kEnd64Signature = 0x06064b50, kLocatorSignature = 0x07064b50, kEndSignature = 0x06054b50;
constexpr size_t kLocalBytes = 30, kCentralBytes = 46, kEnd64Bytes = 56, kLocatorBytes = 20, kEndBytes = 22;
constexpr size_t kLocalZip64Bytes = 20, kCentralZip64Bytes = 28, kPaddingHeaderBytes = 4;
constexpr uint16_t kZip64Id = 1, kPaddingId = 0x5651; // "QV"
constexpr uint16_t kVersion = 45, kDate = 0x21;       // ZIP64; 1980-01-01
constexpr uint64_t kMaxEntries = 1 << 20;

class Bytes {
public:
  void u16(uint16_t v) { raw(&v, 2); }
  void u32(uint32_t v) { raw(&v, 4); }
  void u64(uint64_t v) { raw(&v, 8); }
  void text(const std::string &s) { raw(s.data(), s.size()); }
  void zeros(size_t n) { out.append(n, '\0'); }
  std::string out;

private:
  void raw(const void *p, size_t n) {
    out.append(static_cast<const char *>(p), n);
  } // x86 is little-endian, as ZIP is
};

uint64_t alignment_of(const std::string &name) { return name.starts_with("blobs/") ? 4096 : 64; }

/// The local header of an entry that starts at `e.header`, with the padding that puts its data on its
/// alignment.
std::string local_header(const ArchiveEntry &e) {
  uint64_t fixed = e.header + kLocalBytes + e.name.size() + kLocalZip64Bytes + kPaddingHeaderBytes;
  uint64_t align = alignment_of(e.name), padding = (align - fixed % align) % align;
  Bytes b;
  b.u32(kLocalSignature), b.u16(kVersion), b.u16(0), b.u16(0), b.u16(0), b.u16(kDate), b.u32(e.crc);
  b.u32(0xffffffff), b.u32(0xffffffff);
  b.u16(uint16_t(e.name.size())), b.u16(uint16_t(kLocalZip64Bytes + kPaddingHeaderBytes + padding));
  b.text(e.name);
  b.u16(kZip64Id), b.u16(16), b.u64(e.bytes), b.u64(e.bytes);
  b.u16(kPaddingId), b.u16(uint16_t(padding)), b.zeros(padding);
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

template <class T> T load(std::span<const std::byte> s, size_t at) {
  T v;
  std::memcpy(&v, s.data() + at, sizeof v);
  return v;
}

std::span<const std::byte> as_bytes(const std::string &s) {
  return std::as_bytes(std::span(s.data(), s.size()));
}

} // namespace

uint32_t crc32_of(std::span<const std::byte> data) {
  return uint32_t(crc32_z(0, reinterpret_cast<const Bytef *>(data.data()), data.size()));
}

StatusOr<std::unique_ptr<ArchiveWriter>> ArchiveWriter::create(const std::string &path) {
  QUAVER_ASSIGN_OR_RETURN(auto file, AtomicFile::create(path));
  return std::unique_ptr<ArchiveWriter>(new ArchiveWriter(std::move(file)));
}

Status ArchiveWriter::add(const std::string &name, std::span<const std::byte> data) {
  assert(!name.empty() && name.size() < 1024);
  for (const ArchiveEntry &e : entries_)
    if (e.name == name)
      return InternalError("two archive entries are called ", name);
  ArchiveEntry e{name, data.size(), crc32_of(data), file_->size(), 0};
  std::string header = local_header(e);
  e.data = e.header + header.size();
  QUAVER_RETURN_IF_ERROR(file_->write(as_bytes(header)));
  QUAVER_RETURN_IF_ERROR(file_->write(data));
  entries_.push_back(std::move(e));
  return OkStatus();
}

Status ArchiveWriter::finish() {
  uint64_t directory = file_->size();
  std::string headers;
  for (const ArchiveEntry &e : entries_)
    headers += central_header(e);
  QUAVER_RETURN_IF_ERROR(file_->write(as_bytes(headers)));
  QUAVER_RETURN_IF_ERROR(file_->write(as_bytes(end_records(entries_.size(), directory, headers.size()))));
  return file_->commit();
}

StatusOr<ArchiveReader> ArchiveReader::read(std::span<const std::byte> file, const std::string &path) {
  auto lost = [&](const char *what) {
    return DataLossError(path, ": ", what,
                         "; the file is truncated or was altered on the way (text-mode transfer?): "
                         "copy it again or recompile");
  };
  constexpr std::string_view kFirst = "quaver.pb";
  if (file.size() < kLocalBytes + kFirst.size() || load<uint32_t>(file, 0) != kLocalSignature ||
      std::memcmp(file.data() + kLocalBytes, kFirst.data(), kFirst.size()) != 0)
    return InvalidArgumentError(path, ": is not a Quaver artifact");
  constexpr size_t kTail = kEnd64Bytes + kLocatorBytes + kEndBytes;
  if (file.size() < kTail || load<uint32_t>(file, file.size() - kEndBytes) != kEndSignature ||
      load<uint32_t>(file, file.size() - kTail) != kEnd64Signature)
    return lost("its directory is not where it should be");
  size_t tail = file.size() - kTail;
  uint64_t count = load<uint64_t>(file, tail + 24), bytes = load<uint64_t>(file, tail + 40),
           at = load<uint64_t>(file, tail + 48);
  if (count == 0 || count > kMaxEntries || bytes > tail || at != tail - bytes)
    return lost("its directory is damaged");
  ArchiveReader reader;
  reader.file_ = file;
  reader.path_ = path;
  for (uint64_t i = 0; i < count; ++i) {
    if (tail - at < kCentralBytes || load<uint32_t>(file, at) != kCentralSignature)
      return lost("its directory is damaged");
    size_t name = load<uint16_t>(file, at + 28), extra = load<uint16_t>(file, at + 30);
    if (extra != kCentralZip64Bytes || tail - at < kCentralBytes + name + extra)
      return lost("its directory is damaged");
    ArchiveEntry e;
    e.name.assign(reinterpret_cast<const char *>(file.data() + at + kCentralBytes), name);
    e.crc = load<uint32_t>(file, at + 16);
    size_t zip64 = at + kCentralBytes + name;
    e.bytes = load<uint64_t>(file, zip64 + 4);
    e.header = load<uint64_t>(file, zip64 + 20);
    if (e.header > tail || tail - e.header < kLocalBytes)
      return lost("an entry lies outside the file");
    e.data =
        e.header + kLocalBytes + load<uint16_t>(file, e.header + 26) + load<uint16_t>(file, e.header + 28);
    if (e.data > tail || e.bytes > tail - e.data)
      return lost("an entry lies outside the file");
    at += kCentralBytes + name + extra;
    reader.entries_.push_back(std::move(e));
  }
  return reader;
}

const ArchiveEntry *ArchiveReader::find(std::string_view name) const {
  for (const ArchiveEntry &e : entries_)
    if (e.name == name)
      return &e;
  return nullptr;
}

Status ArchiveReader::check_structure() const {
  uint64_t at = 0;
  std::string directory;
  auto same = [&](uint64_t offset, const std::string &want) {
    return offset <= file_.size() && want.size() <= file_.size() - offset &&
           std::memcmp(file_.data() + offset, want.data(), want.size()) == 0;
  };
  for (const ArchiveEntry &e : entries_) {
    std::string header = local_header(e);
    if (e.header != at || !same(at, header) || e.data != at + header.size())
      return DataLossError(path_, ": corrupted: the header of entry ", e.name,
                           " is damaged; copy the file again or recompile");
    directory += central_header(e);
    at = e.data + e.bytes;
  }
  std::string end = end_records(entries_.size(), at, directory.size());
  if (!same(at, directory + end) || at + directory.size() + end.size() != file_.size())
    return DataLossError(path_, ": corrupted: its directory is damaged; copy the file again or recompile");
  return OkStatus();
}

} // namespace quaver::plan
