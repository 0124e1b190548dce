// Composites inside a dispatch, for targets or sizes without a kernel of their own.
#pragma once
#include "compiler/Codegen/Common/KernelEmission.h"

namespace quaver::codegen {

/// Replaces every composite of the dispatch, but those that `keep` holds, by what it means in simple ops: the
/// generic path computes these only.
mlir::LogicalResult decomposeWithin(plan_ir::DispatchOp dispatch, graph::ShapeAnalysis &shapes,
                                    llvm::function_ref<bool(mlir::Operation *)> keep);

} // namespace quaver::codegen
