//===- declaration_parser.cpp - variables and their initializers ------------===//
#include "runtime/drivers/sim/ptx/declaration_parser.h"

namespace quaver::sim::ptx {
namespace {

constexpr uint64_t kMaxElements = uint64_t{1} << 40; // no address space holds more

} // namespace

uint64_t Variable::element_count() const {
  uint64_t count = 1;
  for (uint64_t d : dimensions)
    count *= d;
  return count;
}
uint64_t Variable::bytes() const { return element_count() * vector * bytes_of(type); }
uint32_t Variable::alignment() const {
  return align ? align : std::max<uint32_t>(1, uint32_t(vector) * bytes_of(type));
}

std::optional<Space> space_of_directive(std::string_view word) {
  for (Space space :
       {Space::kReg, Space::kConst, Space::kGlobal, Space::kLocal, Space::kParam, Space::kShared})
    if (word == spelling(space))
      return space;
  return std::nullopt;
}

void DeclarationParser::align(Variable &v) {
  v.align = uint32_t(operands_.integer("an alignment", 1, 1 << 20));
  if (v.align & (v.align - 1))
    tokens_.fail_at(v.at, str_cat("expected an alignment that is a power of two, found ", v.align));
}

void DeclarationParser::type(Variable &v) {
  bool has_type = false;
  while (tokens_.peek().kind == Token::Kind::kDot) {
    const std::string_view word = tokens_.peek().text;
    if (word == "align") {
      tokens_.next();
      align(v);
    } else if (word == "attribute") { // .attribute(.managed): memory that the host sees too
      tokens_.next();
      tokens_.expect("(");
      while (!tokens_.at_end() && !tokens_.is(")"))
        tokens_.next();
      tokens_.expect(")");
    } else if (word == "v2" || word == "v4" || word == "v8") {
      tokens_.next();
      v.vector = uint8_t(word[1] - '0');
    } else if (word == "ptr") { // section 5.1.6: .ptr{.space}{.align n}
      tokens_.next();
      while (tokens_.peek().kind == Token::Kind::kDot) {
        const std::string_view attribute = tokens_.next().text;
        if (attribute == "align")
          operands_.integer("an alignment", 1, 1 << 20);
        else if (std::optional<Space> space = space_of_directive(attribute))
          v.pointer_space = *space;
        else
          return tokens_.fail_at(v.at,
                                 str_cat("expected a space or .align after .ptr, found '.", attribute, "'"));
      }
    } else if (std::optional<Type> t = type_from_spelling(word); t && !has_type) {
      tokens_.next();
      v.type = *t;
      has_type = true;
    } else {
      return tokens_.fail("a type");
    }
  }
  if (!has_type)
    return tokens_.fail("a type");
  if (v.type != Type::kPred && bytes_of(v.type) == 0)
    tokens_.fail_at(v.at,
                    str_cat("expected a type that a variable may have, found '.", spelling(v.type), "'"));
  if (v.type == Type::kPred && v.space != Space::kReg)
    tokens_.fail_at(v.at, "a predicate can only be a register");
}

void DeclarationParser::declarator(Variable &v) {
  v.at = tokens_.peek().at;
  v.name = tokens_.expect_word("the name of a variable");
  if (tokens_.take("<")) {
    v.range = int64_t(operands_.literal("a number of names", 1 << 24)); // no expression: '>' ends it
    tokens_.expect(">");
    if (v.space != Space::kReg)
      tokens_.fail_at(v.at, "only registers are declared as a range of names");
  }
  uint64_t total = 1;
  while (tokens_.take("[")) {
    uint64_t size = 0;
    if (!tokens_.is("]"))
      size = operands_.integer("the size of an array", 0, kMaxElements);
    else if (!v.dimensions.empty())
      return tokens_.fail("the size of this dimension");
    tokens_.expect("]");
    v.dimensions.push_back(size);
    total *= std::max<uint64_t>(size, 1);
    if (total > kMaxElements || v.dimensions.size() > 16)
      return tokens_.fail_at(v.at, "an array that no address space holds");
  }
}

void DeclarationParser::declaration(Variable linkage, Space space, std::vector<Variable> &out) {
  Variable common = std::move(linkage);
  common.space = space;
  common.at = tokens_.peek().at;
  type(common);
  do {
    Variable v = common;
    declarator(v);
    if (tokens_.take("="))
      initializer(v);
    if (tokens_.ok())
      out.push_back(std::move(v));
  } while (tokens_.take(","));
  tokens_.expect(";");
}

Variable DeclarationParser::parameter() {
  Variable v;
  v.at = tokens_.peek().at;
  const Token directive = tokens_.peek();
  const std::optional<Space> space =
      directive.kind == Token::Kind::kDot ? space_of_directive(directive.text) : std::nullopt;
  if (space != Space::kParam && space != Space::kReg) {
    tokens_.fail("'.param' or '.reg'");
    return v;
  }
  tokens_.next();
  v.space = *space;
  type(v);
  declarator(v);
  return v;
}

std::vector<Variable> DeclarationParser::parameters() {
  std::vector<Variable> result;
  tokens_.expect("(");
  if (tokens_.take(")"))
    return result;
  do
    result.push_back(parameter());
  while (tokens_.take(","));
  tokens_.expect(")");
  return result;
}

Initializer DeclarationParser::initializer_value() {
  Initializer value;
  value.at = tokens_.peek().at;
  const bool hex_mask = tokens_.peek().kind == Token::Kind::kInteger && tokens_.is("(", 1);
  if (hex_mask) { // 0xFF00(symbol): one byte of an address
    value.mask = tokens_.next().bits;
    tokens_.expect("(");
  }
  const Token &t = tokens_.peek();
  value.is_generic = t.kind == Token::Kind::kWord && t.text == "generic" && tokens_.is("(", 1);
  if (value.is_generic) {
    tokens_.next();
    tokens_.expect("(");
    value.value = operands_.operand(false);
    tokens_.expect(")");
    if (tokens_.is("+") || tokens_.is("-")) {
      const bool minus = tokens_.next().text == "-";
      const Operand offset = operands_.constant();
      value.value.offset += int64_t(minus ? 0 - offset.bits : offset.bits);
    }
  } else {
    value.value = operands_.operand(false);
  }
  if (hex_mask)
    tokens_.expect(")");
  using Kind = Operand::Kind;
  if (tokens_.ok() && value.value.kind != Kind::kInteger && value.value.kind != Kind::kFloat &&
      value.value.kind != Kind::kName)
    tokens_.fail_at(value.at, "expected a number or the name of a variable in an initializer");
  return value;
}

void DeclarationParser::initializer(Variable &v) {
  if (v.space != Space::kGlobal && v.space != Space::kConst)
    return tokens_.fail_at(
        v.at, str_cat("variable '", v.name, "': only .global and .const variables have initializers"));
  if (v.dimensions.empty() && v.vector == 1) {
    const bool braces = tokens_.take("{");
    v.initializer.push_back(initializer_value());
    if (braces)
      tokens_.expect("}");
    return;
  }
  const bool open = !v.dimensions.empty() && v.dimensions[0] == 0;
  if (!tokens_.is("{"))
    return tokens_.fail("'{' of an array's initializer");
  initializer_list(v, 0, 0, open ? kMaxElements : v.element_count() * v.vector);
  if (open && tokens_.ok()) {
    uint64_t row = v.vector;
    for (size_t i = 1; i < v.dimensions.size(); ++i)
      row *= v.dimensions[i];
    const uint64_t used = v.initializer.empty() ? 0 : v.initializer.back().index + 1;
    v.dimensions[0] = row ? (used + row - 1) / row : 0;
  }
}

// One level of braces: the elements [begin, end) of the flattened array.
void DeclarationParser::initializer_list(Variable &v, size_t dimension, uint64_t begin, uint64_t end) {
  uint64_t row = v.vector; // elements of one entry of this dimension
  for (size_t i = dimension + 1; i < v.dimensions.size(); ++i)
    row *= v.dimensions[i];
  tokens_.expect("{");
  uint64_t at = begin;
  while (!tokens_.at_end() && !tokens_.is("}")) {
    if (at >= end)
      return tokens_.fail_at(tokens_.peek().at,
                             str_cat("variable '", v.name, "': more values than elements"));
    if (tokens_.is("{")) {
      if (dimension > v.dimensions.size() || row == 0)
        return tokens_.fail("a value");
      initializer_list(v, dimension + 1, at, std::min(end, at + row));
      at += row;
    } else {
      v.initializer.push_back(initializer_value());
      v.initializer.back().index = at++;
    }
    if (!tokens_.take(","))
      break;
  }
  tokens_.expect("}");
}

} // namespace quaver::sim::ptx
