//===- function_builder.cpp - names, registers and code of a function -------===//
#include "runtime/drivers/sim/machine/function_builder.h"

#include "runtime/drivers/sim/machine/decoder.h"
#include "runtime/drivers/sim/machine/instruction_table.h"
#include "runtime/drivers/sim/machine/special_registers.h"
#include "runtime/drivers/sim/ptx/lexer.h"

#include <algorithm>

namespace quaver::sim {
namespace {

constexpr uint64_t kMaxFrameBytes = uint64_t{64} << 20; // of a warp's registers in one function
constexpr uint64_t kMaxLocalBytes = uint64_t{16} << 20;

template <class... Parts> Status error_at(ptx::Location at, const Parts &...parts) {
  return InvalidArgumentError(ptx::to_string(at), ": ", parts...);
}

} // namespace

Status FunctionBuilder::build() {
  code.name = std::string(tree.name);
  code.begin = uint32_t(program.program.code.size());
  scopes_.emplace_back();
  QUAVER_RETURN_IF_ERROR(declare_parameters());
  QUAVER_RETURN_IF_ERROR(scope(tree.body));
  // Falling off the end returns (kernels: exits).
  static const ptx::Instruction kReturn = [] {
    ptx::Instruction in;
    in.opcode = "ret";
    in.text = "(end of the function)";
    return in;
  }();
  QUAVER_RETURN_IF_ERROR(instruction(kReturn));
  std::vector<Instruction> &all = program.program.code;
  code.end = uint32_t(all.size());
  for (uint32_t position : patches_)
    all[position].target = label_positions_[all[position].target];
  for (BranchTargets *list : list_patches_)
    for (uint32_t &target : list->positions)
      target = label_positions_[target];
  code.local_bytes = (code.local_bytes + 15) / 16 * 16;
  if (code.frame_bytes > kMaxFrameBytes || code.local_bytes > kMaxLocalBytes)
    return error_at(tree.at, "function '", tree.name, "' needs ", code.frame_bytes / 128, " registers and ",
                    code.local_bytes, " bytes of local memory: more than any GPU has");
  find_meeting_points(program.program, code);
  return OkStatus();
}

Status FunctionBuilder::declare_parameters() {
  auto pass = [&](const ptx::Variable &v, std::vector<Passed> &out) -> Status {
    QUAVER_RETURN_IF_ERROR(declare(v));
    Passed passed;
    passed.bytes = uint32_t(v.bytes());
    ptx::Type type;
    if (v.space == ptx::Space::kReg)
      passed.value = *register_operand(v.name, "", &type);
    else
      passed = *local_place(v.name);
    out.push_back(passed);
    return OkStatus();
  };
  if (is_kernel()) {
    const KernelInfo info = kernel_info(tree);
    for (size_t i = 0; i < tree.parameters.size(); ++i) {
      Name name;
      name.kind = Name::Kind::kParam;
      name.address = info.parameters[i].offset;
      name.bytes = info.parameters[i].bytes;
      scopes_.back().names[tree.parameters[i].name] = name;
    }
    return OkStatus();
  }
  for (const ptx::Variable &v : tree.results)
    QUAVER_RETURN_IF_ERROR(pass(v, code.results));
  for (const ptx::Variable &v : tree.parameters)
    QUAVER_RETURN_IF_ERROR(pass(v, code.parameters));
  return OkStatus();
}

Status FunctionBuilder::scope(const ptx::Scope &scope) {
  scopes_.emplace_back();
  for (const ptx::Statement &s : scope.statements) {
    if (const auto *label = std::get_if<ptx::Label>(&s)) {
      if (!scopes_.back().labels.emplace(label->name, uint32_t(label_positions_.size())).second)
        return error_at(label->at, "label '", label->name, "' is already in this scope");
      label_positions_.push_back(0);
    } else if (const auto *list = std::get_if<ptx::TargetList>(&s)) {
      scopes_.back().lists[list->name] = list;
    }
  }
  for (const ptx::Statement &s : scope.statements) {
    if (const auto *in = std::get_if<ptx::Instruction>(&s))
      QUAVER_RETURN_IF_ERROR(instruction(*in));
    else if (const auto *label = std::get_if<ptx::Label>(&s))
      label_positions_[scopes_.back().labels[label->name]] = uint32_t(program.program.code.size());
    else if (const auto *v = std::get_if<ptx::Variable>(&s))
      QUAVER_RETURN_IF_ERROR(declare(*v));
    else if (const auto *inner = std::get_if<std::unique_ptr<ptx::Scope>>(&s))
      QUAVER_RETURN_IF_ERROR(this->scope(**inner));
  }
  scopes_.pop_back();
  return OkStatus();
}

Status FunctionBuilder::declare(const ptx::Variable &v) {
  ScopeNames &scope = scopes_.back();
  if (v.range >= 0) {
    scope.ranges.push_back({v.name, v.type, uint64_t(v.range)});
    return OkStatus();
  }
  Name name;
  name.type = v.type;
  name.vector = v.vector;
  name.bytes = v.bytes();
  switch (v.space) {
  case ptx::Space::kReg:
    if (!v.dimensions.empty())
      return error_at(v.at, "register '", v.name, "' is an array");
    name.kind = v.vector > 1 ? Name::Kind::kVectorRegister : Name::Kind::kRegister;
    break;
  case ptx::Space::kLocal:
  case ptx::Space::kParam:
    if (name.bytes == 0 && v.space == ptx::Space::kLocal)
      return error_at(v.at, "variable '", v.name, "' has no size");
    name.kind = Name::Kind::kLocal;
    name.address = allocate_local(name.bytes, v.alignment());
    break;
  case ptx::Space::kShared: {
    name.kind = ProgramBuilder::is_dynamic_shared(v) ? Name::Kind::kDynamicShared : Name::Kind::kShared;
    QUAVER_ASSIGN_OR_RETURN(name.address, program.place_shared(v));
    break;
  }
  default:
    return error_at(v.at, "variable '", v.name, "': .", spelling(v.space),
                    " variables are declared outside of functions");
  }
  if (v.name != "_" && !scope.names.emplace(v.name, name).second)
    return error_at(v.at, "'", v.name, "' is already declared in this scope");
  return OkStatus();
}

uint64_t FunctionBuilder::allocate_local(uint64_t bytes, uint32_t align) {
  const uint64_t at = (uint64_t{code.local_bytes} + align - 1) / align * align;
  code.local_bytes = uint32_t(std::min(at + bytes, kMaxLocalBytes + 1));
  return at;
}

int64_t FunctionBuilder::allocate_slot(ptx::Type type) {
  if (type == ptx::Type::kPred) {
    if (predicates_used_ == 16) {
      predicate_block_ = code.frame_bytes;
      predicates_used_ = 0;
      code.frame_bytes += 64;
    }
    return predicate_block_ + 4 * predicates_used_++;
  }
  const uint32_t at = code.frame_bytes;
  if (at <= kMaxFrameBytes)
    code.frame_bytes += (uint32_t{bytes_of(type)} * kLanes + 63) / 64 * 64;
  return at;
}

Name *FunctionBuilder::find_in_ranges(std::string_view name, size_t depth) {
  for (const RegisterRange &range : scopes_[depth].ranges) {
    if (name.size() <= range.prefix.size() || name.substr(0, range.prefix.size()) != range.prefix)
      continue;
    const std::string_view digits = name.substr(range.prefix.size());
    if (digits.size() > 9 || digits.find_first_not_of("0123456789") != std::string_view::npos ||
        (digits.size() > 1 && digits[0] == '0'))
      continue;
    uint64_t number = 0;
    for (char c : digits)
      number = number * 10 + uint64_t(c - '0');
    if (number >= range.count)
      continue;
    Name entry;
    entry.type = range.type;
    return &scopes_[depth].names.emplace(name, entry).first->second;
  }
  return nullptr;
}

Name *FunctionBuilder::find(std::string_view name) {
  for (size_t depth = scopes_.size(); depth-- > 0;) {
    if (auto at = scopes_[depth].names.find(name); at != scopes_[depth].names.end())
      return &at->second;
    if (Name *entry = find_in_ranges(name, depth))
      return entry;
  }
  auto remember = [&](Name::Kind kind, uint64_t address, uint64_t bytes) {
    Name entry;
    entry.kind = kind;
    entry.address = address;
    entry.bytes = bytes;
    return &scopes_.front().names.emplace(name, entry).first->second;
  };
  if (std::optional<uint32_t> symbol = program.symbol(name))
    return remember(Name::Kind::kGlobal, *symbol, program.module_variable(name)->bytes());
  if (const ptx::Variable *v = program.module_variable(name); v && v->space == ptx::Space::kShared) {
    StatusOr<uint32_t> address = program.place_shared(*v);
    const bool dynamic = ProgramBuilder::is_dynamic_shared(*v);
    return address.ok()
               ? remember(dynamic ? Name::Kind::kDynamicShared : Name::Kind::kShared, *address, v->bytes())
               : nullptr;
  }
  if (std::optional<uint32_t> index = program.function(name))
    return remember(Name::Kind::kFunction, *index, 0);
  return nullptr;
}

std::optional<Operand> FunctionBuilder::register_operand(std::string_view name, std::string_view component,
                                                         ptx::Type *type) {
  Name *entry = find(name);
  if (!entry) {
    if (std::optional<Operand> special = special_register(name, component)) {
      std::vector<uint32_t> &rows = program.program.special_rows;
      if (std::find(rows.begin(), rows.end(), special_row(*special)) == rows.end())
        rows.push_back(special_row(*special));
      *type = special->bytes == 8 ? ptx::Type::kB64 : special->bytes ? ptx::Type::kB32 : ptx::Type::kPred;
      return special;
    }
    return std::nullopt;
  }
  int64_t *slot = nullptr;
  if (entry->kind == Name::Kind::kRegister && component.empty()) {
    slot = &entry->slot;
  } else if (entry->kind == Name::Kind::kVectorRegister && component.size() == 1) {
    size_t i = std::string_view("xyzw").find(component[0]);
    if (i == std::string_view::npos)
      i = std::string_view("rgba").find(component[0]);
    if (i < entry->vector && i < 4)
      slot = &entry->slots[i];
  }
  if (!slot)
    return std::nullopt;
  if (*slot < 0)
    *slot = allocate_slot(entry->type);
  Operand operand;
  operand.base = Operand::Base::kFrame;
  operand.bytes = bytes_of(entry->type);
  operand.offset = uint32_t(*slot);
  *type = entry->type;
  return operand;
}

ptx::Space FunctionBuilder::space_of(const Name &name) const {
  switch (name.kind) {
  case Name::Kind::kLocal:
    return ptx::Space::kLocal;
  case Name::Kind::kParam:
    return ptx::Space::kParam;
  case Name::Kind::kShared:
  case Name::Kind::kDynamicShared:
    return ptx::Space::kShared;
  case Name::Kind::kGlobal:
    return ptx::Space::kGlobal;
  default:
    return ptx::Space::kReg;
  }
}

Operand FunctionBuilder::constant(uint64_t bits, uint8_t bytes) { return program.constant(bits, bytes); }

StatusOr<Operand> FunctionBuilder::address_of(const ptx::Operand &name) {
  Name *entry = find(name.name);
  if (!entry)
    return error_at(name.at, "'", name.name, "' is not declared");
  switch (entry->kind) {
  case Name::Kind::kLocal: {
    auto [at, is_new] = local_address_slots_.emplace(entry->address + uint64_t(name.offset), 0);
    if (is_new) {
      at->second = uint32_t(allocate_slot(ptx::Type::kB64));
      code.local_addresses.push_back({at->second, uint32_t(at->first)});
    }
    Operand operand;
    operand.base = Operand::Base::kFrame;
    operand.bytes = 8;
    operand.offset = at->second;
    return operand;
  }
  case Name::Kind::kParam:
  case Name::Kind::kShared:
    return constant(entry->address + uint64_t(name.offset), 8);
  case Name::Kind::kDynamicShared:
    return program.dynamic_shared(name.offset);
  case Name::Kind::kGlobal:
    return program.relocated(uint32_t(entry->address), name.offset);
  case Name::Kind::kFunction: {
    QUAVER_ASSIGN_OR_RETURN(int reached, program.reach(name.name, name.at));
    (void)reached;
    return constant(kFunctionWindow + entry->address, 8);
  }
  default:
    return error_at(name.at, "'", name.name, "' is a register, it has no address");
  }
}

std::optional<Passed> FunctionBuilder::local_place(std::string_view name) {
  const Name *entry = find(name);
  if (!entry || entry->kind != Name::Kind::kLocal)
    return std::nullopt;
  Passed passed;
  passed.in_local = true;
  passed.local = uint32_t(entry->address);
  passed.bytes = uint32_t(entry->bytes);
  return passed;
}

int64_t FunctionBuilder::label(std::string_view name) const {
  for (size_t depth = scopes_.size(); depth-- > 0;)
    if (auto at = scopes_[depth].labels.find(name); at != scopes_[depth].labels.end())
      return at->second;
  return -1;
}

const ptx::TargetList *FunctionBuilder::target_list(std::string_view name) const {
  for (size_t depth = scopes_.size(); depth-- > 0;)
    if (auto at = scopes_[depth].lists.find(name); at != scopes_[depth].lists.end())
      return at->second;
  return nullptr;
}

Status FunctionBuilder::instruction(const ptx::Instruction &in) {
  const InstructionFamily *family = find_instruction(in);
  if (!family)
    return UnimplementedError(ptx::to_string(in.at), ": unknown instruction '", in.opcode, "' in: ", in.text);
  Decoder decoder(*this, in);
  decoder.out.cls = family->cls;
  patch_ = false;
  patch_list_ = nullptr;
  family->decode(decoder);
  QUAVER_RETURN_IF_ERROR(decoder.finish());
  Instruction &out = decoder.out;
  if (in.guard) {
    ptx::Type type = ptx::Type::kB32;
    const std::optional<Operand> guard = register_operand(in.guard->name, "", &type);
    if (!guard || type != ptx::Type::kPred)
      return error_at(in.guard->at, "'", in.guard->name, "' is not a predicate");
    out.has_guard = true;
    out.guard = *guard;
    out.guard.negated = in.guard->negated;
  }
  std::vector<Instruction> &all = program.program.code;
  if (patch_list_)
    list_patches_.push_back(patch_list_);
  else if (patch_)
    patches_.push_back(uint32_t(all.size()));
  all.push_back(out);
  program.program.function_of.push_back(uint32_t(0)); // set by the program builder
  return OkStatus();
}

} // namespace quaver::sim
