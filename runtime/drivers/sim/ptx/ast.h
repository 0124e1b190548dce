// The syntax tree of a PTX module. Every string_view points into the text that was parsed. Nothing here is
// resolved: names are names, and what an opcode's modifiers mean is the decoder's business.
// Source: PTX ISA 9.0, chapters 4 (syntax), 5 (variables), 6 (operands), 7 (functions), 11 (directives).
#pragma once
#include "runtime/drivers/sim/ptx/types.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace quaver::sim::ptx {

/// Both count from 1.
struct Location {
  uint32_t line = 0;
  uint32_t column = 0;
};

struct Operand {
  enum class Kind : uint8_t {
    kName,    // register, variable, label or function: `name`, perhaps with `component`
    kInteger, // `bits`: the 64-bit value of a constant expression
    kFloat,   // 0d... or 1.5: `bits` is a double's; 0f...: a float's, and `is_single`
    kVector,  // {a, b}: `elements`
    kAddress, // [base + offset]: elements[0] is the base (kName or kInteger), the rest follow commas in the
              // brackets (the coordinates of a tensor, an mbarrier)
    kPair,    // a|b: two elements
    kList,    // (a, b): arguments of a call
    kSink,    // _
  };
  Kind kind = Kind::kSink;
  bool negated = false;     // !p
  bool minus = false;       // -a, where an instruction allows it on a name
  bool is_single = false;   // of kFloat
  bool is_unsigned = false; // of kInteger: written with U, or too large for s64
  Location at;
  std::string_view name;
  std::string_view component; // x of %tid.x and of v.x; empty: none
  uint64_t bits = 0;
  int64_t offset = 0; // of kAddress; of kName in `name+offset`
  std::vector<Operand> elements;
};

struct Guard {
  std::string_view name;
  bool negated = false;
  Location at;
};

struct Instruction {
  Location at;
  std::optional<Guard> guard;
  std::string_view opcode;                 // "ld"
  std::vector<std::string_view> modifiers; // "global", "v4", "f32"; no dots
  std::vector<Operand> operands;
  std::string_view text; // as written, without the semicolon
};

/// One value of an initializer: bits of the element type, or the address of a symbol plus an offset.
struct Initializer {
  Location at;
  uint64_t index = 0; // of the element, vectors counted by their parts; elements left out are zero
  Operand value;
  bool is_generic = false;      // generic(symbol)
  uint64_t mask = ~uint64_t{0}; // 0xFF00(symbol): these bits of the address
};

/// `.reg`, `.shared`, `.global`, `.const`, `.local`, `.param`: one declared name.
struct Variable {
  Location at;
  Space space = Space::kReg;
  Type type = Type::kB32;
  uint8_t vector = 1; // .v2, .v4
  uint32_t align = 0; // bytes; 0: the type's own
  std::string_view name;
  int64_t range = -1; // %r<100>: 100 registers; -1: a single name
  std::vector<uint64_t>
      dimensions; // of an array; 0 in front: its size is not said (extern shared, initializer)
  std::vector<Initializer> initializer;
  bool is_extern = false, is_visible = false, is_weak = false;
  Space pointer_space = Space::kGeneric; // of `.param .u64 .ptr .global`
  /// Elements of the array, vectors counted as one; 1 for a scalar; 0 where the size is not said.
  uint64_t element_count() const;
  /// Bytes that it occupies; 0 where the size is not said.
  uint64_t bytes() const;
  /// Declared or natural alignment in bytes.
  uint32_t alignment() const;
};

struct Label {
  Location at;
  std::string_view name;
};

/// `name: .branchtargets a, b;` or `.calltargets`. A `.callprototype` has no names.
struct TargetList {
  Location at;
  std::string_view name;
  std::vector<std::string_view> targets;
};

struct Scope;
using Statement = std::variant<Instruction, Label, Variable, TargetList, std::unique_ptr<Scope>>;

/// { ... } inside a body: its names end with it.
struct Scope {
  std::vector<Statement> statements;
};

struct Function {
  Location at;
  std::string_view name;
  bool is_entry = false, is_extern = false, is_visible = false, is_weak = false, is_noreturn = false;
  bool has_body = false;
  std::vector<Variable> results; // .func (results) name (parameters)
  std::vector<Variable> parameters;
  uint32_t max_threads[3] = {0, 0, 0};      // .maxntid; 0: not said
  uint32_t required_threads[3] = {0, 0, 0}; // .reqntid
  uint32_t cluster[3] = {0, 0, 0};          // .reqnctapercluster
  Scope body;
};

struct Module {
  uint32_t version_major = 0, version_minor = 0;
  std::string_view target; // "sm_90a"
  uint32_t address_bits = 64;
  std::vector<Variable> variables;
  std::vector<Function> functions;
};

} // namespace quaver::sim::ptx
