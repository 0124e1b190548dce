//===- model.cpp - an opened artifact ---------------------------------------===//
#include "runtime/executor/model.h"

namespace quaver {

StatusOr<std::shared_ptr<Model>> Model::open(const std::string &path) {
  QUAVER_ASSIGN_OR_RETURN(std::unique_ptr<plan::Artifact> artifact, plan::Artifact::open(path));
  return std::shared_ptr<Model>(new Model(std::move(artifact)));
}

StatusOr<int> Model::choose_target(hal::Device &device, std::string_view target) const {
  int best = -1, best_rank = 0;
  std::string reasons, known;
  for (int i = 0; i < plan().targets_size(); ++i) {
    const plan::Target &candidate = plan().targets(i);
    known += (known.empty() ? "'" : ", '") + candidate.name() + "'";
    if (!target.empty() && candidate.name() != target)
      continue;
    StatusOr<int> rank = device.rank_target(
        candidate.name(), std::vector<std::string>(candidate.features().begin(), candidate.features().end()));
    if (!rank.ok())
      reasons += (reasons.empty() ? "" : "; ") + std::string(rank.status().message());
    else if (best < 0 || *rank > best_rank)
      best = i, best_rank = *rank;
  }
  if (best >= 0)
    return best;
  if (reasons.empty())
    return NotFoundError("the artifact has no target '" + std::string(target) + "'; it has " +
                         (known.empty() ? "none" : known));
  return FailedPreconditionError("the artifact has no target for device '" + device.info().name +
                                 "': " + reasons);
}

StatusOr<std::shared_ptr<const LoadedTarget>> Model::load_target(hal::Device &device,
                                                                 std::string_view target) {
  QUAVER_ASSIGN_OR_RETURN(int index, choose_target(device, target));
  // Held while loading: two sessions that start at once load the code once.
  std::lock_guard<std::mutex> lock(mutex_);
  std::weak_ptr<const LoadedTarget> &slot = loaded_[{std::string(device.identity()), index}];
  if (std::shared_ptr<const LoadedTarget> loaded = slot.lock())
    return loaded;
  QUAVER_ASSIGN_OR_RETURN(std::shared_ptr<const LoadedTarget> loaded,
                          LoadedTarget::load(*artifact_, index, device));
  slot = loaded;
  return loaded;
}

} // namespace quaver
