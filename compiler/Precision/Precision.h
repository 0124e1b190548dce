// In which numbers a model is computed.
#pragma once
#include "compiler/Precision/Policy/Policy.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/base/status.h"
#include <functional>
#include <string>
#include <vector>

namespace quaver::precision {

/// What was decided for one product or table look-up, for the report. Formats are spelled e4m3, e5m2, bf16,
/// fp16, fp32, fp64; empty where a side does not exist. `weight` is its name in the source, `kind` the layer
/// kind.
struct Decision {
  std::string node, weight, op, kind, lhs, rhs, accumulate, out, recipe, reason;
  bool isFallback = false; // the policy asked for other formats
};

/// Is this `source`, a preset, or a policy file without a mistake? An error says what is allowed.
Status check(const std::string &policy);

/// Called with the module after each stage: "assign-precision", "scale" (with scaled tensors), "precision".
using StageHook = std::function<void(const char *stage, mlir::ModuleOp module)>;

/// Makes the module compute as the preset or policy file says. `decisions` receives one entry per product and
/// table look-up, in the order of the module. `strict`: an op that cannot have the formats that the policy
/// wants is an error on that op, and nothing else happens. Leaves graph ops only; fails with a diagnostic on
/// the op at fault.
mlir::LogicalResult apply(mlir::ModuleOp module, const std::string &policy, bool strict = false,
                          std::vector<Decision> *decisions = nullptr, const StageHook &onStage = {});

/// Takes composites that hold products apart, so that each product is decided; the first thing that apply
/// does.
mlir::LogicalResult exposeProducts(mlir::ModuleOp module);

/// The decisions written on a module's ops as attributes, and "as the file has it" for products without one.
std::vector<Decision> decisionsOf(mlir::ModuleOp module);

} // namespace quaver::precision
