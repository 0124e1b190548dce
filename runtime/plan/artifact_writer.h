// Writes model.quaver.
#pragma once
#include "runtime/plan/archive.h"
#include "runtime/plan/plan.pb.h"
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace quaver::plan {

class BlobSpool;

/// Collects code and weights beside a plan, then writes all in one go. Blobs are content-addressed: equal
/// bytes are stored once. Equal calls in equal order give equal files. Not thread-safe.
class ArtifactWriter {
public:
  /// Takes the next bytes of a blob; they are not needed afterwards.
  using BlobSink = std::function<Status(std::span<const std::byte>)>;
  /// Calls the sink until the blob is whole; its error ends the blob.
  using BlobProducer = std::function<Status(const BlobSink &)>;

  /// Produced blobs are kept in an unnamed file in `spool_folder` until write(): best on the artifact's disk.
  /// Empty = the system's folder for temporary files.
  explicit ArtifactWriter(std::string spool_folder = {}) : spool_folder_(std::move(spool_folder)) {}

  /// Adds the code of a target; fills the module's path, bytes and checksum. The span must stay valid until
  /// write().
  void add_module(Module *module, const std::string &path, std::span<const std::byte> code);
  /// Adds a blob to the plan and returns its index there; the index of an equal one if there is. The span
  /// must stay valid until write().
  uint32_t add_blob(Plan *plan, std::span<const std::byte> bytes);
  /// The same for a blob that is made piece by piece and never whole in memory.
  StatusOr<uint32_t> add_blob(Plan *plan, const BlobProducer &produce);
  /// Adds another entry (report.json, source.mlir).
  void add_entry(const std::string &name, std::string text);
  /// Validates the plan and writes the archive atomically. Sets the plan's version.
  Status write(const std::string &path, Plan *plan) const;

private:
  struct Data {
    std::string name;
    std::span<const std::byte> bytes = {}; // unless spooled
    uint64_t spool_offset = 0, spool_bytes = 0;
    bool is_spooled = false;
  };
  /// The index of the blob with this content; a new one's entry is appended to data_ for the caller to fill.
  std::pair<uint32_t, bool> find_or_add(Plan *plan, uint64_t checksum, uint64_t bytes);

  std::string spool_folder_;
  std::shared_ptr<BlobSpool> spool_;
  std::vector<Data> data_;
  std::vector<std::pair<std::string, std::string>> texts_;
  std::map<std::pair<uint64_t, uint64_t>, uint32_t> blobs_; // (checksum, bytes) -> index
};

} // namespace quaver::plan
