// In which numbers a model is computed.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "runtime/base/status.h"
#include <string>
#include <vector>

namespace quaver::precision {

/// Presets that `--precision` takes: `source` computes as the file says; `fp32` wants every float operation
/// in FP32.
std::vector<std::string> presetNames();
/// An error naming the preset and what is allowed, if there is none of that name.
Status check(const std::string &preset);
/// Makes the module compute as the preset says. Fails with a diagnostic on an op that the preset cannot
/// serve.
mlir::LogicalResult apply(mlir::ModuleOp module, const std::string &preset);

} // namespace quaver::precision
