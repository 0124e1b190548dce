// PTX as a machine holds it: parsed, and each kernel decoded once.
#pragma once
#include "runtime/base/status.h"
#include "runtime/drivers/sim/machine/memory.h"
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quaver::sim {

struct Program; // decoded code of one kernel and the functions that it calls (program.h)

/// A parameter of a kernel: where its bytes lie in the parameter block.
struct KernelParameter {
  std::string name;
  uint32_t offset = 0, bytes = 0, align = 1;
};

struct KernelInfo {
  std::string name;
  std::vector<KernelParameter> parameters;
  uint32_t parameter_bytes = 0;             // of the whole block
  uint32_t required_threads[3] = {0, 0, 0}; // .reqntid; 0: not said
  uint32_t max_threads[3] = {0, 0, 0};      // .maxntid; 0: not said
};

/// A parsed module. Immutable but for its cache of decoded kernels; usable from any thread.
class Module {
public:
  /// Parses PTX text. `name` stands before the line in every message ("kernel.ptx"). Instructions that the
  /// machine does not know are found when a kernel that has them is first decoded, not here.
  static StatusOr<std::shared_ptr<Module>> parse(std::string text, std::string name);
  ~Module();

  const std::string &name() const;
  std::span<const KernelInfo> kernels() const;
  const KernelInfo *find(std::string_view kernel) const; // nullptr: none of that name
  /// The kernel's code; decoded at the first call. NotFound; Unimplemented naming instruction, line and
  /// column for what the machine does not know; InvalidArgument for what is not PTX.
  StatusOr<std::shared_ptr<const Program>> program(std::string_view kernel) const;

  struct State;
  State &state() const { return *state_; }

private:
  explicit Module(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// A module in a machine's memory: its .global and .const variables have addresses and their initial values.
/// Frees them when destroyed. Uninitialized .global variables are zero, as the ISA says (section 5.4.4).
class LoadedModule {
public:
  /// `memory` must outlive it.
  static StatusOr<std::shared_ptr<LoadedModule>> load(std::shared_ptr<Module> module, Memory &memory);
  ~LoadedModule();

  const Module &module() const { return *module_; }
  Memory &memory() const { return *memory_; }
  struct Symbol {
    std::string name;
    uint64_t address = 0, bytes = 0;
  };
  /// .global and .const variables of the module.
  std::span<const Symbol> symbols() const { return symbols_; }
  const Symbol *find_symbol(std::string_view name) const;

private:
  LoadedModule() = default;
  std::shared_ptr<Module> module_;
  Memory *memory_ = nullptr;
  std::vector<Symbol> symbols_;
};

} // namespace quaver::sim
