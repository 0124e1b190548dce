// From dispatches over tensors to buffers and launches, and on to the plan that the runtime reads.
#pragma once
#include "compiler/PlanEmit/Storage.h"
#include "dialects/Graph/Analysis/ShapeAnalysis.h"
#include "runtime/plan/plan.pb.h"

namespace quaver::plan_emit {

/// Writes `entry` in buffer form as a plan.entry after it and erases the function. `weights` grows by what
/// the entry uses and is shared by all entries of a module. Fails with a diagnostic where an op has no place
/// in a plan.
mlir::FailureOr<plan_ir::EntryOp> lowerToBuffers(mlir::func::FuncOp entry, graph::ShapeAnalysis &shapes,
                                                 llvm::SmallVectorImpl<WeightUse> &weights);

/// Collects expressions and dimensions of one plan; equal expressions share a node.
class ExprTable {
public:
  ExprTable(plan::Plan &plan, graph::ShapeAnalysis &shapes);
  uint32_t add(const graph::DimExpr &e);
  /// Parses text in DimExpr's syntax first.
  uint32_t add(llvm::StringRef text);
  uint32_t dim(llvm::StringRef symbol);

private:
  uint32_t node(plan::Expr::Kind kind, int64_t value, uint32_t a = 0, uint32_t b = 0, uint32_t c = 0);
  plan::Plan &plan;
  graph::ShapeAnalysis &shapes;
  std::map<std::tuple<int, int64_t, uint32_t, uint32_t, uint32_t>, uint32_t> nodes;
  std::map<std::string, uint32_t> dims;
};

/// Serializes one entry into `target`. Kernels are named in target.kernels by their first launch; all live in
/// module 0.
mlir::LogicalResult serializeEntry(plan_ir::EntryOp entry, ExprTable &exprs, plan::Target &target);

/// The plan's element type of an MLIR type; ELEMENT_INVALID if it has none.
plan::ElementType elementTypeOf(mlir::Type type);

} // namespace quaver::plan_emit
