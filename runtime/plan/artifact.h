// model.quaver: the plan, code and weights of a compiled model, mapped.
#pragma once
#include "runtime/plan/archive.h"
#include "runtime/plan/plan.pb.h"
#include <memory>
#include <optional>
#include <string>

namespace quaver::plan {

constexpr uint32_t kPlanMajor = 1, kPlanMinor = 0;
/// Blobs up to this size are checked at every load; larger ones on Verify::kAll.
constexpr uint64_t kVerifiedBlobBytes = uint64_t(256) << 20;

enum class Verify { kDefault, kAll };

/// An opened artifact. Immutable; usable from any thread. Spans live as long as it does.
class Artifact {
public:
  /// Maps and checks the file: structure, checksums, version, features, and the whole plan (validate.h).
  /// Nothing is copied but the plan itself. Errors are one sentence that names the file and the remedy.
  static StatusOr<std::unique_ptr<Artifact>> open(const std::string &path, Verify verify = Verify::kDefault);

  /// The same for bytes in memory, which the caller keeps; `name` stands for the path in messages.
  static StatusOr<std::unique_ptr<Artifact>> from_bytes(std::span<const std::byte> bytes, std::string name,
                                                        Verify verify = Verify::kDefault);

  const Plan &plan() const { return plan_; }
  const std::string &path() const { return path_; }
  uint64_t bytes() const { return bytes_.size(); }
  /// Entries in the archive, for inspection.
  const std::vector<ArchiveEntry> &entries() const { return archive_.entries(); }
  /// The bytes of an archive entry.
  StatusOr<std::span<const std::byte>> entry(const std::string &name) const;
  /// The bytes of plan().blobs(index).
  StatusOr<std::span<const std::byte>> blob(int index) const;

private:
  explicit Artifact(std::string path) : path_(std::move(path)) {}
  Status load(Verify verify);
  Status verify_entries(Verify verify) const;
  Status corrupted(const std::string &entry, const char *what) const;

  std::optional<MappedFile> file_;
  std::span<const std::byte> bytes_; // of file_, or the caller's
  std::string path_;
  ArchiveReader archive_;
  Plan plan_;
};

} // namespace quaver::plan
