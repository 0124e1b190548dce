#include "runtime/plan/archive_format.h"

namespace quaver::plan {

StatusOr<std::unique_ptr<ArchiveWriter>> ArchiveWriter::create(const std::string &path,
                                                               FormatVersion version) {
  QUAVER_ASSIGN_OR_RETURN(auto file, AtomicFile::create(path));
  return std::unique_ptr<ArchiveWriter>(new ArchiveWriter(std::move(file), version));
}

Status ArchiveWriter::add(const std::string &name, std::span<const std::byte> data) {
  assert(!name.empty() && name.size() < 1024);
  assert((name == zip::kFirstName) == entries_.empty() && "quaver.pb comes first");
  for (const ArchiveEntry &e : entries_)
    if (e.name == name)
      return InternalError("two archive entries are called ", name);
  ArchiveEntry e{name, data.size(), crc32_of(data), file_->size(), 0};
  std::string header = zip::local_header(e, version_);
  e.data = e.header + header.size();
  QUAVER_RETURN_IF_ERROR(file_->write(zip::as_bytes(header)));
  QUAVER_RETURN_IF_ERROR(file_->write(data));
  entries_.push_back(std::move(e));
  return OkStatus();
}

Status ArchiveWriter::finish() {
  uint64_t directory = file_->size();
  std::string headers;
  for (const ArchiveEntry &e : entries_)
    headers += zip::central_header(e);
  QUAVER_RETURN_IF_ERROR(file_->write(zip::as_bytes(headers)));
  QUAVER_RETURN_IF_ERROR(
      file_->write(zip::as_bytes(zip::end_records(entries_.size(), directory, headers.size()))));
  return file_->commit();
}

} // namespace quaver::plan
