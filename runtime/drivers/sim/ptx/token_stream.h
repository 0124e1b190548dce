// The parser's view of the tokens. Errors stick: the first is kept, and the stream is at its end from then
// on, so that every loop of the parser stops.
#pragma once
#include "runtime/drivers/sim/ptx/lexer.h"

namespace quaver::sim::ptx {

class TokenStream {
public:
  explicit TokenStream(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token &peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  bool at_end() const { return peek().kind == Token::Kind::kEnd; }
  Token next() {
    const Token token = peek();
    if (!at_end())
      ++at_;
    return token;
  }
  bool is(std::string_view punctuation, size_t ahead = 0) const {
    return peek(ahead).kind == Token::Kind::kPunctuation && peek(ahead).text == punctuation;
  }
  bool is_dot(std::string_view word) const { return peek().kind == Token::Kind::kDot && peek().text == word; }
  bool take(std::string_view punctuation) { return is(punctuation) && (next(), true); }
  bool take_dot(std::string_view word) { return is_dot(word) && (next(), true); }
  void expect(std::string_view punctuation) {
    if (!take(punctuation))
      fail(str_cat("'", punctuation, "'"));
  }
  std::string_view expect_word(std::string_view what) {
    if (peek().kind == Token::Kind::kWord)
      return next().text;
    fail(what);
    return {};
  }

  /// Records "LINE:COLUMN: expected WHAT, found 'TOKEN'" of the next token.
  void fail(std::string_view what) { fail_at(peek().at, str_cat("expected ", what, ", found ", found())); }
  void fail_at(Location at, std::string_view text) {
    if (status_.ok())
      status_ = InvalidArgumentError(to_string(at), ": ", text);
    at_ = tokens_.size() - 1;
  }
  const Status &status() const { return status_; }
  bool ok() const { return status_.ok(); }

private:
  std::string found() const {
    const Token &t = peek();
    if (t.kind == Token::Kind::kEnd)
      return "the end of the text";
    return str_cat("'", t.kind == Token::Kind::kDot ? "." : "", t.text.substr(0, 60), "'");
  }

  std::vector<Token> tokens_;
  size_t at_ = 0;
  Status status_;
};

} // namespace quaver::sim::ptx
