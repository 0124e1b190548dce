//===- loaded_target.h - one target of a model, ready on a device -----------===//
//
// Made once for a model, target and device identity, shared by its sessions: executables are loaded and
// kernels found, entries are flattened, and every weight has an address (on the host that of the mapped
// artifact: nothing is copied). Immutable; usable from any thread.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/executor/entry_program.h"
#include "runtime/hal/buffer.h"
#include "runtime/hal/device.h"
#include "runtime/plan/artifact.h"

#include <memory>
#include <string_view>
#include <vector>

namespace quaver {

class LoadedTarget {
public:
  /// Loads target number `index` of the artifact, which must outlive the result.
  static StatusOr<std::shared_ptr<const LoadedTarget>> load(const plan::Artifact &artifact, int index,
                                                            hal::Device &device);

  int index() const { return index_; }
  const std::vector<EntryProgram> &entries() const { return entries_; }
  /// The entry named `name`, an error that lists the names otherwise. Empty = the only or first entry.
  StatusOr<const EntryProgram *> find_entry(std::string_view name) const;

  struct WeightPlace {
    std::byte *address;
    int64_t bytes;
  };
  const WeightPlace &weight(uint32_t index) const { return weights_[index]; }

private:
  LoadedTarget() = default;
  Status load_weights(const plan::Artifact &artifact, hal::Device &device);

  int index_ = 0;
  std::vector<std::shared_ptr<hal::Executable>> executables_;
  std::vector<EntryProgram> entries_;
  std::vector<WeightPlace> weights_;
  std::vector<std::unique_ptr<hal::Buffer>> uploaded_; // empty where the device addresses host memory
};

} // namespace quaver
