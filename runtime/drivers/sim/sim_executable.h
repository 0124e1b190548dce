//===- sim_executable.h - PTX in the memory of a simulated GPU ------------------===//
#pragma once

#include "runtime/drivers/sim/machine/module.h"
#include "runtime/hal/device.h"
#include "runtime/hal/executable.h"

#include <map>
#include <mutex>

namespace quaver::hal {

class SimKernel final : public Kernel {
public:
  SimKernel(std::string symbol, const sim::LoadedModule &module, const sim::KernelInfo &info)
      : Kernel(std::move(symbol)), module_(module), info_(info) {}
  const sim::LoadedModule &module() const { return module_; }
  const sim::KernelInfo &info() const { return info_; }

private:
  const sim::LoadedModule &module_;
  const sim::KernelInfo &info_;
};

class SimExecutable final : public Executable {
public:
  /// Parses `source.code` as PTX and puts its variables into `memory`, which must outlive it.
  static StatusOr<std::shared_ptr<Executable>> load(const ExecutableSource &source, sim::Memory &memory);

  StatusOr<const Kernel *> find_kernel(std::string_view symbol) override;

private:
  explicit SimExecutable(std::shared_ptr<sim::LoadedModule> module) : module_(std::move(module)) {}

  std::shared_ptr<sim::LoadedModule> module_;
  std::mutex mutex_; // guards kernels_
  std::map<std::string, std::unique_ptr<SimKernel>, std::less<>> kernels_;
};

} // namespace quaver::hal
