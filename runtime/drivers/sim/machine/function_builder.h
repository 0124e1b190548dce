// Names of a function being decoded: registers, variables, labels, constants.
#pragma once
#include "runtime/drivers/sim/machine/program.h"
#include <map>
#include <string_view>
#include <unordered_map>

namespace quaver::sim {

class ProgramBuilder;

/// What a name stands for.
struct Name {
  enum class Kind : uint8_t {
    kRegister,
    kVectorRegister,
    kLocal,
    kParam,
    kShared,
    kDynamicShared,
    kGlobal,
    kFunction
  };
  Kind kind = Kind::kRegister;
  ptx::Type type = ptx::Type::kB32;
  uint8_t vector = 1;
  int64_t slot = -1;                   // kRegister: offset in the frame, -1 until first used
  int64_t slots[4] = {-1, -1, -1, -1}; // kVectorRegister
  uint64_t address = 0;                // kLocal: offset; kParam, kShared: address; kGlobal, kFunction: index
  uint64_t bytes = 0;
};

class FunctionBuilder {
public:
  FunctionBuilder(ProgramBuilder &program, const ptx::Function &tree, FunctionCode &code)
      : program(program), tree(tree), code(code) {}

  /// Decodes parameters and body; appends to the program's code.
  Status build();

  /// The innermost meaning of a name; nullptr: none.
  Name *find(std::string_view name);
  /// The register's operand; nullopt: `name` is no register.
  std::optional<Operand> register_operand(std::string_view name, std::string_view component, ptx::Type *type);
  /// 32 equal lanes of `bytes` bytes in the constant pool. 0 bytes: a predicate.
  Operand constant(uint64_t bits, uint8_t bytes);
  /// The value that the name of a variable or function has as an operand (8 bytes), if it is one.
  StatusOr<Operand> address_of(const ptx::Operand &name);
  /// The space in which the variable's address lies.
  ptx::Space space_of(const Name &name) const;
  /// Where a parameter or .param variable of a call lies; nullopt: `name` is none.
  std::optional<Passed> local_place(std::string_view name);
  /// The label's number, or -1. Positions are known when the function has been read: a decode function puts
  /// the number into out.target or BranchTargets::positions and calls `patch_targets`.
  int64_t label(std::string_view name) const;
  void patch_targets(BranchTargets *list = nullptr) {
    patch_ = true;
    patch_list_ = list;
  }
  /// Labels of a .branchtargets list. nullptr: no such list.
  const ptx::TargetList *target_list(std::string_view name) const;
  bool is_kernel() const { return tree.is_entry; }

  ProgramBuilder &program;
  const ptx::Function &tree;
  FunctionCode &code;

private:
  Status scope(const ptx::Scope &scope);
  Status instruction(const ptx::Instruction &in);
  Status declare(const ptx::Variable &v);
  Status declare_parameters();
  Name *find_in_ranges(std::string_view name, size_t depth);
  int64_t allocate_slot(ptx::Type type);
  uint64_t allocate_local(uint64_t bytes, uint32_t align);

  struct RegisterRange {
    std::string_view prefix;
    ptx::Type type;
    uint64_t count;
  };
  struct ScopeNames {
    std::unordered_map<std::string_view, Name> names;
    std::vector<RegisterRange> ranges;
    std::unordered_map<std::string_view, uint32_t> labels; // numbers
    std::unordered_map<std::string_view, const ptx::TargetList *> lists;
  };
  std::vector<ScopeNames> scopes_;
  std::vector<uint32_t> label_positions_; // by number
  std::vector<uint32_t> patches_;         // positions whose target is a label's number
  std::vector<BranchTargets *> list_patches_;
  bool patch_ = false;
  BranchTargets *patch_list_ = nullptr;
  std::map<uint64_t, uint32_t> local_address_slots_; // local offset -> frame slot
  uint32_t predicate_block_ = 0, predicates_used_ = 16;
};

/// A program being built: functions that were reached, constants, shared memory.
class ProgramBuilder {
public:
  ProgramBuilder(const ptx::Module &tree, Program &program,
                 const std::unordered_map<std::string_view, uint32_t> &functions,
                 const std::unordered_map<std::string_view, uint32_t> &symbols);

  Status build(uint32_t kernel);
  /// Index in Program::functions of the tree's function `name`; -1: there is none with a body.
  StatusOr<int> reach(std::string_view name, ptx::Location at);
  Operand constant(uint64_t bits, uint8_t bytes);
  Operand relocated(uint32_t symbol, int64_t addend);
  /// The start of dynamic shared memory plus `addend`.
  Operand dynamic_shared(int64_t addend);
  static bool is_dynamic_shared(const ptx::Variable &v) { return v.is_extern || v.bytes() == 0; }
  /// Address of a .shared variable; the first call places it. 0 for a dynamic one.
  StatusOr<uint32_t> place_shared(const ptx::Variable &v);
  const ptx::Variable *module_variable(std::string_view name) const;
  std::optional<uint32_t> symbol(std::string_view name) const;
  std::optional<uint32_t> function(std::string_view name) const;
  /// Every function whose address a global variable holds may be called.
  Status reach_address_taken();

  const ptx::Module &tree;
  Program &program;

private:
  const std::unordered_map<std::string_view, uint32_t> &functions_, &symbols_;
  std::unordered_map<std::string_view, const ptx::Variable *> variables_;
  std::map<std::pair<uint64_t, uint8_t>, uint32_t> pool_;
  std::map<std::pair<uint32_t, int64_t>, uint32_t> relocated_;
  std::unordered_map<const ptx::Variable *, uint32_t> shared_;
  std::map<int64_t, uint32_t> dynamic_; // addend -> offset in the pool
  uint32_t dynamic_alignment_ = 16;
};

/// KernelInfo of an .entry.
KernelInfo kernel_info(const ptx::Function &tree);

} // namespace quaver::sim
