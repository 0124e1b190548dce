#ifndef QUAVER_DISPATCH_PASSES_TD
#define QUAVER_DISPATCH_PASSES_TD
include "mlir/Pass/PassBase.td"

def FormDispatchesPass : Pass<"quaver-form-dispatches", "mlir::func::FuncOp"> {
  let summary = "Group ops that one launch computes into plan.dispatch regions";
  let description = [{
    Decides clusters first (a contraction with its epilogue, rows with their reductions, elementwise and movement chains), then
    builds the regions. Cheap producers (broadcasts, masks of ranges) are copied into every region that reads them.
    Before: %0 = graph.matmul %x, %w; %1 = graph.add %0, %b; %2 = graph.reshape %1, %s
    After:  %1 = plan.dispatch %x, %w, %b { matmul, add }; %2 = graph.reshape %1, %s
  }];
  let options = [Option<"fuse", "fuse", "bool", "true", "false: every op alone">,
                 Option<"explain", "explain", "bool", "false", "remark why an op did not join its producer">];
  let statistics = [Statistic<"formed", "dispatches", "dispatches formed">];
  let dependentDialects = ["::quaver::plan_ir::PlanDialect"];
}
#endif
