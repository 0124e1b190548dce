// Questions about values that deciding and obeying share.
#pragma once
#include "dialects/Scale/IR/ScaleDialect.h"
#include <string>

namespace quaver::precision {

/// Names of the attributes that AssignPrecision writes.
inline constexpr const char *kPrecision = "scale.precision", *kReason = "scale.reason",
                            *kStorage = "scale.storage", *kFallback = "scale.fallback";

inline bool isProduct(mlir::Operation *op) {
  return llvm::isa<graph::MatmulOp, graph::ConvOp, graph::ConvTransposeOp>(op);
}

/// Ops that only move the elements of operand 0, and keep their order or permute it.
inline bool movesOperand0(mlir::Operation *op) {
  return llvm::isa<graph::ReshapeOp, graph::ExpandDimsOp, graph::SqueezeOp, graph::ExpandOp,
                   graph::TransposeOp, graph::SliceOp, graph::GatherOp, graph::GatherElementsOp,
                   graph::GatherNdOp>(op);
}

/// Is this a weight, a constant, or what data movement and casts make of one?
inline bool isConstant(mlir::Value v) {
  mlir::Operation *op = v.getDefiningOp();
  if (!op)
    return false;
  if (llvm::isa<graph::GetWeightOp, graph::ConstantOp>(op))
    return true;
  return (movesOperand0(op) || llvm::isa<graph::CastOp>(op)) && llvm::all_of(op->getOperands(), isConstant);
}

/// A look-up in a table that is a weight: which rows is known at run time only.
inline bool isTableRead(mlir::Operation *op) {
  return movesOperand0(op) && op->getNumOperands() > 1 && isConstant(op->getOperand(0)) &&
         !llvm::all_of(op->getOperands(), isConstant);
}

/// The look-up in a stack of weight matrices (a weight of rank 3 or more) that a value moves on, or null: the
/// experts of a token.
inline mlir::Operation *stackLookUp(mlir::Value v) {
  mlir::Operation *op = v.getDefiningOp();
  while (op && movesOperand0(op) && !isTableRead(op))
    op = op->getOperand(0).getDefiningOp();
  bool isStack =
      op && isTableRead(op) && llvm::cast<mlir::RankedTensorType>(op->getOperand(0).getType()).getRank() >= 3;
  return isStack ? op : nullptr;
}

/// Which operand of a product is the weight, if one is: the right one in doubt.
inline unsigned weightOperand(mlir::Operation *product) {
  mlir::Value lhs = product->getOperand(0), rhs = product->getOperand(1);
  bool isLeft = !isConstant(rhs) && !stackLookUp(rhs) && (isConstant(lhs) || stackLookUp(lhs));
  return isLeft ? 0 : 1;
}

/// The importer keeps a node's name as a NameLoc, possibly among scopes; empty where there is none.
std::string nodeName(mlir::Location loc);

inline mlir::Type elementOf(mlir::Value v) { return mlir::getElementTypeOrSelf(v.getType()); }
inline bool isNarrowFloat(mlir::Type t) { return t.isBF16() || t.isF16(); }

/// The cast belongs to the node at `loc`: the one that wants the other type, not the one that made the value.
inline mlir::Value castTo(mlir::OpBuilder &b, mlir::Location loc, mlir::Value v, mlir::Type element) {
  auto type = llvm::cast<mlir::RankedTensorType>(v.getType());
  if (type.getElementType() == element)
    return v;
  return graph::CastOp::create(b, loc, type.clone(element), v, true, false, graph::RoundMode::nearest);
}

} // namespace quaver::precision
