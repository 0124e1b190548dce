// Writes model.quaver.
#pragma once
#include "runtime/plan/archive.h"
#include "runtime/plan/plan.pb.h"
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace quaver::plan {

/// Collects code and weights beside a plan, then writes all in one go. Blobs are content-addressed: equal
/// bytes are stored once. Spans must stay valid until write(). Not thread-safe.
class ArtifactWriter {
public:
  /// Adds the code of a target; fills the module's path, bytes and checksum.
  void add_module(Module *module, const std::string &path, std::span<const std::byte> code);
  /// Adds a blob to the plan and returns its index there; the index of an equal one if there is.
  uint32_t add_blob(Plan *plan, std::span<const std::byte> bytes);
  /// Adds another entry (report.json, source.mlir).
  void add_entry(const std::string &name, std::string text);
  /// Validates the plan and writes the archive atomically. Sets the plan's version.
  Status write(const std::string &path, Plan *plan) const;

private:
  std::vector<std::pair<std::string, std::span<const std::byte>>> entries_;
  std::vector<std::pair<std::string, std::string>> texts_;
  std::map<std::pair<uint64_t, uint64_t>, uint32_t> blobs_; // (checksum, bytes) -> index
};

} // namespace quaver::plan
