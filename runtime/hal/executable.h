//===- executable.h - a loaded code module and its kernels ------------------===//
//
// An Executable is one code module of an artifact (ELF shared object, PTX, cubin) loaded for a device.
// Kernels are found in it by symbol; they live as long as the executable, and the executable must outlive
// every launch of them.
//
// Thread-safety: find_kernel may be called from any thread. An executable loaded through one device may be
// launched on every device with the same Device::identity().
//
// The kernel ABI on the host (other drivers translate to their own launch):
//   void kernel(void *const *bindings, const int64_t *constants, int64_t begin, int64_t end, void *scratch)
// computes workgroups [begin, end). Any split of the launch's range into calls gives the same bytes, in any
// order and on any threads. `scratch` is 64-byte aligned memory of the launch's scratch size that no other
// call uses meanwhile (nullptr when the size is 0); its contents are undefined at entry.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/base/status.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace quaver::hal {

/// One entry point of an executable. Drivers derive from it to hold their handle.
class Kernel {
public:
  virtual ~Kernel() = default;
  Kernel(const Kernel &) = delete;
  Kernel &operator=(const Kernel &) = delete;

  const std::string &symbol() const { return symbol_; }

protected:
  explicit Kernel(std::string symbol) : symbol_(std::move(symbol)) {}

private:
  std::string symbol_;
};

class Executable {
public:
  virtual ~Executable() = default;
  Executable(const Executable &) = delete;
  Executable &operator=(const Executable &) = delete;

  /// The kernel named `symbol`, owned by this executable; an error that names the symbol when there is none.
  virtual StatusOr<const Kernel *> find_kernel(std::string_view symbol) = 0;

protected:
  Executable() = default;
};

} // namespace quaver::hal
