//===- model.h - an opened artifact -----------------------------------------===//
//
// A Model maps an artifact and loads its targets on demand, each once for a device identity. Sessions share
// it and keep it alive. Thread-safety: all methods may be called from any thread.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/base/status.h"
#include "runtime/executor/loaded_target.h"
#include "runtime/plan/artifact.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace quaver {

class Model {
public:
  /// Opens and validates the artifact at `path`. Its weights are mapped, not read.
  static StatusOr<std::shared_ptr<Model>> open(const std::string &path);

  const plan::Artifact &artifact() const { return *artifact_; }
  const plan::Plan &plan() const { return artifact_->plan(); }

  /// The best target that `device` runs, or the one named `target` when that is not empty, loaded. When none
  /// fits the error says why for each.
  StatusOr<std::shared_ptr<const LoadedTarget>> load_target(hal::Device &device, std::string_view target);

private:
  explicit Model(std::unique_ptr<plan::Artifact> artifact) : artifact_(std::move(artifact)) {}
  StatusOr<int> choose_target(hal::Device &device, std::string_view target) const;

  std::unique_ptr<plan::Artifact> artifact_;
  std::mutex mutex_; // guards loaded_
  std::map<std::pair<std::string, int>, std::weak_ptr<const LoadedTarget>>
      loaded_; // (device identity, target)
};

} // namespace quaver
