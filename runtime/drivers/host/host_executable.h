//===- host_executable.h - an ELF shared object loaded from memory ----------===//
//
// The object is freestanding x86-64 code made by our linker: no needed libraries, no undefined symbols. It is
// native code: load only artifacts you built or trust.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/base/status.h"
#include "runtime/hal/device.h"
#include "runtime/hal/executable.h"

#include <map>
#include <memory>
#include <mutex>

namespace quaver::hal {

using HostKernelFunction = void (*)(void *const *bindings, const int64_t *constants, int64_t begin,
                                    int64_t end, void *scratch);

class HostKernel final : public Kernel {
public:
  HostKernel(std::string symbol, HostKernelFunction function)
      : Kernel(std::move(symbol)), function(function) {}
  const HostKernelFunction function;
};

class HostExecutable final : public Executable {
public:
  /// Loads `source.code`. Checks that it is an x86-64 ELF shared object; features were checked by the device.
  static StatusOr<std::shared_ptr<Executable>> load(const ExecutableSource &source);
  ~HostExecutable() override;

  StatusOr<const Kernel *> find_kernel(std::string_view symbol) override;

private:
  HostExecutable(std::string name, int fd, void *library)
      : name_(std::move(name)), fd_(fd), library_(library) {}

  std::string name_;
  int fd_;
  void *library_;
  std::mutex mutex_; // guards kernels_
  std::map<std::string, std::unique_ptr<HostKernel>, std::less<>> kernels_;
};

} // namespace quaver::hal
