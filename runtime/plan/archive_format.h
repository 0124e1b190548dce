// The bytes of the container's records, for its writer and its reader.
#pragma once
#include "runtime/plan/archive.h"
#include <cstring>
#include <span>
#include <string>

namespace quaver::plan::zip {

// Sizes and signatures: PKWARE APPNOTE.TXT 6.3.10, sections 4.3.7, 4.3.12, 4.3.14 to 4.3.16, 4.5.3.
constexpr uint32_t kLocalSignature = 0x04034b50, kCentralSignature = 0x02014b50;
constexpr uint32_t kEnd64Signature = 0x06064b50, kLocatorSignature = 0x07064b50, kEndSignature = 0x06054b50;
constexpr size_t kLocalBytes = 30, kCentralBytes = 46, kEnd64Bytes = 56, kLocatorBytes = 20, kEndBytes = 22;
constexpr size_t kLocalZip64Bytes = 20, kCentralZip64Bytes = 28;
constexpr size_t kTailBytes = kEnd64Bytes + kLocatorBytes + kEndBytes;

constexpr std::string_view kFirstName = "quaver.pb";
/// Of the first entry, in its extra field: a byte above 127, CR LF, DOS end of file, LF, so that a transfer
/// which changes line ends or strips bits shows (as PNG does it).
constexpr std::string_view kMagic = "\x89QVR\r\n\x1a\n";
/// Where the file's version block stands: magic, major, minor, CRC-32 of these. No version may move it.
constexpr size_t kMagicOffset = kLocalBytes + 9 + kLocalZip64Bytes + 4;
constexpr size_t kVersionBlockBytes = 8 + 4 + 4 + 4;

/// The local header of an entry that starts at `e.header`, with the padding that puts its data on its
/// alignment. The first entry (at 0) carries the version block.
std::string local_header(const ArchiveEntry &e, FormatVersion version);
std::string central_header(const ArchiveEntry &e);
std::string end_records(uint64_t count, uint64_t directory, uint64_t directory_bytes);

template <class T> T load(std::span<const std::byte> s, size_t at) {
  T v; // x86 is little-endian, as ZIP is
  std::memcpy(&v, s.data() + at, sizeof v);
  return v;
}

inline std::span<const std::byte> as_bytes(std::string_view s) {
  return std::as_bytes(std::span(s.data(), s.size()));
}

} // namespace quaver::plan::zip
