#include "runtime/plan/artifact.h"
#include "runtime/plan/checksum.h"
#include "runtime/plan/validate.h"

namespace quaver::plan {

StatusOr<std::unique_ptr<Artifact>> Artifact::open(const std::string &path, Verify verify) {
  QUAVER_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(path));
  std::unique_ptr<Artifact> artifact(new Artifact(std::move(file), path));
  QUAVER_RETURN_IF_ERROR(artifact->load(verify));
  return artifact;
}

Status Artifact::load(Verify verify) {
  auto corrupted = [&](const std::string &entry, const char *what) {
    return DataLossError(path_, ": corrupted: entry ", entry, ": ", what,
                         "; copy the file again or recompile");
  };
  QUAVER_ASSIGN_OR_RETURN(archive_, ArchiveReader::read(file_.bytes(), path_));
  const ArchiveEntry &manifest = archive_.entries().front();
  std::span<const std::byte> bytes = archive_.data(manifest);
  if (manifest.name != "quaver.pb" || crc32_of(bytes) != manifest.crc)
    return corrupted("quaver.pb", "checksum differs");
  if (bytes.size() > size_t(INT32_MAX) || !plan_.ParseFromArray(bytes.data(), int(bytes.size())))
    return corrupted("quaver.pb", "is not a plan");
  if (plan_.major() != kPlanMajor)
    return FailedPreconditionError(
        path_, ": has plan version ", plan_.major(), ".", plan_.minor(), ", this runtime reads ", kPlanMajor,
        ".x: ", plan_.major() > kPlanMajor ? "update the runtime" : "recompile the model");
  QUAVER_RETURN_IF_ERROR(archive_.check_structure());
  if (Status valid = validate(plan_); !valid.ok())
    return DataLossError(path_, ": ", valid.message());
  for (const Target &target : plan_.targets())
    for (const Module &module : target.modules()) {
      const ArchiveEntry *e = archive_.find(module.path());
      if (!e || e->bytes != module.bytes() || checksum(archive_.data(*e)) != module.checksum())
        return corrupted(module.path(), "checksum differs");
    }
  for (int i = 0; i < plan_.blobs_size(); ++i) {
    const Blob &b = plan_.blobs(i);
    QUAVER_ASSIGN_OR_RETURN(std::span<const std::byte> data, blob(i));
    if ((verify == Verify::kAll || data.size() <= kVerifiedBlobBytes) && checksum(data) != b.checksum())
      return corrupted(b.path(), "checksum differs");
  }
  for (const ArchiveEntry &e : archive_.entries()) // what the plan does not vouch for
    if (!e.name.starts_with("blobs/") && !e.name.starts_with("targets/") &&
        crc32_of(archive_.data(e)) != e.crc)
      return corrupted(e.name, "checksum differs");
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
  QUAVER_ASSIGN_OR_RETURN(std::span<const std::byte> data, entry(b.path()));
  if (b.offset() > data.size() || b.bytes() > data.size() - b.offset())
    return DataLossError(path_, ": blob ", index, " lies outside its entry ", b.path());
  return data.subspan(b.offset(), b.bytes());
}

} // namespace quaver::plan
