//===- loaded_target.cpp - one target of a model, ready on a device ---------===//
#include "runtime/executor/loaded_target.h"

#include "runtime/hal/stream.h"

#include <algorithm>

namespace quaver {

StatusOr<std::shared_ptr<const LoadedTarget>> LoadedTarget::load(const plan::Artifact &artifact, int index,
                                                                 hal::Device &device) {
  const plan::Plan &plan = artifact.plan();
  const plan::Target &target = plan.targets(index);
  std::shared_ptr<LoadedTarget> loaded(new LoadedTarget());
  loaded->index_ = index;
  const std::vector<std::string> features(target.features().begin(), target.features().end());
  for (const plan::Module &module : target.modules()) {
    QUAVER_ASSIGN_OR_RETURN(std::span<const std::byte> code, artifact.entry(module.path()));
    QUAVER_ASSIGN_OR_RETURN(std::shared_ptr<hal::Executable> executable,
                            device.load_executable({module.path(), target.name(), features, code}));
    loaded->executables_.push_back(std::move(executable));
  }
  EntryProgram::KernelFinder find = [&](uint32_t index) -> StatusOr<LoadedKernel> {
    const plan::Kernel &description = target.kernels(static_cast<int>(index));
    QUAVER_ASSIGN_OR_RETURN(const hal::Kernel *kernel,
                            loaded->executables_[description.module()]->find_kernel(description.symbol()));
    return LoadedKernel{kernel, std::max(1, static_cast<int>(description.block_threads())),
                        description.shared_bytes()};
  };
  for (const plan::Entry &entry : target.entries()) {
    QUAVER_ASSIGN_OR_RETURN(EntryProgram program, EntryProgram::build(plan, entry, find));
    loaded->entries_.push_back(std::move(program));
  }
  QUAVER_RETURN_IF_ERROR(loaded->load_weights(artifact, device));
  return std::shared_ptr<const LoadedTarget>(std::move(loaded));
}

Status LoadedTarget::load_weights(const plan::Artifact &artifact, hal::Device &device) {
  const plan::Plan &plan = artifact.plan();
  std::unique_ptr<hal::Stream> stream;
  if (!device.info().is_host_addressable) {
    QUAVER_ASSIGN_OR_RETURN(stream, device.create_stream(hal::StreamMode::kInline));
  }
  for (const plan::Weight &weight : plan.weights()) {
    QUAVER_ASSIGN_OR_RETURN(std::span<const std::byte> bytes, artifact.blob(static_cast<int>(weight.blob())));
    // Kernels never write a weight: the validator refuses a written binding to one, and the mapping is
    // read-only.
    std::byte *address = const_cast<std::byte *>(bytes.data());
    if (stream) {
      QUAVER_ASSIGN_OR_RETURN(std::unique_ptr<hal::Buffer> buffer, device.allocate(bytes.size()));
      QUAVER_RETURN_IF_ERROR(stream->copy_from_host(buffer->device_address(), bytes.data(), bytes.size()));
      address = static_cast<std::byte *>(buffer->device_address());
      uploaded_.push_back(std::move(buffer));
    }
    weights_.push_back({address, static_cast<int64_t>(bytes.size())});
  }
  return stream ? stream->synchronize() : OkStatus();
}

StatusOr<const EntryProgram *> LoadedTarget::find_entry(std::string_view name) const {
  if (name.empty() && !entries_.empty())
    return &entries_.front();
  std::string known;
  for (const EntryProgram &entry : entries_) {
    if (entry.name() == name)
      return &entry;
    known += (known.empty() ? "'" : ", '") + entry.name() + "'";
  }
  return NotFoundError("the model has no entry '" + std::string(name) + "'; it has " +
                       (known.empty() ? "none" : known));
}

} // namespace quaver
