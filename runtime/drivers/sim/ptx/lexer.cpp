//===- lexer.cpp - PTX text to tokens ---------------------------------------===//
#include "runtime/drivers/sim/ptx/lexer.h"

#include <bit>
#include <charconv>

namespace quaver::sim::ptx {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_follow(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '$'; }
int digit_value(char c) {
  if (is_digit(c))
    return c - '0';
  const char lower = char(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
}

class Lexer {
public:
  explicit Lexer(std::string_view text) : text_(text) {}

  StatusOr<std::vector<Token>> run() {
    std::vector<Token> tokens;
    for (;;) {
      QUAVER_RETURN_IF_ERROR(skip_blank());
      Token token;
      token.at = here();
      if (at_ == text_.size()) {
        tokens.push_back(token);
        return tokens;
      }
      QUAVER_RETURN_IF_ERROR(next(token));
      tokens.push_back(token);
    }
  }

private:
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  Location here() const { return {line_, uint32_t(at_ - line_start_ + 1)}; }
  void new_line() {
    ++line_;
    line_start_ = at_;
  }

  Status skip_blank() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        ++at_;
        new_line();
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
        ++at_;
      } else if ((c == '/' && peek(1) == '/') || (c == '#' && at_ == line_start_)) {
        while (at_ < text_.size() && text_[at_] != '\n')
          ++at_;
      } else if (c == '/' && peek(1) == '*') {
        const Location start = here();
        for (at_ += 2; !(peek() == '*' && peek(1) == '/');) {
          if (at_ >= text_.size())
            return InvalidArgumentError(to_string(start),
                                        ": expected '*/' that ends this comment, found the end");
          if (text_[at_++] == '\n')
            new_line();
        }
        at_ += 2;
      } else {
        break;
      }
    }
    return OkStatus();
  }

  Status next(Token &token) {
    const char c = peek();
    const size_t start = at_;
    if (is_letter(c) || c == '_' || c == '$' || c == '%') {
      ++at_;
      // '%' alone is the operator of constant expressions.
      if (c == '%' && !is_follow(peek())) {
        token.kind = Token::Kind::kPunctuation;
      } else {
        token.kind = Token::Kind::kWord;
        follow();
      }
      token.text = text_.substr(start, at_ - start);
      return OkStatus();
    }
    if (is_digit(c))
      return number(token);
    if (c == '.' && is_follow(peek(1))) {
      ++at_;
      token.kind = Token::Kind::kDot;
      for (follow(); peek() == ':' && peek(1) == ':' && is_follow(peek(2)); follow())
        at_ += 2;
      token.text = text_.substr(start + 1, at_ - start - 1);
      return OkStatus();
    }
    if (c == '"')
      return string(token);
    static constexpr std::string_view kDouble[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
    token.kind = Token::Kind::kPunctuation;
    for (std::string_view two : kDouble)
      if (text_.substr(at_, 2) == two) {
        token.text = text_.substr(at_, 2);
        at_ += 2;
        return OkStatus();
      }
    if (std::string_view("{}()[];,:=<>+-*/|&^~!?@").find(c) == std::string_view::npos) {
      const bool printable = c > ' ' && c < 127;
      return InvalidArgumentError(to_string(token.at), ": expected a token of PTX, found ",
                                  printable ? str_cat("'", c, "'") : str_cat("byte ", int(uint8_t(c))));
    }
    token.text = text_.substr(at_++, 1);
    return OkStatus();
  }

  void follow() {
    while (is_follow(peek()))
      ++at_;
  }

  Status string(Token &token) {
    const size_t start = ++at_;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n')
      at_ += text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n' ? 2 : 1;
    if (peek() != '"')
      return InvalidArgumentError(to_string(token.at),
                                  ": expected '\"' that ends this string, found the end of the line");
    token.kind = Token::Kind::kString;
    token.text = text_.substr(start, at_ - start);
    ++at_;
    return OkStatus();
  }

  Status number(Token &token) {
    const size_t start = at_;
    const char second = peek(1);
    if (peek() == '0' && (second == 'f' || second == 'F' || second == 'd' || second == 'D')) {
      const bool single = (second | 0x20) == 'f';
      token.kind = single ? Token::Kind::kSingle : Token::Kind::kFloat;
      at_ += 2;
      const int digits = read_digits(16, token.bits, nullptr);
      token.text = text_.substr(start, at_ - start);
      if (digits != (single ? 8 : 16) || is_follow(peek()))
        return InvalidArgumentError(to_string(token.at), ": expected ", single ? 8 : 16,
                                    " hexadecimal digits after ", token.text.substr(0, 2), ", found '",
                                    token.text, "'");
      return OkStatus();
    }
    if (decimal_float()) {
      double value = 0;
      const auto [end, error] = std::from_chars(text_.data() + start, text_.data() + text_.size(), value);
      at_ = size_t(end - text_.data());
      token.text = text_.substr(start, at_ - start);
      if (error != std::errc() || is_follow(peek()))
        return InvalidArgumentError(to_string(token.at), ": expected a number, found '", token.text, peek(),
                                    "'");
      token.kind = Token::Kind::kFloat;
      token.bits = std::bit_cast<uint64_t>(value);
      return OkStatus();
    }
    int base = 10;
    if (peek() == '0' && (second == 'x' || second == 'X' || second == 'b' || second == 'B')) {
      base = (second | 0x20) == 'x' ? 16 : 2;
      at_ += 2;
    } else if (peek() == '0' && is_digit(second)) {
      base = 8;
      ++at_;
    }
    bool too_large = false;
    const int digits = read_digits(base, token.bits, &too_large);
    token.is_unsigned = token.bits >> 63;
    if (peek() == 'U') {
      token.is_unsigned = true;
      ++at_;
    }
    token.kind = Token::Kind::kInteger;
    token.text = text_.substr(start, at_ - start);
    if (digits == 0 || is_follow(peek()))
      return InvalidArgumentError(to_string(token.at), ": expected a number of base ", base, ", found '",
                                  token.text, peek(), "'");
    if (too_large)
      return InvalidArgumentError(to_string(token.at), ": expected an integer below 2^64, found '",
                                  token.text, "'");
    return OkStatus();
  }

  // Is a decimal floating-point number here: digits, then '.' digit or an exponent?
  bool decimal_float() const {
    size_t i = at_;
    while (i < text_.size() && is_digit(text_[i]))
      ++i;
    if (i + 1 < text_.size() && text_[i] == '.' && is_digit(text_[i + 1]))
      return true;
    if (i + 1 < text_.size() && (text_[i] | 0x20) == 'e') {
      ++i;
      if (text_[i] == '+' || text_[i] == '-')
        ++i;
      return i < text_.size() && is_digit(text_[i]);
    }
    return false;
  }

  int read_digits(int base, uint64_t &bits, bool *too_large) {
    int digits = 0;
    bits = 0;
    for (; digit_value(peek()) < base; ++at_, ++digits) {
      if (too_large && bits > (~uint64_t{0} - uint64_t(digit_value(peek()))) / uint64_t(base))
        *too_large = true;
      bits = bits * uint64_t(base) + uint64_t(digit_value(peek()));
    }
    return digits;
  }

  std::string_view text_;
  size_t at_ = 0, line_start_ = 0;
  uint32_t line_ = 1;
};

} // namespace

std::string to_string(Location at) { return str_cat(at.line, ":", at.column); }

StatusOr<std::vector<Token>> tokenize(std::string_view text) { return Lexer(text).run(); }

} // namespace quaver::sim::ptx
