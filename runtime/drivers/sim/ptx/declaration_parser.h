// Variables and their initializers. Source: PTX ISA 9.0, section 5.4.
#pragma once
#include "runtime/drivers/sim/ptx/operand_parser.h"

namespace quaver::sim::ptx {

/// The space that a directive names ("global", "shared", "param", "reg", ...), if it begins a declaration.
std::optional<Space> space_of_directive(std::string_view word);

class DeclarationParser {
public:
  explicit DeclarationParser(TokenStream &tokens, OperandParser &operands)
      : tokens_(tokens), operands_(operands) {}

  /// After the space's directive: type, then one name or several, through the semicolon.
  void declaration(Variable linkage, Space space, std::vector<Variable> &out);
  /// One parameter of a function; the space's directive comes first.
  Variable parameter();
  /// `(` parameter, ... `)`.
  std::vector<Variable> parameters();

private:
  void type(Variable &v);
  void declarator(Variable &v);
  void initializer(Variable &v);
  void initializer_list(Variable &v, size_t dimension, uint64_t begin, uint64_t end);
  Initializer initializer_value();
  void align(Variable &v);

  TokenStream &tokens_;
  OperandParser &operands_;
};

} // namespace quaver::sim::ptx
