// The scale dialect: one header for its type, attribute and ops.
#pragma once
#include "dialects/Graph/IR/GraphDialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Scale/IR/ScaleDialect.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Scale/IR/ScaleTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Scale/IR/ScaleAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/Scale/IR/ScaleOps.h.inc"

namespace quaver::scale {

/// Elements of a block along one dimension as a number: a whole dimension of unknown size gives kDynamic.
int64_t blockExtent(int64_t block, int64_t size);
/// The shape of a tensor or scaled tensor, and its element type.
llvm::ArrayRef<int64_t> shapeOf(mlir::Type type);
mlir::Type elementOf(mlir::Type type);
/// Do two sizes contradict each other? Dynamic ones never do.
bool differ(int64_t a, int64_t b);
/// A failure that names the constraint of Spec.md, unless `holds`.
mlir::LogicalResult require(mlir::Operation *op, const char *label, bool holds, const llvm::Twine &what);

} // namespace quaver::scale
