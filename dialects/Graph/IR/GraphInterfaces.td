// Interfaces of graph ops. A file of its own: tblgen emits interfaces of its main file only.
#ifndef QUAVER_GRAPH_INTERFACES_TD
#define QUAVER_GRAPH_INTERFACES_TD
include "mlir/IR/OpBase.td"

// A composite says what it means in simpler ops. Used by the interpreter, by targets without a kernel for it, and by
// the gradient check.
def Graph_DecomposeInterface : OpInterface<"DecomposeInterface"> {
  let cppNamespace = "::quaver::graph";
  let description = "Ops that are defined by simpler ops of the same dialect.";
  let methods = [InterfaceMethod<
    "Builds the op's meaning at the builder's insertion point and returns one value per result, of the result's type. "
    "Fails with a diagnostic on the op where a type or attribute has no decomposition.",
    "::llvm::FailureOr<::llvm::SmallVector<::mlir::Value>>", "decompose", (ins "::mlir::OpBuilder &":$builder)>];
}

// Ops of other dialects that stand in a graph function for a while.
def Graph_InferShapesInterface : OpInterface<"InferShapesInterface"> {
  let cppNamespace = "::quaver::graph";
  let description = "Ops outside `graph` whose results ShapeAnalysis knows.";
  let methods = [InterfaceMethod<
    "Records the sizes of every result, given those of the operands. Fails with a diagnostic on the op where they contradict its rules.",
    "::llvm::LogicalResult", "inferShapes", (ins "::quaver::graph::ShapeAnalysis &":$shapes)>];
}

#endif
