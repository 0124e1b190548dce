// Passes that decide and obey precision; see Passes.td.
#pragma once
#include "dialects/Scale/IR/ScaleDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace quaver::precision {
#define GEN_PASS_DECL
#include "compiler/Precision/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "compiler/Precision/Passes.h.inc"
} // namespace quaver::precision
