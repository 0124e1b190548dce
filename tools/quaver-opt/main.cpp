// quaver-opt: mlir-opt with our dialects and passes.
#include "compiler/Dispatch/FormDispatches.h"
#include "compiler/Precision/Passes.h"
#include "dialects/Graph/IR/GraphDialect.h"
#include "dialects/Graph/Transforms/Passes.h"
#include "dialects/Plan/IR/PlanDialect.h"
#include "dialects/Scale/IR/ScaleDialect.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  quaver::graph::registerGraphPasses();
  quaver::precision::registerPrecisionPasses();
  quaver::dispatch::registerDispatchPasses();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllToLLVMIRTranslations(registry);
  registry.insert<quaver::graph::GraphDialect, quaver::scale::ScaleDialect, quaver::plan_ir::PlanDialect>();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "quaver-opt\n", registry));
}
