#include "compiler/Precision/Precision.h"
#include "dialects/Graph/IR/GraphDialect.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace quaver::precision {

std::vector<std::string> presetNames() { return {"source", "fp32"}; }

Status check(const std::string &preset) {
  std::vector<std::string> names = presetNames();
  if (llvm::is_contained(names, preset))
    return OkStatus();
  return InvalidArgumentError("precision \"", preset, "\" is unknown; this version has source and fp32");
}

// fp32 changes nothing where the file computes in FP32 already; half precision in the file is a contradiction
// to be told.
LogicalResult apply(ModuleOp module, const std::string &preset) {
  if (preset != "fp32")
    return success();
  WalkResult r = module.walk([](Operation *op) -> WalkResult {
    if (!isa<graph::MatmulOp, graph::ConvOp, graph::ConvTransposeOp>(op))
      return WalkResult::advance();
    Type t = getElementTypeOrSelf(op->getResult(0).getType());
    if (!isa<FloatType>(t) || t.getIntOrFloatBitWidth() >= 32)
      return WalkResult::advance();
    op->emitOpError()
        << "is computed in " << t
        << " by the file; precision fp32 does not widen it: use source, or export the model in FP32";
    return WalkResult::interrupt();
  });
  return failure(r.wasInterrupted());
}

} // namespace quaver::precision
