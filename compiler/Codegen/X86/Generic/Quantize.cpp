#include "compiler/Codegen/X86/Generic/Quantize.h"
#include "compiler/Codegen/X86/Generic/CallKernel.h"
#include "compiler/Codegen/X86/Heuristics/MatmulHeuristics.h"

using namespace mlir;
using quaver::graph::DimExpr;

namespace quaver::codegen {

static std::optional<unsigned> yieldedAs(plan_ir::DispatchOp dispatch, Value v) {
  OperandRange yielded = dispatch.getBody().front().getTerminator()->getOperands();
  auto it = llvm::find(yielded, v);
  return it == yielded.end() ? std::nullopt : std::optional<unsigned>(it - yielded.begin());
}

graph::DynamicQuantizeOp findQuantize(plan_ir::DispatchOp dispatch, const Target &target) {
  Block &body = dispatch.getBody().front();
  auto op = dyn_cast<graph::DynamicQuantizeOp>(body.front());
  if (!op || op->getNextNode() != body.getTerminator() || !isa<BlockArgument>(op.getInput()))
    return {};
  ArrayRef<int64_t> blocks = op.getBlocks();
  bool byRows = !blocks.empty() && blocks.back() == 128 &&
                llvm::all_of(blocks.drop_back(), [](int64_t b) { return b == 1; });
  bool fits = byRows && wideType(op.getInput()) &&
              isa<Float8E4M3FNType>(getElementTypeOrSelf(op.getCodes().getType())) &&
              getElementTypeOrSelf(op.getScales().getType()).isF32() &&
              op.getRounding() != graph::ScaleRounding::floor && x86::featureSetOfTarget(target.name) &&
              yieldedAs(dispatch, op.getCodes()) && yieldedAs(dispatch, op.getScales());
  return fits ? op : graph::DynamicQuantizeOp();
}

LogicalResult emitQuantize(graph::DynamicQuantizeOp op, plan_ir::DispatchOp dispatch,
                           graph::ShapeAnalysis &shapes, const Target &target, ModuleOp kernels,
                           StringRef symbol) {
  KernelFunction k(dispatch, kernels, symbol);
  const auto &dims = shapes.get(op.getInput()).dims;
  DimExpr columns = dims.back(), rows(1), blocks = DimExpr::ceilDiv(columns, DimExpr(128));
  for (const DimExpr &d : ArrayRef(dims).drop_back())
    rows = rows * d;
  auto known = columns.getConstant();
  x86::QuantizeConfig config =
      x86::chooseQuantize1x128(*x86::featureSetOfTarget(target.name), known.value_or(1));
  unsigned first = dispatch.getInputs().size();
  ElementType type = *wideType(op.getInput());
  callKernel(k, config.symbol,
             {k.binding(cast<BlockArgument>(op.getInput()).getArgNumber()), k.number(int64_t(type)),
              k.size(columns), k.binding(first + *yieldedAs(dispatch, op.getCodes())), k.size(columns),
              k.binding(first + *yieldedAs(dispatch, op.getScales())), k.size(blocks), k.number(1),
              k.number(op.getRounding() == graph::ScaleRounding::power_of_two), k.size(columns), k.begin(),
              k.end()});
  KernelFunction::Launch launch;
  launch.workgroups = rows * DimExpr::ceilDiv(columns, DimExpr(config.columnsPerGroup));
  launch.grain = DimExpr(config.grain);
  launch.description = config.symbol + ": rows [" + rows.str() + "] of " + columns.str();
  k.close(launch);
  return success();
}

} // namespace quaver::codegen
