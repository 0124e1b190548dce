// Brings arithmetic with single numbers next to what computes the numbers' partner.
#pragma once
#include "compiler/Dispatch/OpClass.h"

namespace quaver::dispatch {

/// mul(transpose(reshape(y)), 0.5) becomes transpose(reshape(mul(y, 0.5))) where nothing else reads the moved
/// values and y is computed in the block: the product that makes y scales it in its epilogue, and the
/// transpose stays a view.
void hoistScalars(mlir::Block &block, graph::ShapeAnalysis &shapes);

} // namespace quaver::dispatch
