#include "runtime/plan/artifact.h"
#include "runtime/base/trace.h"
#include "runtime/plan/checksum.h"
#include "runtime/plan/validate.h"
#include <set>

namespace quaver::plan {

StatusOr<std::unique_ptr<Artifact>> Artifact::open(const std::string &path, Verify verify) {
  TraceScope scope("open artifact", path);
  std::unique_ptr<Artifact> artifact(new Artifact(path));
  QUAVER_ASSIGN_OR_RETURN(artifact->file_, MappedFile::open(path));
  artifact->bytes_ = artifact->file_->bytes();
  QUAVER_RETURN_IF_ERROR(artifact->load(verify));
  return artifact;
}

StatusOr<std::unique_ptr<Artifact>> Artifact::from_bytes(std::span<const std::byte> bytes, std::string name,
                                                         Verify verify) {
  std::unique_ptr<Artifact> artifact(new Artifact(std::move(name)));
  artifact->bytes_ = bytes;
  QUAVER_RETURN_IF_ERROR(artifact->load(verify));
  return artifact;
}

Status Artifact::corrupted(const std::string &entry, const char *what) const {
  return DataLossError(path_, ": corrupted: entry ", entry, ": ", what,
                       "; copy the file again or recompile the model");
}

Status Artifact::load(Verify verify) {
  QUAVER_ASSIGN_OR_RETURN(archive_, ArchiveReader::read(bytes_, path_, kPlanMajor));
  const ArchiveEntry &manifest = archive_.entries().front();
  std::span<const std::byte> bytes = archive_.data(manifest);
  if (crc32_of(bytes) != manifest.crc)
    return corrupted(manifest.name, "its checksum differs");
  if (bytes.size() > size_t(INT32_MAX) || !plan_.ParseFromArray(bytes.data(), int(bytes.size())))
    return corrupted(manifest.name, "it is not a plan");
  if (plan_.major() != archive_.version().major || plan_.minor() != archive_.version().minor)
    return corrupted(manifest.name, "its version is not the file's");
  if (Status valid = validate(plan_); !valid.ok())
    return Status(valid.code(), path_ + ": " + valid.message() + "; recompile the model");
  return verify_entries(verify);
}

Status Artifact::verify_entries(Verify verify) const {
  std::set<std::string_view> vouched = {archive_.entries().front().name};
  for (const Target &target : plan_.targets())
    for (const Module &module : target.modules()) {
      const ArchiveEntry *e = archive_.find(module.path());
      if (!e)
        return corrupted(module.path(), "it is not there");
      if (e->bytes != module.bytes())
        return corrupted(module.path(), "its size differs");
      if (checksum(archive_.data(*e)) != module.checksum())
        return corrupted(module.path(), "its checksum differs");
      vouched.insert(e->name);
    }
  for (int i = 0; i < plan_.blobs_size(); ++i) {
    const Blob &b = plan_.blobs(i);
    QUAVER_ASSIGN_OR_RETURN(std::span<const std::byte> data, blob(i));
    if ((verify == Verify::kAll || data.size() <= kVerifiedBlobBytes) && checksum(data) != b.checksum())
      return corrupted(b.path(), "its checksum differs");
    vouched.insert(b.path());
  }
  for (const ArchiveEntry &e : archive_.entries()) // what the plan does not vouch for
    if (!vouched.contains(e.name) && crc32_of(archive_.data(e)) != e.crc)
      return corrupted(e.name, "its checksum differs");
  return OkStatus();
}

StatusOr<std::span<const std::byte>> Artifact::entry(const std::string &name) const {
  const ArchiveEntry *e = archive_.find(name);
  if (!e)
    return NotFoundError(path_, ": has no entry ", name);
  return archive_.data(*e);
}

StatusOr<std::span<const std::byte>> Artifact::blob(int index) const {
  if (index < 0 || index >= plan_.blobs_size())
    return OutOfRangeError(path_, ": has no blob ", index);
  const Blob &b = plan_.blobs(index);
  if (b.path().empty())
    return UnimplementedError(path_, ": blob ", index, " lies in ", b.file(),
                              "; weights by reference are not read by this "
                              "runtime: compile with embedded weights");
  const ArchiveEntry *e = archive_.find(b.path());
  if (!e)
    return corrupted(b.path(), "it is not there");
  std::span<const std::byte> data = archive_.data(*e);
  if (b.offset() > data.size() || b.bytes() > data.size() - b.offset())
    return corrupted(b.path(), "it is too small");
  return data.subspan(b.offset(), b.bytes());
}

} // namespace quaver::plan
