// Passes over graph functions; see Passes.td.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace quaver::graph {
#define GEN_PASS_DECL
#include "dialects/Graph/Transforms/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "dialects/Graph/Transforms/Passes.h.inc"
} // namespace quaver::graph
