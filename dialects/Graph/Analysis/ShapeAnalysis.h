// The size of every dimension and the elements of small integer tensors, as expressions of dimension symbols.
#pragma once
#include "dialects/Graph/Analysis/DimExpr.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace quaver::graph {

/// What the analysis knows of one tensor. `elements` is there for integer (and i1) tensors of at most
/// kMaxElements elements whose values are expressions: shape chains of real exports vanish by it. Row-major.
struct SymbolicTensor {
  llvm::SmallVector<DimExpr, 4> dims;
  std::optional<llvm::SmallVector<DimExpr>> elements;
};

/// A symbol that the run binds: element `element` of `tensor` (an integer tensor), read back when it is
/// computed. For ops with a counted result (non_zero, unique) `tensor` is the op's result and `isCount` says
/// that the count is meant.
struct DataDependentDim {
  std::string symbol;
  mlir::Value tensor;
  int64_t element = 0;
  bool isCount = false;
  std::optional<DimExpr> upperBound;
};

/// Forward, incremental: the importer visits ops as it builds them, later stages run it over a function.
/// Recurses into graph.if, graph.while and plan.dispatch regions. Not thread-safe.
class ShapeAnalysis {
public:
  static constexpr int64_t kMaxElements = 64;
  /// Reads the module's graph.dim symbols for bounds. Without a module: for type inference alone.
  explicit ShapeAnalysis(mlir::ModuleOp module = {});

  /// Binds the arguments of an entry by their `graph.dims` attributes (static sizes without them).
  mlir::LogicalResult bindArguments(mlir::func::FuncOp func);
  /// Analyses all ops of the function in order.
  mlir::LogicalResult run(mlir::func::FuncOp func);
  /// Infers the results of one op whose operands are known, refines result types (unranked or `?` -> what is
  /// known), and records them. Fails with a diagnostic on the op where the shapes contradict the op's rules.
  mlir::LogicalResult visit(mlir::Operation *op);

  bool has(mlir::Value v) const { return known.count(v); }
  /// What is known; a value never visited gets its static sizes and an anonymous symbol for each dynamic one.
  const SymbolicTensor &get(mlir::Value v);
  void set(mlir::Value v, SymbolicTensor t) { known[v] = std::move(t); }
  const DimExpr &dim(mlir::Value v, int64_t d) { return get(v).dims[d]; }
  /// Product of all dims.
  DimExpr numElements(mlir::Value v);
  /// Elements of a small integer tensor as expressions: known ones, else fresh data-dependent symbols (one
  /// per element, the same ones each time it is asked).
  llvm::SmallVector<DimExpr> elementsOrFresh(mlir::Value v);
  /// The tensor type with `shape` from dims: constants static, others `?`.
  static mlir::RankedTensorType typeOf(llvm::ArrayRef<DimExpr> dims, mlir::Type element);

  DimBounds boundsOf(llvm::StringRef symbol) const;
  /// Symbols created for data, in order of creation.
  llvm::ArrayRef<DataDependentDim> dataDependent() const { return fresh; }
  /// Pairs that must be equal at run time but are not provably so (batch against s72): runtime checks.
  llvm::ArrayRef<std::pair<DimExpr, DimExpr>> assumedEqual() const { return assumptions; }
  /// The size of two sizes that broadcast. Two that are neither equal nor 1 for sure are assumed equal;
  /// nullopt where they contradict each other (3 and 4).
  std::optional<DimExpr> broadcast(const DimExpr &a, const DimExpr &b);
  /// Records that the run must check a == b (nothing if it is certain); false if they contradict each other.
  bool assumeEqual(const DimExpr &a, const DimExpr &b);
  /// A fresh symbol for a count that the run finds out. Names start with data_, of elements with value_ (they
  /// may be negative).
  DimExpr freshCount(mlir::Value tensor, std::optional<DimExpr> upperBound);

private:
  friend class ShapeRules;
  int anonymous = 0;
  llvm::DenseMap<mlir::Value, SymbolicTensor> known;
  std::map<std::string, DimBounds> symbols;
  llvm::SmallVector<DataDependentDim> fresh;
  llvm::SmallVector<std::pair<DimExpr, DimExpr>> assumptions;
};

/// Where a slice of a dimension begins, how many elements it has, and their distance, by numpy's rules.
struct SliceRange {
  DimExpr first, size, step;
};
SliceRange sliceRange(const DimExpr &dim, const DimExpr &start, const DimExpr &end, const DimExpr &step);

} // namespace quaver::graph
