// PTX text to tokens. Source: PTX ISA 9.0, sections 4.1 to 4.5.
#pragma once
#include "runtime/base/status.h"
#include "runtime/drivers/sim/ptx/ast.h"
#include <string_view>
#include <vector>

namespace quaver::sim::ptx {

struct Token {
  enum class Kind : uint8_t {
    kEnd,
    kWord,        // identifier, keyword, opcode: add, %r1, $L_1
    kDot,         // .reg, .shared::cta: `text` is without the first dot
    kInteger,     // `bits`
    kFloat,       // `bits` of a double
    kSingle,      // 0f3F800000: `bits` of a float
    kString,      // `text` is without the quotes
    kPunctuation, // one of the operators; `text`
  };
  Kind kind = Kind::kEnd;
  bool is_unsigned = false; // integer with suffix U or above 2^63
  Location at;
  std::string_view text;
  uint64_t bits = 0;
};

/// All tokens; the last is kEnd. Comments and lines that begin with '#' are dropped. Errors as parse().
StatusOr<std::vector<Token>> tokenize(std::string_view text);

/// "LINE:COLUMN"
std::string to_string(Location at);

} // namespace quaver::sim::ptx
