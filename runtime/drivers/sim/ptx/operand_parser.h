// Operands and constant expressions. Source: PTX ISA 9.0, sections 4.5 and 6.
#pragma once
#include "runtime/drivers/sim/ptx/token_stream.h"

namespace quaver::sim::ptx {

class OperandParser {
public:
  explicit OperandParser(TokenStream &tokens) : tokens_(tokens) {}

  /// One operand. `lists`: '(' begins a list of arguments (of `call`), not an expression.
  Operand operand(bool lists);
  /// A constant expression: its operand is kInteger or kFloat.
  Operand constant();
  /// A constant expression that must be an integer in [low, high].
  uint64_t integer(std::string_view what, uint64_t low, uint64_t high);
  /// An integer literal of at most `high`.
  uint64_t literal(std::string_view what, uint64_t high);

private:
  Operand name();
  Operand group(std::string_view close, Operand::Kind kind);
  Operand address();
  Operand unary();
  Operand binary(int least);
  int64_t offset_after();

  TokenStream &tokens_;
  int depth_ = 0;
};

} // namespace quaver::sim::ptx
