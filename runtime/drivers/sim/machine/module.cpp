//===- module.cpp - PTX as a machine holds it -------------------------------===//
#include "runtime/drivers/sim/machine/module.h"

#include "runtime/drivers/sim/machine/function_builder.h"
#include "runtime/drivers/sim/ptx/lexer.h"
#include "runtime/drivers/sim/ptx/parser.h"
#include "runtime/numerics/codec.h"

#include <bit>
#include <cstring>

namespace quaver::sim {

// What programs point into lives as long as they do: the tree is shared with them.
struct Tree {
  std::string text;
  ptx::Module tree;
};

struct Module::State {
  std::string name;
  std::shared_ptr<Tree> tree;
  std::vector<KernelInfo> kernels;
  std::unordered_map<std::string_view, uint32_t> functions; // index in tree->tree.functions
  std::vector<const ptx::Variable *> symbols;               // .global and .const
  std::unordered_map<std::string_view, uint32_t> symbol_numbers;
  std::mutex mutex; // of what follows
  std::unordered_map<uint32_t, StatusOr<std::shared_ptr<const Program>>> programs;
};

Module::Module(std::unique_ptr<State> state) : state_(std::move(state)) {}
Module::~Module() = default;
const std::string &Module::name() const { return state_->name; }
std::span<const KernelInfo> Module::kernels() const { return state_->kernels; }

const KernelInfo *Module::find(std::string_view kernel) const {
  for (const KernelInfo &k : state_->kernels)
    if (k.name == kernel)
      return &k;
  return nullptr;
}

StatusOr<std::shared_ptr<Module>> Module::parse(std::string text, std::string name) {
  auto state = std::make_unique<State>();
  state->name = std::move(name);
  state->tree = std::make_shared<Tree>();
  state->tree->text = std::move(text);
  StatusOr<ptx::Module> tree = ptx::parse(state->tree->text);
  if (!tree.ok())
    return Status(tree.status().code(), str_cat(state->name, ":", tree.status().message()));
  state->tree->tree = std::move(*tree);
  const ptx::Module &module = state->tree->tree;
  auto twice = [&](ptx::Location at, std::string_view what) {
    return InvalidArgumentError(state->name, ":", ptx::to_string(at), ": '", what,
                                "' is defined a second time");
  };
  for (uint32_t i = 0; i < module.functions.size(); ++i) {
    const ptx::Function &f = module.functions[i];
    auto [at, is_new] = state->functions.emplace(f.name, i);
    if (!is_new && f.has_body) {
      if (module.functions[at->second].has_body)
        return twice(f.at, f.name);
      at->second = i;
    }
    if (f.is_entry && f.has_body)
      state->kernels.push_back(kernel_info(f));
  }
  for (const ptx::Variable &v : module.variables) {
    if (state->functions.count(v.name))
      return twice(v.at, v.name);
    if (v.space != ptx::Space::kGlobal && v.space != ptx::Space::kConst)
      continue;
    if (v.is_extern)
      return UnimplementedError(state->name, ":", ptx::to_string(v.at), ": extern variable '", v.name,
                                "' needs linking with another module; define it in this one");
    if (!state->symbol_numbers.emplace(v.name, uint32_t(state->symbols.size())).second)
      return twice(v.at, v.name);
    state->symbols.push_back(&v);
  }
  return std::shared_ptr<Module>(new Module(std::move(state)));
}

StatusOr<std::shared_ptr<const Program>> Module::program(std::string_view kernel) const {
  State &s = *state_;
  auto index = s.functions.find(kernel);
  const ptx::Module &tree = s.tree->tree;
  if (index == s.functions.end() || !tree.functions[index->second].is_entry ||
      !tree.functions[index->second].has_body) {
    std::string names;
    for (const KernelInfo &k : s.kernels)
      names += (names.empty() ? "'" : ", '") + k.name + "'";
    return NotFoundError(s.name, ": there is no kernel '", kernel, "'; the module has ",
                         names.empty() ? "none" : names);
  }
  std::lock_guard lock(s.mutex);
  auto known = s.programs.find(index->second);
  if (known != s.programs.end())
    return known->second;
  auto program = std::make_shared<Program>();
  program->owner = s.tree;
  ProgramBuilder builder(tree, *program, s.functions, s.symbol_numbers);
  const Status built = builder.build(index->second);
  StatusOr<std::shared_ptr<const Program>> result =
      built.ok()
          ? StatusOr<std::shared_ptr<const Program>>(std::shared_ptr<const Program>(std::move(program)))
          : StatusOr<std::shared_ptr<const Program>>(
                Status(built.code(), str_cat(s.name, ":", built.message())));
  s.programs.emplace(index->second, result);
  return result;
}

namespace {

// The bytes of one initializer's value.
StatusOr<uint64_t> value_bits(const ptx::Variable &v, const ptx::Initializer &init,
                              const LoadedModule &loaded,
                              const std::unordered_map<std::string_view, uint32_t> &functions) {
  const ptx::Operand &o = init.value;
  const int bytes = ptx::bytes_of(v.type);
  if (o.kind == ptx::Operand::Kind::kName) {
    uint64_t address = 0;
    if (const LoadedModule::Symbol *symbol = loaded.find_symbol(o.name))
      address = symbol->address;
    else if (auto f = functions.find(o.name); f != functions.end())
      address = kFunctionWindow + f->second;
    else
      return InvalidArgumentError(ptx::to_string(o.at), ": '", o.name,
                                  "' in an initializer is no variable or function");
    address += uint64_t(o.offset);
    if (init.mask == ~uint64_t{0})
      return address;
    return init.mask ? (address & init.mask) >> __builtin_ctzll(init.mask) : 0;
  }
  if (o.kind == ptx::Operand::Kind::kInteger)
    return is_float(v.type) && bytes == 8   ? std::bit_cast<uint64_t>(double(int64_t(o.bits)))
           : is_float(v.type) && bytes == 4 ? std::bit_cast<uint32_t>(float(int64_t(o.bits)))
                                            : o.bits;
  const double wide =
      o.is_single ? double(std::bit_cast<float>(uint32_t(o.bits))) : std::bit_cast<double>(o.bits);
  if (v.type == ptx::Type::kF64)
    return std::bit_cast<uint64_t>(wide);
  if (v.type == ptx::Type::kF16)
    return encode_f16(wide);
  if (v.type == ptx::Type::kBf16)
    return encode_bf16(wide);
  return o.is_single || bytes == 8 ? o.bits : std::bit_cast<uint32_t>(float(wide));
}

} // namespace

StatusOr<std::shared_ptr<LoadedModule>> LoadedModule::load(std::shared_ptr<Module> module, Memory &memory) {
  std::shared_ptr<LoadedModule> loaded(new LoadedModule());
  loaded->module_ = std::move(module);
  loaded->memory_ = &memory;
  const Module::State &s = loaded->module_->state();
  constexpr uint64_t kMostBytes = uint64_t{1} << 32; // of all variables: no GPU's driver takes more
  uint64_t total = 0;
  for (const ptx::Variable *v : s.symbols) {
    if ((total += v->bytes()) > kMostBytes)
      return ResourceExhaustedError(s.name, ":", ptx::to_string(v->at),
                                    ": the module's variables have more than ", kMostBytes, " bytes");
    QUAVER_ASSIGN_OR_RETURN(uint64_t address, memory.allocate(v->bytes(), str_cat("variable '", v->name, "'"),
                                                              v->space == ptx::Space::kConst));
    loaded->symbols_.push_back({std::string(v->name), address, v->bytes()});
  }
  for (size_t i = 0; i < s.symbols.size(); ++i) {
    const ptx::Variable &v = *s.symbols[i];
    std::vector<char> bytes(v.bytes());
    const size_t element = ptx::bytes_of(v.type);
    for (const ptx::Initializer &init : v.initializer) {
      StatusOr<uint64_t> bits = value_bits(v, init, *loaded, s.functions);
      if (!bits.ok())
        return Status(bits.status().code(), str_cat(s.name, ":", bits.status().message()));
      std::memcpy(&bytes[init.index * element], &*bits, std::min<size_t>(element, 8));
    }
    QUAVER_RETURN_IF_ERROR(memory.copy_in(loaded->symbols_[i].address, bytes.data(), bytes.size()));
  }
  return loaded;
}

LoadedModule::~LoadedModule() {
  for (const Symbol &symbol : symbols_)
    memory_->free(symbol.address).ignore_error();
}

const LoadedModule::Symbol *LoadedModule::find_symbol(std::string_view name) const {
  for (const Symbol &symbol : symbols_)
    if (symbol.name == name)
      return &symbol;
  return nullptr;
}

} // namespace quaver::sim
