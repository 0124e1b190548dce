#include "compiler/Precision/Precision.h"
#include "compiler/Precision/LayerKinds.h"
#include "compiler/Precision/Passes.h"
#include "compiler/Precision/Values.h"
#include "dialects/Graph/IR/Decompose.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace quaver::precision {

Status check(const std::string &policy) {
  if (policy == "source")
    return OkStatus();
  return loadPolicy(policy).status();
}

std::string nodeName(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().str();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location l : fused.getLocations())
      if (std::string name = nodeName(l); !name.empty())
        return name;
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return nodeName(call.getCallee());
  return "";
}

static std::string formatOf(Type t) {
  if (t.isF32())
    return "fp32";
  if (t.isF64())
    return "fp64";
  if (t.isF16())
    return "fp16";
  if (isa<Float8E4M3FNType>(t))
    return "e4m3";
  if (isa<Float8E5M2Type>(t))
    return "e5m2";
  std::string s;
  llvm::raw_string_ostream(s) << t;
  return s;
}

// Sums of f16 and bf16 products are f32.
static std::string sumsOf(Type out) { return isNarrowFloat(out) ? "fp32" : formatOf(out); }

std::vector<Decision> decisionsOf(ModuleOp module) {
  std::vector<Decision> all;
  llvm::DenseMap<Operation *, std::string> kinds = layerKinds(module);
  module.walk([&](Operation *op) {
    bool isTable = op->hasAttr(kStorage);
    if (!isProduct(op) && !isTable)
      return;
    Decision d;
    d.node = nodeName(op->getLoc());
    d.op = op->getName().stripDialect().str();
    d.kind = kinds.lookup(op);
    d.weight = weightNameOf(op->getOperand(isProduct(op) ? weightOperand(op) : 0));
    auto reason = op->getAttrOfType<StringAttr>(kReason);
    d.reason = reason ? reason.str() : "as the file has it";
    d.isFallback = op->hasAttr(kFallback);
    if (isTable) {
      d.out = formatOf(op->getAttrOfType<TypeAttr>(kStorage).getValue());
      if (isTableRead(op))
        d.lhs = d.out;
    } else if (auto p = op->getAttrOfType<scale::PrecisionAttr>(kPrecision)) {
      d.lhs = formatOf(p.getLhs()), d.rhs = formatOf(p.getRhs());
      d.accumulate = formatOf(p.getAccumulate()), d.out = formatOf(p.getOut());
      d.recipe = p.getRecipe().str();
    } else {
      d.lhs = formatOf(elementOf(op->getOperand(0))), d.rhs = formatOf(elementOf(op->getOperand(1)));
      d.out = formatOf(elementOf(op->getResult(0)));
      d.accumulate = sumsOf(elementOf(op->getResult(0)));
    }
    all.push_back(std::move(d));
  });
  return all;
}

LogicalResult exposeProducts(ModuleOp module) {
  return LogicalResult(graph::decomposeAll(module, [](Operation *op) {
    return isa<graph::AttentionOp, graph::LatentAttentionOp, graph::GroupedMatmulOp>(op);
  }));
}

static LogicalResult runPasses(ModuleOp module, llvm::function_ref<void(OpPassManager &)> add) {
  PassManager pm(module.getContext());
  add(pm);
  return pm.run(module);
}

static LogicalResult refuseFallbacks(ModuleOp module) {
  bool refused = false;
  module.walk([&](Operation *op) {
    if (!op->hasAttr(kFallback))
      return;
    op->emitOpError() << "cannot be computed as decided ("
                      << op->getAttrOfType<StringAttr>(kReason).getValue()
                      << "); compile without --strict to accept that";
    refused = true;
  });
  return failure(refused);
}

LogicalResult apply(ModuleOp module, const std::string &policy, bool strict, std::vector<Decision> *decisions,
                    const StageHook &onStage) {
  module.getContext()->loadDialect<scale::ScaleDialect>();
  auto stage = [&](const char *name, llvm::function_ref<void(OpPassManager &)> add) {
    if (failed(runPasses(module, add)))
      return failure();
    if (onStage)
      onStage(name, module);
    return success();
  };
  bool isDecided = policy != "source";
  if (isDecided) {
    AssignPrecisionPassOptions options;
    options.policyName = policy;
    if (failed(exposeProducts(module)) || failed(stage("assign-precision", [&](OpPassManager &pm) {
          pm.nest<func::FuncOp>().addPass(createWidenFloatsPass());
          pm.addPass(createAssignPrecisionPass(options));
        })))
      return failure();
  }
  if (decisions)
    *decisions = decisionsOf(module);
  if (strict && failed(refuseFallbacks(module)))
    return failure();
  if (isDecided && failed(stage("scale", [](OpPassManager &module) {
        OpPassManager &pm = module.nest<func::FuncOp>();
        pm.addPass(createMaterializePrecisionPass());
        pm.addPass(createCSEPass());
        pm.addPass(createVerifyScaleBorderPass());
      })))
    return failure();
  return stage("precision", [&](OpPassManager &module) {
    OpPassManager &pm = module.nest<func::FuncOp>();
    if (isDecided) {
      pm.addPass(createExplodeScaledTensorsPass());
      pm.addPass(createCSEPass());
    }
    pm.addPass(createVerifyGraphBorderPass());
  });
}

} // namespace quaver::precision
