#include "runtime/plan/artifact_writer.h"
#include "runtime/plan/artifact.h"
#include "runtime/plan/blob_spool.h"
#include "runtime/plan/checksum.h"
#include "runtime/plan/validate.h"
#include <cstdio>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

namespace quaver::plan {

void ArtifactWriter::add_module(Module *module, const std::string &path, std::span<const std::byte> code) {
  module->set_path(path);
  module->set_bytes(code.size());
  module->set_checksum(checksum(code));
  data_.push_back({.name = path, .bytes = code});
}

std::pair<uint32_t, bool> ArtifactWriter::find_or_add(Plan *plan, uint64_t checksum, uint64_t bytes) {
  auto [it, inserted] = blobs_.try_emplace({checksum, bytes}, plan->blobs_size());
  if (!inserted)
    return {it->second, false};
  char name[64];
  std::snprintf(name, sizeof name, "blobs/%016llx-%llu", (unsigned long long)checksum,
                (unsigned long long)bytes);
  Blob *b = plan->add_blobs();
  b->set_path(name);
  b->set_bytes(bytes);
  b->set_checksum(checksum);
  data_.push_back({.name = name});
  return {it->second, true};
}

uint32_t ArtifactWriter::add_blob(Plan *plan, std::span<const std::byte> bytes) {
  auto [index, is_new] = find_or_add(plan, checksum(bytes), bytes.size());
  if (is_new)
    data_.back().bytes = bytes;
  return index;
}

StatusOr<uint32_t> ArtifactWriter::add_blob(Plan *plan, const BlobProducer &produce) {
  if (!spool_) {
    QUAVER_ASSIGN_OR_RETURN(spool_, BlobSpool::create(spool_folder_));
  }
  uint64_t offset = spool_->size();
  ChecksumStream sum;
  Status status = produce([&](std::span<const std::byte> bytes) {
    sum.add(bytes);
    return spool_->append(bytes);
  });
  uint64_t bytes = spool_->size() - offset;
  auto [index, is_new] = status.ok() ? find_or_add(plan, sum.value(), bytes) : std::pair{0u, false};
  if (!is_new)
    spool_->cut(offset);
  else
    data_.back().spool_offset = offset, data_.back().spool_bytes = bytes, data_.back().is_spooled = true;
  QUAVER_RETURN_IF_ERROR(status);
  return index;
}

void ArtifactWriter::add_entry(const std::string &name, std::string text) {
  texts_.push_back({name, std::move(text)});
}

static bool serialize(const Plan &plan, std::string *out) {
  google::protobuf::io::StringOutputStream stream(out);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  return plan.SerializeToCodedStream(&coded);
}

Status ArtifactWriter::write(const std::string &path, Plan *plan) const {
  plan->set_major(kPlanMajor);
  plan->set_minor(kPlanMinor);
  if (Status valid = validate(*plan); !valid.ok())
    return InternalError("the plan to write is broken: ", valid.message());
  std::string manifest;
  if (!serialize(*plan, &manifest))
    return InternalError("the plan cannot be serialized");
  if (!Plan().ParseFromString(manifest)) // what a reader would do
    return InvalidArgumentError(
        "a name in the model is not UTF-8 text, so the artifact could not be read back: rename it");
  std::span<const std::byte> spooled;
  if (spool_ && spool_->size()) {
    QUAVER_ASSIGN_OR_RETURN(spooled, spool_->map());
  }
  QUAVER_ASSIGN_OR_RETURN(auto archive, ArchiveWriter::create(path, {kPlanMajor, kPlanMinor}));
  auto bytes = [](const std::string &s) { return std::as_bytes(std::span(s.data(), s.size())); };
  QUAVER_RETURN_IF_ERROR(archive->add("quaver.pb", bytes(manifest)));
  for (const Data &d : data_)
    QUAVER_RETURN_IF_ERROR(
        archive->add(d.name, d.is_spooled ? spooled.subspan(d.spool_offset, d.spool_bytes) : d.bytes));
  for (auto &[name, text] : texts_)
    QUAVER_RETURN_IF_ERROR(archive->add(name, bytes(text)));
  return archive->finish();
}

} // namespace quaver::plan
