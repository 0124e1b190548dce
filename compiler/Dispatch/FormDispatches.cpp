// Decide, then rewrite, block by block, inner ones first: see FormDispatches.h.
#include "compiler/Dispatch/FormDispatches.h"
#include "compiler/Dispatch/BuildDispatches.h"
#include "compiler/Dispatch/HoistScalars.h"

using namespace mlir;

namespace quaver::dispatch {
#define GEN_PASS_DEF_FORMDISPATCHESPASS
#include "compiler/Dispatch/Passes.h.inc"

static int formBlock(Block &block, graph::ShapeAnalysis &shapes, const FormOptions &options) {
  int made = 0;
  for (Operation &op : block)
    if (isa<graph::IfOp, graph::WhileOp>(op))
      for (Region &region : op.getRegions())
        made += formBlock(region.front(), shapes, options);
  if (options.fuse)
    hoistScalars(block, shapes);
  Clusters clusters(block, shapes, options);
  clusters.decide();
  return made + buildDispatches(block, clusters, shapes);
}

LogicalResult formDispatches(func::FuncOp func, graph::ShapeAnalysis &shapes, const FormOptions &options) {
  WalkResult composites = func.walk([](graph::DecomposeInterface op) {
    if (isa<graph::DequantizeOp, graph::DynamicQuantizeOp>(op))
      return WalkResult::advance();
    op->emitOpError("is a composite; dispatches are formed after composites are decomposed");
    return WalkResult::interrupt();
  });
  if (composites.wasInterrupted())
    return failure();
  if (func.isDeclaration())
    return success();
  formBlock(func.getBody().front(), shapes, options);
  return success();
}

namespace {
struct FormDispatches : impl::FormDispatchesPassBase<FormDispatches> {
  using Base::Base;
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    graph::ShapeAnalysis shapes(func->getParentOfType<ModuleOp>());
    if (failed(shapes.bindArguments(func)) || failed(shapes.run(func)))
      return signalPassFailure();
    FormOptions options;
    options.fuse = fuse;
    options.explain = explain;
    if (failed(formDispatches(func, shapes, options)))
      return signalPassFailure();
    func.walk([&](plan_ir::DispatchOp) { ++formed; });
  }
};
} // namespace
} // namespace quaver::dispatch
