// The representation behind DimExpr, shared by its source files only.
#pragma once
#include "dialects/Graph/Analysis/DimExpr.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <vector>

namespace quaver::graph {

/// A symbol, or a function of canonical expressions. Compared by `text`.
struct DimAtom {
  std::string text;
  std::string symbol; // empty for functions
  DimExpr::Kind kind = DimExpr::Kind::Add;
  std::vector<DimExpr> operands;
};
using DimAtomRef = std::shared_ptr<const DimAtom>;
using DimMonomial = std::vector<DimAtomRef>; // sorted by text, with repetition

struct DimMonomialLess {
  bool operator()(const DimMonomial &x, const DimMonomial &y) const {
    if (x.size() != y.size())
      return x.size() > y.size(); // higher degree first
    return std::lexicographical_compare(
        x.begin(), x.end(), y.begin(), y.end(),
        [](const DimAtomRef &a, const DimAtomRef &b) { return a->text < b->text; });
  }
};
using DimTerms = std::map<DimMonomial, int64_t, DimMonomialLess>;

struct DimExpr::Node {
  DimTerms terms;
  std::string text;
  static std::shared_ptr<const Node> make(DimTerms terms);
};

/// Makes expressions from terms and functions, and reads them.
struct DimExprBuilder {
  static DimExpr make(DimTerms t) { return DimExpr(DimExpr::Node::make(std::move(t))); }
  static DimExpr function(DimExpr::Kind kind, std::vector<DimExpr> operands);
  /// The function applied with all its simplifications.
  static DimExpr apply(DimExpr::Kind kind, llvm::ArrayRef<DimExpr> operands);
  static const DimTerms &terms(const DimExpr &e) { return e.node->terms; }
};

llvm::StringRef spell(DimExpr::Kind kind);
/// Sizes are never negative; elements read from data ("value_...") may be.
bool isNonNegative(const DimExpr &e);

} // namespace quaver::graph
