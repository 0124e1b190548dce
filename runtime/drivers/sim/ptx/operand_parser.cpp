//===- operand_parser.cpp - operands and constant expressions ---------------===//
#include "runtime/drivers/sim/ptx/operand_parser.h"

#include <bit>

namespace quaver::sim::ptx {
namespace {

constexpr int kMaxDepth = 200; // of nesting: bounds the parser's own stack

struct BinaryOperator {
  std::string_view text;
  int precedence;
};
constexpr BinaryOperator kOperators[] = {
    {"||", 1}, {"&&", 2}, {"|", 3},  {"^", 4},  {"&", 5}, {"==", 6}, {"!=", 6}, {"<", 7},  {">", 7},
    {"<=", 7}, {">=", 7}, {"<<", 8}, {">>", 8}, {"+", 9}, {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10},
};

// Section 4.5: 64-bit arithmetic, unsigned if either side is; division by zero is refused by the caller.
Operand evaluate(std::string_view op, const Operand &a, const Operand &b) {
  Operand r = a;
  const bool is_unsigned = a.is_unsigned || b.is_unsigned;
  const uint64_t x = a.bits, y = b.bits;
  const int64_t sx = int64_t(x), sy = int64_t(y);
  auto truth = [&](bool t) {
    r.bits = t;
    r.is_unsigned = false;
  };
  r.is_unsigned = is_unsigned;
  if (op == "||")
    truth(x || y);
  else if (op == "&&")
    truth(x && y);
  else if (op == "|")
    r.bits = x | y;
  else if (op == "^")
    r.bits = x ^ y;
  else if (op == "&")
    r.bits = x & y;
  else if (op == "==")
    truth(x == y);
  else if (op == "!=")
    truth(x != y);
  else if (op == "<")
    truth(is_unsigned ? x < y : sx < sy);
  else if (op == ">")
    truth(is_unsigned ? x > y : sx > sy);
  else if (op == "<=")
    truth(is_unsigned ? x <= y : sx <= sy);
  else if (op == ">=")
    truth(is_unsigned ? x >= y : sx >= sy);
  else if (op == "<<")
    r.bits = y < 64 ? x << y : 0;
  else if (op == ">>")
    r.bits = a.is_unsigned ? (y < 64 ? x >> y : 0) : uint64_t(sx >> (y < 64 ? y : 63));
  else if (op == "+")
    r.bits = x + y;
  else if (op == "-")
    r.bits = x - y;
  else if (op == "*")
    r.bits = x * y;
  else if (op == "/") // -2^63 / -1 wraps
    r.bits = is_unsigned ? x / y : (sy == -1 ? 0 - x : uint64_t(sx / sy));
  else
    r.bits = is_unsigned ? x % y : (sy == -1 ? 0 : uint64_t(sx % sy));
  return r;
}

} // namespace

Operand OperandParser::operand(bool lists) {
  Operand result;
  if (++depth_ > kMaxDepth) {
    tokens_.fail_at(tokens_.peek().at, "operands nested too deep");
    --depth_;
    return result;
  }
  const Token &first = tokens_.peek();
  const Location at = first.at;
  if (tokens_.take("{")) {
    result = group("}", Operand::Kind::kVector);
  } else if (lists && tokens_.take("(")) {
    result = group(")", Operand::Kind::kList);
  } else if (tokens_.is("[")) {
    result = address();
  } else if (tokens_.is("!") && tokens_.peek(1).kind == Token::Kind::kWord) {
    tokens_.next();
    result = name();
    result.negated = true;
  } else if (tokens_.is("-") && tokens_.peek(1).kind == Token::Kind::kWord &&
             tokens_.peek(1).text != "WARP_SZ") {
    tokens_.next();
    result = name();
    result.minus = true;
  } else if (first.kind == Token::Kind::kWord && first.text != "WARP_SZ") {
    result = name();
    if (tokens_.take("|")) {
      Operand pair;
      pair.kind = Operand::Kind::kPair;
      pair.elements.push_back(std::move(result));
      const bool negated = tokens_.take("!");
      pair.elements.push_back(name());
      pair.elements.back().negated = negated;
      result = std::move(pair);
    }
  } else {
    result = constant();
  }
  result.at = at;
  --depth_;
  return result;
}

Operand OperandParser::name() {
  Operand result;
  result.at = tokens_.peek().at;
  result.name = tokens_.expect_word("an operand");
  result.kind = result.name == "_" ? Operand::Kind::kSink : Operand::Kind::kName;
  if (tokens_.peek().kind == Token::Kind::kDot)
    result.component = tokens_.next().text;
  result.offset = offset_after();
  return result;
}

int64_t OperandParser::offset_after() {
  int64_t offset = 0;
  while (tokens_.is("+") || tokens_.is("-")) {
    const bool minus = tokens_.next().text == "-";
    const Operand value = unary();
    if (tokens_.ok() && value.kind != Operand::Kind::kInteger)
      tokens_.fail_at(value.at, "expected an integer offset, found a floating-point number");
    offset = int64_t(uint64_t(offset) + (minus ? 0 - value.bits : value.bits));
  }
  return offset;
}

Operand OperandParser::group(std::string_view close, Operand::Kind kind) {
  Operand result;
  result.kind = kind;
  if (tokens_.take(close))
    return result;
  do
    result.elements.push_back(operand(/*lists=*/false));
  while (tokens_.take(","));
  tokens_.expect(close);
  return result;
}

Operand OperandParser::address() {
  Operand result;
  result.kind = Operand::Kind::kAddress;
  tokens_.expect("[");
  do
    result.elements.push_back(operand(false));
  while (tokens_.take(","));
  tokens_.expect("]");
  Operand &base = result.elements.front();
  if (tokens_.ok() && base.kind != Operand::Kind::kName && base.kind != Operand::Kind::kInteger)
    tokens_.fail_at(base.at, "expected a register, a variable or an integer as the base of an address");
  result.offset = base.offset;
  base.offset = 0;
  return result;
}

Operand OperandParser::constant() { return binary(1); }

Operand OperandParser::unary() {
  Operand result;
  result.at = tokens_.peek().at;
  if (++depth_ > kMaxDepth) {
    tokens_.fail_at(result.at, "an expression nested too deep");
  } else if (tokens_.is("-") || tokens_.is("+") || tokens_.is("!") || tokens_.is("~")) {
    const std::string_view op = tokens_.next().text;
    result = unary();
    if (result.kind == Operand::Kind::kFloat) {
      if (op == "-")
        result.bits ^= result.is_single ? uint64_t{1} << 31 : uint64_t{1} << 63;
      else if (op != "+")
        tokens_.fail_at(result.at, "expected an integer after '!' or '~'");
    } else {
      result.bits = op == "-"   ? 0 - result.bits
                    : op == "~" ? ~result.bits
                    : op == "!" ? !result.bits
                                : result.bits;
    }
  } else if (tokens_.take("(")) {
    if (tokens_.is_dot("s64") || tokens_.is_dot("u64")) {
      const bool is_unsigned = tokens_.next().text == "u64";
      tokens_.expect(")");
      result = unary();
      result.is_unsigned = is_unsigned;
    } else {
      result = binary(1);
      tokens_.expect(")");
    }
  } else if (const Token &t = tokens_.peek(); t.kind == Token::Kind::kInteger) {
    result.kind = Operand::Kind::kInteger;
    result.bits = t.bits;
    result.is_unsigned = t.is_unsigned;
    tokens_.next();
  } else if (t.kind == Token::Kind::kFloat || t.kind == Token::Kind::kSingle) {
    result.kind = Operand::Kind::kFloat;
    result.bits = t.bits;
    result.is_single = t.kind == Token::Kind::kSingle;
    tokens_.next();
  } else if (t.kind == Token::Kind::kWord && t.text == "WARP_SZ") {
    result.kind = Operand::Kind::kInteger;
    result.bits = 32;
    tokens_.next();
  } else {
    tokens_.fail("an operand");
  }
  --depth_;
  return result;
}

Operand OperandParser::binary(int least) {
  if (++depth_ > kMaxDepth)
    tokens_.fail_at(tokens_.peek().at, "an expression nested too deep");
  Operand left = unary();
  for (;;) {
    const BinaryOperator *op = nullptr;
    if (tokens_.peek().kind == Token::Kind::kPunctuation)
      for (const BinaryOperator &candidate : kOperators)
        if (candidate.text == tokens_.peek().text && candidate.precedence >= least)
          op = &candidate;
    if (!op)
      break;
    const Location at = tokens_.next().at;
    const Operand right = binary(op->precedence + 1);
    if (!tokens_.ok())
      break;
    if (left.kind != Operand::Kind::kInteger || right.kind != Operand::Kind::kInteger)
      tokens_.fail_at(at, str_cat("expected integers on both sides of '", op->text, "'"));
    else if ((op->text == "/" || op->text == "%") && right.bits == 0)
      tokens_.fail_at(at, "a constant expression divides by zero");
    else
      left = evaluate(op->text, left, right);
  }
  if (least == 1 && tokens_.take("?")) {
    const Operand yes = binary(1);
    tokens_.expect(":");
    const Operand no = binary(1);
    left = left.bits ? yes : no;
  }
  --depth_;
  return left;
}

uint64_t OperandParser::integer(std::string_view what, uint64_t low, uint64_t high) {
  const Location at = tokens_.peek().at;
  const Operand value = constant();
  if (!tokens_.ok())
    return low;
  if (value.kind != Operand::Kind::kInteger || value.bits < low || value.bits > high) {
    tokens_.fail_at(at, str_cat("expected ", what, " between ", low, " and ", high));
    return low;
  }
  return value.bits;
}

uint64_t OperandParser::literal(std::string_view what, uint64_t high) {
  const Token &t = tokens_.peek();
  if (t.kind != Token::Kind::kInteger || t.bits > high) {
    tokens_.fail(str_cat(what, " of at most ", high));
    return 0;
  }
  return tokens_.next().bits;
}

} // namespace quaver::sim::ptx
