// What kind of op the emitter sees. Shared by this room's files only.
#pragma once
#include "dialects/Graph/IR/GraphDialect.h"

namespace quaver::codegen {

/// Operands broadcast, one result element needs one element of each.
bool isElementwise(mlir::Operation *op);
/// exp, erf and the like: worth keeping rather than computing twice.
bool isTranscendental(mlir::Operation *op);

} // namespace quaver::codegen
