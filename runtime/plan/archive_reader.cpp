#include "runtime/plan/archive_format.h"
#include <algorithm>

namespace quaver::plan {
namespace {

using zip::load;

constexpr uint64_t kMaxEntries = 1 << 20;
constexpr const char *kRemedy = "; copy the file again or recompile the model";

std::string_view text(std::span<const std::byte> s) {
  return {reinterpret_cast<const char *>(s.data()), s.size()};
}

/// Does the start of the file show the magic number as a text-mode transfer leaves it?
bool has_changed_line_ends(std::string_view head) {
  size_t at = head.find("QVR");
  if (at == std::string_view::npos)
    return false;
  std::string_view rest = head.substr(at + 3);
  for (std::string_view mangled : {"\n\x1a\n", "\r\r\n\x1a\r\n", "\r\n\x1a\r\n", "\r\x1a\r", "\r\r\x1a\r"})
    if (rest.starts_with(mangled))
      return true;
  // Right itself, but moved or with its first byte changed: a line end before it or a stripped bit.
  return rest.starts_with("\r\n\x1a\n") && (at != zip::kMagicOffset + 1 || head[at - 1] == '\x09');
}

} // namespace

StatusOr<ArchiveReader> ArchiveReader::read(std::span<const std::byte> file, const std::string &path,
                                            uint32_t major) {
  ArchiveReader reader;
  reader.file_ = file;
  reader.path_ = path;
  QUAVER_RETURN_IF_ERROR(reader.read_version(major));
  QUAVER_RETURN_IF_ERROR(reader.read_directory());
  QUAVER_RETURN_IF_ERROR(reader.check_structure());
  return reader;
}

const ArchiveEntry *ArchiveReader::find(std::string_view name) const {
  auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : &entries_[it->second];
}

Status ArchiveReader::not_an_artifact() const {
  return InvalidArgumentError(
      path_, ": is not a Quaver artifact; make one with `quaver compile MODEL.onnx -o FILE.quaver`");
}

Status ArchiveReader::read_version(uint32_t major) {
  std::string_view head = text(file_.first(std::min<size_t>(file_.size(), 128)));
  // What every artifact starts with, as far as it does not depend on its content.
  constexpr std::string_view kStart("PK\x03\x04\x2d\0\0\0\0\0\0\0\x21\0", 14);
  if (head.empty() || head.substr(0, kStart.size()) != kStart.substr(0, head.size())) {
    bool was_one =
        head.find("QVR") != std::string_view::npos && head.find(zip::kFirstName) != std::string_view::npos;
    return was_one ? DataLossError(path_, ": corrupted: its first bytes are damaged", kRemedy)
                   : not_an_artifact();
  }
  if (has_changed_line_ends(head))
    return DataLossError(
        path_, ": corrupted: its line ends were changed, as a transfer in text mode does; copy the file "
               "again in binary mode");
  if (head.size() < zip::kMagicOffset + zip::kVersionBlockBytes)
    return DataLossError(path_, ": truncated: it has ", file_.size(), " bytes, less than its header",
                         kRemedy);
  bool has_name = head.substr(zip::kLocalBytes).starts_with(zip::kFirstName);
  bool has_magic = head.substr(zip::kMagicOffset).starts_with(zip::kMagic);
  if (!has_name && !has_magic)
    return not_an_artifact(); // some other ZIP archive
  version_ = {load<uint32_t>(file_, zip::kMagicOffset + 8), load<uint32_t>(file_, zip::kMagicOffset + 12)};
  uint32_t crc = crc32_of(file_.subspan(zip::kMagicOffset, zip::kVersionBlockBytes - 4));
  if (!has_name || !has_magic || load<uint32_t>(file_, zip::kMagicOffset + 16) != crc)
    return DataLossError(path_, ": corrupted: its header is damaged", kRemedy);
  if (version_.major > major)
    return FailedPreconditionError(path_, ": has the newer format version ", version_.major, ".",
                                   version_.minor, ", this runtime reads ", major,
                                   ".x: update Quaver, or recompile the model with the "
                                   "version at hand");
  if (version_.major < major)
    return FailedPreconditionError(path_, ": has the older format version ", version_.major, ".",
                                   version_.minor, ", this runtime reads ", major, ".x: recompile the model");
  return OkStatus();
}

Status ArchiveReader::damaged() const {
  // Walking the local headers tells a file that was cut from one that was changed.
  uint64_t at = 0;
  std::string_view last;
  while (file_.size() - at >= zip::kLocalBytes && load<uint32_t>(file_, at) == zip::kLocalSignature) {
    uint64_t name = load<uint16_t>(file_, at + 26),
             data = at + zip::kLocalBytes + name + load<uint16_t>(file_, at + 28);
    if (data > file_.size() || zip::kLocalBytes + name + 20 > data - at)
      return DataLossError(path_, ": truncated: it ends within a header", kRemedy);
    last = text(file_.subspan(at + zip::kLocalBytes, name));
    uint64_t bytes = load<uint64_t>(file_, at + zip::kLocalBytes + name + 4);
    if (bytes > file_.size() - data)
      return DataLossError(path_, ": truncated: it has ", file_.size(), " bytes, its entry ", last,
                           " alone needs ", bytes, " from byte ", data, " on", kRemedy);
    at = data + bytes;
  }
  uint64_t rest = file_.size() - at;
  if (rest < 4 || (rest < zip::kTailBytes && load<uint32_t>(file_, at) == zip::kCentralSignature))
    return DataLossError(path_, ": truncated: it ends after entry ", last, ", before its directory", kRemedy);
  // Headers of the directory that are all there, but not what follows them?
  while (file_.size() - at >= zip::kCentralBytes && load<uint32_t>(file_, at) == zip::kCentralSignature)
    at += std::min<uint64_t>(file_.size() - at, zip::kCentralBytes + load<uint16_t>(file_, at + 28) +
                                                    load<uint16_t>(file_, at + 30));
  if (file_.size() - at < zip::kTailBytes)
    return DataLossError(path_, ": truncated: it ends within its directory", kRemedy);
  if (file_.size() - at > zip::kTailBytes && load<uint32_t>(file_, at) == zip::kEnd64Signature)
    return DataLossError(path_, ": corrupted: ", file_.size() - at - zip::kTailBytes, " bytes follow its end",
                         kRemedy);
  return DataLossError(path_, ": corrupted: its directory is damaged", kRemedy);
}

Status ArchiveReader::read_directory() {
  using namespace zip;
  if (file_.size() < kTailBytes || load<uint32_t>(file_, file_.size() - kEndBytes) != kEndSignature ||
      load<uint32_t>(file_, file_.size() - kTailBytes) != kEnd64Signature)
    return damaged();
  size_t tail = file_.size() - kTailBytes;
  uint64_t count = load<uint64_t>(file_, tail + 24), bytes = load<uint64_t>(file_, tail + 40);
  uint64_t at = load<uint64_t>(file_, tail + 48);
  if (count == 0 || count > kMaxEntries || bytes > tail || at != tail - bytes)
    return damaged();
  for (uint64_t i = 0; i < count; ++i) {
    if (tail - at < kCentralBytes || load<uint32_t>(file_, at) != kCentralSignature)
      return damaged();
    size_t name = load<uint16_t>(file_, at + 28), extra = load<uint16_t>(file_, at + 30);
    if (extra != kCentralZip64Bytes || tail - at < kCentralBytes + name + extra)
      return damaged();
    ArchiveEntry e;
    e.name = text(file_.subspan(at + kCentralBytes, name));
    e.crc = load<uint32_t>(file_, at + 16);
    size_t zip64 = at + kCentralBytes + name;
    e.bytes = load<uint64_t>(file_, zip64 + 4);
    e.header = load<uint64_t>(file_, zip64 + 20);
    if (e.header > tail || tail - e.header < kLocalBytes)
      return damaged();
    e.data =
        e.header + kLocalBytes + load<uint16_t>(file_, e.header + 26) + load<uint16_t>(file_, e.header + 28);
    if (e.data > tail || e.bytes > tail - e.data)
      return damaged();
    at += kCentralBytes + name + extra;
    if (!by_name_.try_emplace(e.name, entries_.size()).second)
      return damaged();
    entries_.push_back(std::move(e));
  }
  return OkStatus();
}

Status ArchiveReader::check_structure() const {
  uint64_t at = 0;
  std::string directory;
  auto same = [&](uint64_t offset, const std::string &want) {
    return offset <= file_.size() && want.size() <= file_.size() - offset &&
           std::memcmp(file_.data() + offset, want.data(), want.size()) == 0;
  };
  for (const ArchiveEntry &e : entries_) {
    std::string header = zip::local_header(e, version_);
    if (e.header != at || e.data != at + header.size() || !same(at, header))
      return DataLossError(path_, ": corrupted: entry ", e.name,
                           ": its header or its line in the directory is damaged", kRemedy);
    directory += zip::central_header(e);
    at = e.data + e.bytes;
  }
  std::string end = zip::end_records(entries_.size(), at, directory.size());
  if (!same(at, directory + end) || at + directory.size() + end.size() != file_.size())
    return DataLossError(path_, ": corrupted: its directory is damaged", kRemedy);
  return OkStatus();
}

} // namespace quaver::plan
