// Sizes as expressions of dimension symbols: `batch * seq + 4`. Canonical: equal expressions compare equal.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace quaver::graph {

/// What is known of a symbol: inclusive bounds and a divisor. Absent max: unbounded.
struct DimBounds {
  int64_t min = 0;
  std::optional<int64_t> max;
  int64_t multipleOf = 1;
};

/// An immutable int64 expression in canonical form: a polynomial whose atoms are symbols and the interned
/// terms floordiv, ceildiv, mod, min, max, eq, lt, select of canonical expressions. Simplifications that hold
/// for all integers (and, for sizes, non-negative symbols) are done on construction: 2*s - s -> s, (4*s)
/// floordiv 4 -> s, min(x, x) -> x, select(const, a, b) -> a or b. Cheap to copy, thread-compatible.
class DimExpr {
public:
  enum class Kind { Add, Mul, FloorDiv, CeilDiv, Mod, Min, Max, Eq, Lt, Select };
  DimExpr(); // 0
  DimExpr(int64_t value);
  static DimExpr symbol(llvm::StringRef name);
  static DimExpr floorDiv(const DimExpr &a, const DimExpr &b);
  static DimExpr ceilDiv(const DimExpr &a, const DimExpr &b);
  static DimExpr mod(const DimExpr &a, const DimExpr &b); // sign of b, as plan.proto's MOD
  static DimExpr min(const DimExpr &a, const DimExpr &b);
  static DimExpr max(const DimExpr &a, const DimExpr &b);
  static DimExpr eq(const DimExpr &a, const DimExpr &b);
  static DimExpr lt(const DimExpr &a, const DimExpr &b);
  static DimExpr select(const DimExpr &c, const DimExpr &a, const DimExpr &b);
  friend DimExpr operator+(const DimExpr &a, const DimExpr &b);
  friend DimExpr operator-(const DimExpr &a, const DimExpr &b);
  friend DimExpr operator*(const DimExpr &a, const DimExpr &b);
  bool operator==(const DimExpr &o) const;
  bool operator!=(const DimExpr &o) const { return !(*this == o); }
  bool operator<(const DimExpr &o) const; // any total order, stable across runs

  bool isConstant() const;
  std::optional<int64_t> getConstant() const;
  /// The symbol's name when the expression is exactly one symbol.
  std::optional<std::string> getSymbol() const;
  /// Readable and parseable: `batch * seq + 4`, `floordiv(seq + 3, 4)`, `min(seq, 64)`.
  std::string str() const;
  static std::optional<DimExpr> parse(llvm::StringRef text);
  void collectSymbols(std::map<std::string, int> &counts) const;
  /// Value under an assignment; nullopt on an unknown symbol, division by zero or overflow.
  std::optional<int64_t>
  evaluate(const std::function<std::optional<int64_t>(llvm::StringRef)> &valueOf) const;
  DimExpr substitute(const std::function<std::optional<DimExpr>(llvm::StringRef)> &replacement) const;
  /// Inclusive bounds by interval arithmetic over what is known of the symbols.
  DimBounds bounds(const std::function<DimBounds(llvm::StringRef)> &boundsOf) const;
  /// An expression that is never smaller, with every symbol replaced by what `bound` gives: an expression
  /// that the symbol never exceeds (itself, to keep it) or nullopt when nothing bounds it. nullopt when the
  /// whole has no bound.
  std::optional<DimExpr>
  upperBound(const std::function<std::optional<DimExpr>(llvm::StringRef)> &bound) const;
  bool provablyDivisibleBy(int64_t n, const std::function<DimBounds(llvm::StringRef)> &boundsOf) const;
  /// Bottom-up walk for serializers: visits canonical sums, products, atoms. `combine(kind, operands)`.
  int visit(const std::function<int(int64_t)> &constant, const std::function<int(llvm::StringRef)> &symbolFn,
            const std::function<int(Kind, llvm::ArrayRef<int>)> &combine) const;

  struct Node;

private:
  friend struct DimExprBuilder;
  explicit DimExpr(std::shared_ptr<const Node> n) : node(std::move(n)) {}
  std::shared_ptr<const Node> node;
};

} // namespace quaver::graph
