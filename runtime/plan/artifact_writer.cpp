#include "runtime/plan/artifact_writer.h"
#include "runtime/plan/artifact.h"
#include "runtime/plan/checksum.h"
#include "runtime/plan/validate.h"
#include <cstdio>

namespace quaver::plan {

void ArtifactWriter::add_module(Module *module, const std::string &path, std::span<const std::byte> code) {
  module->set_path(path);
  module->set_bytes(code.size());
  module->set_checksum(checksum(code));
  entries_.push_back({path, code});
}

uint32_t ArtifactWriter::add_blob(Plan *plan, std::span<const std::byte> bytes) {
  uint64_t sum = checksum(bytes);
  auto [it, inserted] = blobs_.try_emplace({sum, bytes.size()}, plan->blobs_size());
  if (!inserted)
    return it->second;
  char name[64];
  std::snprintf(name, sizeof name, "blobs/%016llx-%llu", (unsigned long long)sum,
                (unsigned long long)bytes.size());
  Blob *b = plan->add_blobs();
  b->set_path(name);
  b->set_bytes(bytes.size());
  b->set_checksum(sum);
  entries_.push_back({name, bytes});
  return it->second;
}

void ArtifactWriter::add_entry(const std::string &name, std::string text) {
  texts_.push_back({name, std::move(text)});
}

Status ArtifactWriter::write(const std::string &path, Plan *plan) const {
  plan->set_major(kPlanMajor);
  plan->set_minor(kPlanMinor);
  if (Status valid = validate(*plan); !valid.ok())
    return InternalError("the plan to write is broken: ", valid.message());
  std::string manifest;
  if (!plan->SerializeToString(&manifest))
    return InternalError("the plan cannot be serialized");
  QUAVER_ASSIGN_OR_RETURN(auto archive, ArchiveWriter::create(path));
  auto bytes = [](const std::string &s) { return std::as_bytes(std::span(s.data(), s.size())); };
  QUAVER_RETURN_IF_ERROR(archive->add("quaver.pb", bytes(manifest)));
  for (auto &[name, data] : entries_)
    QUAVER_RETURN_IF_ERROR(archive->add(name, data));
  for (auto &[name, text] : texts_)
    QUAVER_RETURN_IF_ERROR(archive->add(name, bytes(text)));
  return archive->finish();
}

} // namespace quaver::plan
