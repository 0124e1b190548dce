//===- program_builder.cpp - a kernel and the functions that it reaches -----===//
#include "runtime/drivers/sim/machine/function_builder.h"

#include "runtime/drivers/sim/machine/context.h"
#include "runtime/drivers/sim/ptx/lexer.h"

#include <algorithm>

namespace quaver::sim {

KernelInfo kernel_info(const ptx::Function &tree) {
  KernelInfo info;
  info.name = std::string(tree.name);
  uint64_t offset = 0;
  for (const ptx::Variable &v : tree.parameters) {
    offset = (offset + v.alignment() - 1) / v.alignment() * v.alignment();
    const uint64_t bytes = std::min<uint64_t>(v.bytes(), 1 << 20); // refused later: far above the limit
    info.parameters.push_back({std::string(v.name), uint32_t(offset), uint32_t(bytes), v.alignment()});
    offset = std::min<uint64_t>(offset + bytes, 1 << 30);
  }
  info.parameter_bytes = uint32_t(offset);
  std::copy_n(tree.required_threads, 3, info.required_threads);
  std::copy_n(tree.max_threads, 3, info.max_threads);
  return info;
}

ProgramBuilder::ProgramBuilder(const ptx::Module &t, Program &p,
                               const std::unordered_map<std::string_view, uint32_t> &functions,
                               const std::unordered_map<std::string_view, uint32_t> &symbols)
    : tree(t), program(p), functions_(functions), symbols_(symbols) {
  for (const ptx::Variable &v : tree.variables)
    variables_.emplace(v.name, &v);
  program.function_of_tree.assign(tree.functions.size(), -1);
}

Status ProgramBuilder::build(uint32_t kernel) {
  const ptx::Function &entry = tree.functions[kernel];
  for (uint32_t count : entry.cluster)
    if (count > 1)
      return UnimplementedError(
          ptx::to_string(entry.at), ": kernel '", entry.name,
          "' asks for clusters of more than one block; this machine runs clusters of one");
  program.kernel = kernel_info(entry);
  if (program.kernel.parameter_bytes > 32764) // PTX ISA 5.1.6.1
    return InvalidArgumentError(ptx::to_string(entry.at), ": kernel '", entry.name, "' has ",
                                program.kernel.parameter_bytes,
                                " bytes of parameters; at most 32764 are allowed");
  QUAVER_ASSIGN_OR_RETURN(int first, reach(entry.name, entry.at));
  (void)first;
  // Functions are appended while others are decoded: `reach` only notes them.
  for (size_t i = 0; i < program.functions.size(); ++i) {
    FunctionCode code = std::move(program.functions[i]);
    FunctionBuilder builder(*this, tree.functions[code.tree_index], code);
    QUAVER_RETURN_IF_ERROR(builder.build());
    std::fill(program.function_of.begin() + code.begin, program.function_of.end(), uint32_t(i));
    program.functions[i] = std::move(code);
  }
  // Dynamic shared memory begins behind the static one, whose size is known only now.
  program.dynamic_shared_offset =
      (program.dynamic_shared_offset + dynamic_alignment_ - 1) / dynamic_alignment_ * dynamic_alignment_;
  for (const auto &[addend, offset] : dynamic_)
    for (size_t i = 0; i < kLanes; ++i) {
      const uint64_t address = kSharedBase + program.dynamic_shared_offset + uint64_t(addend);
      std::memcpy(&program.constants[offset + 8 * i], &address, 8);
    }
  return OkStatus();
}

StatusOr<int> ProgramBuilder::reach(std::string_view name, ptx::Location at) {
  const std::optional<uint32_t> index = function(name);
  if (!index || !tree.functions[*index].has_body)
    return InvalidArgumentError(ptx::to_string(at), ": function '", name,
                                "' is called but not defined in this module",
                                name == "vprintf" ? " (printf needs a host; remove it)" : "");
  int &reached = program.function_of_tree[*index];
  if (reached < 0) {
    reached = int(program.functions.size());
    FunctionCode code;
    code.tree_index = *index;
    program.functions.push_back(std::move(code));
  }
  return reached;
}

Status ProgramBuilder::reach_address_taken() {
  for (const ptx::Variable &v : tree.variables)
    for (const ptx::Initializer &value : v.initializer)
      if (value.value.kind == ptx::Operand::Kind::kName && function(value.value.name)) {
        QUAVER_ASSIGN_OR_RETURN(int reached, reach(value.value.name, value.at));
        (void)reached;
      }
  return OkStatus();
}

Operand ProgramBuilder::constant(uint64_t bits, uint8_t bytes) {
  if (bytes == 0)
    bits = bits ? ~uint64_t{0} : 0;
  else if (bytes < 8)
    bits &= (uint64_t{1} << (8 * bytes)) - 1;
  auto [at, is_new] = pool_.emplace(std::pair(bits, bytes), uint32_t(program.constants.size()));
  if (is_new) {
    const size_t lane = std::max<size_t>(bytes, 1);
    program.constants.resize(program.constants.size() + (lane * kLanes + 63) / 64 * 64);
    for (size_t i = 0; i < kLanes; ++i)
      std::memcpy(&program.constants[at->second + i * lane], &bits, std::min<size_t>(lane, 8));
  }
  Operand operand;
  operand.bytes = bytes;
  operand.offset = at->second;
  return operand;
}

Operand ProgramBuilder::relocated(uint32_t symbol, int64_t addend) {
  auto [at, is_new] = relocated_.emplace(std::pair(symbol, addend), uint32_t(program.constants.size()));
  if (is_new) {
    program.constants.resize(program.constants.size() + 8 * kLanes);
    program.relocations.push_back({at->second, symbol, addend});
  }
  Operand operand;
  operand.bytes = 8;
  operand.offset = at->second;
  return operand;
}

Operand ProgramBuilder::dynamic_shared(int64_t addend) {
  auto [at, is_new] = dynamic_.emplace(addend, uint32_t(program.constants.size()));
  if (is_new)
    program.constants.resize(program.constants.size() + 8 * kLanes);
  Operand operand;
  operand.bytes = 8;
  operand.offset = at->second;
  return operand;
}

StatusOr<uint32_t> ProgramBuilder::place_shared(const ptx::Variable &v) {
  auto known = shared_.find(&v);
  if (known != shared_.end())
    return known->second;
  constexpr uint64_t kMost = 1 << 20, kGap = 64;
  if (v.bytes() > kMost || program.static_shared_bytes + v.bytes() > kMost)
    return InvalidArgumentError(ptx::to_string(v.at), ": shared variable '", v.name, "' of ", v.bytes(),
                                " bytes does not fit the shared memory of any GPU");
  const uint64_t align = v.alignment();
  if (is_dynamic_shared(v)) {
    dynamic_alignment_ = std::max(dynamic_alignment_, v.alignment());
    return shared_[&v] = 0;
  }
  program.static_shared_bytes =
      uint32_t((program.static_shared_bytes + align - 1) / align * align + v.bytes());
  const uint64_t at = (program.dynamic_shared_offset + align - 1) / align * align;
  program.dynamic_shared_offset = uint32_t(at + v.bytes() + kGap);
  program.shared_variables.push_back({std::string(v.name), kSharedBase + uint32_t(at), v.bytes()});
  return shared_[&v] = kSharedBase + uint32_t(at);
}

const ptx::Variable *ProgramBuilder::module_variable(std::string_view name) const {
  auto at = variables_.find(name);
  return at == variables_.end() ? nullptr : at->second;
}
std::optional<uint32_t> ProgramBuilder::symbol(std::string_view name) const {
  auto at = symbols_.find(name);
  return at == symbols_.end() ? std::nullopt : std::optional(at->second);
}
std::optional<uint32_t> ProgramBuilder::function(std::string_view name) const {
  auto at = functions_.find(name);
  return at == functions_.end() ? std::nullopt : std::optional(at->second);
}

} // namespace quaver::sim
