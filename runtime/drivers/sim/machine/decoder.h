// Syntax tree to decoded instruction. What each instruction family's decode function works with.
#pragma once
#include "runtime/base/status.h"
#include "runtime/drivers/sim/machine/instruction.h"
#include <initializer_list>
#include <memory>
#include <string_view>
#include <vector>

namespace quaver::sim {

class FunctionBuilder; // names, registers and constants of the function being decoded (function_builder.h)

/// One instruction being decoded. Modifiers are taken one by one; those left at the end are an error, so that
/// nothing is ignored in silence. Errors stick: after the first, everything returns harmless values, and the
/// caller reports it; decode functions need not check.
class Decoder {
public:
  Decoder(FunctionBuilder &function, const ptx::Instruction &source);

  const ptx::Instruction &source;
  Instruction out;

  // Modifiers.
  /// Takes `word` ("sync", no dot) wherever it stands. False: it is not there.
  bool take(std::string_view word);
  /// Index of the one of `words` that is there, or -1.
  int take_one(std::initializer_list<std::string_view> words);
  /// Takes the next type. Error: there is none.
  ptx::Type take_type();
  /// Takes the next type if there is one.
  std::optional<ptx::Type> take_type_if();
  /// Takes a state space: global, shared (shared::cta too), local, param, const; kGeneric if none is there.
  ptx::Space take_space();
  /// Takes v2, v4 or v8; 1 if none is there.
  int take_vector();
  const std::vector<std::string_view> &left() const { return modifiers_; }

  // Operands, in order of the text. They are appended to out.operands. Results come first.
  size_t given() const { return source.operands.size(); }
  const ptx::Operand &operand(size_t i);
  /// Error unless there are between `least` and `most` operands.
  void expect_operands(size_t least, size_t most);
  /// A register (or `_`) of at least the type's width; a predicate for kPred.
  void result(const ptx::Operand &operand, ptx::Type type);
  void result(size_t i, ptx::Type type) { result(operand(i), type); }
  /// A register of at least the type's width, a constant, or the address of a variable.
  void value(const ptx::Operand &operand, ptx::Type type);
  void value(size_t i, ptx::Type type) { value(operand(i), type); }
  /// The elements of {a, b, ...}: `count` of them; a plain register is a vector of one.
  void result_vector(size_t i, ptx::Type type, int count);
  void value_vector(size_t i, ptx::Type type, int count);
  /// [base + offset]: appends the base as a 4- or 8-byte value and sets out.offset. `allow_more`: commas are
  /// allowed in the brackets; the caller reads the rest.
  void address(size_t i, bool allow_more = false);
  /// A compile-time integer in [low, high].
  int64_t constant(size_t i, int64_t low, int64_t high);
  bool is_constant(size_t i);

  /// Records the error "LINE:COLUMN: TEXT (in: the instruction)". Unimplemented or InvalidArgument.
  template <class... Parts> void unsupported(const Parts &...parts) {
    fail(StatusCode::kUnimplemented, str_cat(parts...));
  }
  template <class... Parts> void invalid(const Parts &...parts) {
    fail(StatusCode::kInvalidArgument, str_cat(parts...));
  }
  bool ok() const { return status_.ok(); }
  const Status &status() const { return status_; }

  /// A copy of `value` that lives as long as the program: for Instruction::extra.
  template <class T> const T *keep(T value) {
    auto owned = std::make_shared<const T>(std::move(value));
    own(owned);
    return owned.get();
  }

  FunctionBuilder &function;
  /// Moves the operands into the program, checks that no modifier is left.
  Status finish();

private:
  void fail(StatusCode code, std::string text);
  void own(std::shared_ptr<const void> object);

  std::vector<std::string_view> modifiers_; // not yet taken
  std::vector<Operand> operands_;
  Status status_;
};

} // namespace quaver::sim
