//===- entry_program.h - an entry of the plan as flat arrays ----------------===//
//
// Made once when a target is loaded, so that a run touches no protobuf: nested blocks become one list of
// operations with jumps, expressions become slots of a SizeProgram, kernels become pointers.
//
// Immutable once built; shared by all sessions and threads. The plan it was built from was validated
// (runtime/plan/validate.h), so indices are in range.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/executor/size_program.h"
#include "runtime/executor/state_gate.h"
#include "runtime/hal/executable.h"
#include "runtime/plan/plan.pb.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace quaver {

/// A place in a buffer: its base plus the value of a slot.
struct BufferPlace {
  uint32_t buffer;
  uint32_t offset; // slot
};

enum class OpCode : uint8_t { kLaunch, kCopy, kFill, kReadBack, kCheck, kJumpIfFalse, kJump };

/// `index` is into the table of the op's kind; of kJump, the operation to go on with.
struct Operation {
  OpCode code;
  uint32_t index;
};

inline constexpr uint32_t kNoSlot = UINT32_MAX;

/// A kernel of the plan, found in a loaded module, and how it wants to be launched.
struct LoadedKernel {
  const hal::Kernel *kernel = nullptr;
  int block_threads = 1; // as in hal::LaunchParams
  size_t shared_bytes = 0;
};
struct LaunchOperation {
  LoadedKernel kernel;
  uint32_t first_binding, binding_count;
  uint32_t first_constant, constant_count;
  uint32_t workgroups, scratch_bytes; // slots
  uint32_t grain;                     // slot or kNoSlot
  std::string label;
};
struct CopyOperation {
  BufferPlace from, to;
  uint32_t bytes; // slot
};
struct FillOperation {
  BufferPlace to;
  uint32_t bytes; // slot
  uint8_t byte;
};
struct ReadBackOperation {
  uint32_t dim;
  BufferPlace from;
  plan::ElementType type; // an integer type or BOOL
  uint64_t byte_offset;   // of the element
};
struct CheckOperation {
  uint32_t condition; // slot
  std::string message;
};
struct JumpOperation {
  BufferPlace condition; // one BOOL
  uint32_t target;
};

struct BufferInfo {
  plan::Buffer::Memory memory;
  uint32_t index;
  uint32_t offset, bytes; // slots
  std::string label;
};

class EntryProgram {
public:
  /// Finds the kernel of plan index `kernel` in the target.
  using KernelFinder = std::function<StatusOr<LoadedKernel>(uint32_t kernel)>;

  static StatusOr<EntryProgram> build(const plan::Plan &plan, const plan::Entry &entry,
                                      const KernelFinder &find);

  const std::string &name() const { return entry_->name(); }
  /// Inputs and outputs with their names; lives as long as the plan.
  const plan::Entry &entry() const { return *entry_; }
  const SizeProgram &sizes() const { return sizes_; }
  const std::vector<Operation> &operations() const { return operations_; }
  /// The slot of the arena's size, and that size as a formula of the dimension symbols.
  uint32_t arena_bytes() const { return arena_bytes_; }
  const std::string &peak_formula() const { return peak_formula_; }
  StateGate::Access state_access() const { return state_access_; }
  bool has_control_flow() const { return !jumps_.empty(); }

private:
  friend class Run;
  friend class EntryFlattener;
  EntryProgram(const plan::Plan &plan, const plan::Entry &entry, const std::vector<uint32_t> &roots)
      : entry_(&entry), sizes_(plan, roots) {}
  void find_prologue();

  const plan::Entry *entry_;
  SizeProgram sizes_;
  std::vector<BufferInfo> buffers_;
  uint32_t arena_bytes_ = 0; // slot
  std::string peak_formula_;
  std::vector<Operation> operations_;
  // The first so many operations are read-backs of inputs and checks: they are done before the arena is
  // sized.
  uint32_t prologue_ = 0;
  std::vector<LaunchOperation> launches_;
  std::vector<BufferPlace> bindings_;
  std::vector<uint32_t> constants_; // slots
  std::vector<CopyOperation> copies_;
  std::vector<FillOperation> fills_;
  std::vector<ReadBackOperation> read_backs_;
  std::vector<CheckOperation> checks_;
  std::vector<JumpOperation> jumps_;
  uint32_t max_bindings_ = 0, max_constants_ = 0;
  StateGate::Access state_access_ = StateGate::Access::kNone;
};

} // namespace quaver
