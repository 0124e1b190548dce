//===- sim_executable.cpp - PTX in the memory of a simulated GPU ----------------===//
#include "runtime/drivers/sim/sim_executable.h"

namespace quaver::hal {

StatusOr<std::shared_ptr<Executable>> SimExecutable::load(const ExecutableSource &source,
                                                          sim::Memory &memory) {
  std::string text(reinterpret_cast<const char *>(source.code.data()), source.code.size());
  QUAVER_ASSIGN_OR_RETURN(std::shared_ptr<sim::Module> module,
                          sim::Module::parse(std::move(text), std::string(source.name)));
  QUAVER_ASSIGN_OR_RETURN(std::shared_ptr<sim::LoadedModule> loaded,
                          sim::LoadedModule::load(std::move(module), memory));
  return std::shared_ptr<Executable>(new SimExecutable(std::move(loaded)));
}

StatusOr<const Kernel *> SimExecutable::find_kernel(std::string_view symbol) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (auto known = kernels_.find(symbol); known != kernels_.end())
    return known->second.get();
  const sim::KernelInfo *info = module_->module().find(symbol);
  if (!info)
    return NotFoundError(module_->module().name() + " has no kernel '" + std::string(symbol) + "'");
  // Decoded now, so that what the machine does not know is said when a model is loaded.
  QUAVER_RETURN_IF_ERROR(module_->module().program(symbol).status());
  auto kernel = std::make_unique<SimKernel>(std::string(symbol), *module_, *info);
  return kernels_.emplace(symbol, std::move(kernel)).first->second.get();
}

} // namespace quaver::hal
