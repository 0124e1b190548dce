#include "compiler/Codegen/X86/Generic/Convolution.h"
#include "compiler/Codegen/X86/Generic/CallKernel.h"
#include "compiler/Codegen/X86/Heuristics/MatmulHeuristics.h"

using namespace mlir;
using quaver::graph::DimExpr;

namespace quaver::codegen {

graph::ConvOp findConvolution(plan_ir::DispatchOp dispatch, graph::ShapeAnalysis &shapes,
                              const Target &target, std::string &why) {
  graph::ConvOp op;
  for (graph::ConvOp c : dispatch.getBody().front().getOps<graph::ConvOp>()) {
    if (op)
      return why = "two convolutions in one dispatch", graph::ConvOp();
    op = c;
  }
  if (!op)
    return {};
  const auto &filter = shapes.get(op.getFilter()).dims;
  auto filters = filter[0].getConstant();
  if (!x86::featureSetOfTarget(target.name))
    why = "there are none for " + target.name;
  else if (filter.size() != 3 && filter.size() != 4)
    why = "it has " + std::to_string(filter.size() - 2) + " spatial dimensions";
  else if (!wideType(op.getInput()) || !wideType(op.getFilter()) || !wideType(op.getResult()))
    why = "its operands are not f32, bf16 or f16";
  else if (!isa<BlockArgument>(op.getInput()) || !isa<BlockArgument>(op.getFilter()))
    why = "an operand is computed in the same dispatch";
  else if (filters && *filters / int64_t(op.getGroups()) < 4)
    why = "there are fewer than four filters a group";
  else if (auto no = whyNotEpilogue(dispatch, op, shapes))
    why = *no;
  else
    return op;
  return {};
}

LogicalResult emitConvolution(graph::ConvOp op, plan_ir::DispatchOp dispatch, graph::ShapeAnalysis &shapes,
                              const Target &target, ModuleOp kernels, StringRef symbol) {
  x86::MatmulConfig config = x86::chooseConv(*x86::featureSetOfTarget(target.name));
  SmallVector<DimExpr> constants;
  auto epilogue = epilogueFunction(dispatch, op, SumsLayout::Filters, std::nullopt, shapes, target, kernels,
                                   symbol, constants);
  if (failed(epilogue))
    return failure();
  KernelFunction k(dispatch, kernels, symbol);
  k.continueConstants(constants);
  const auto &in = shapes.get(op.getInput()).dims, &filter = shapes.get(op.getFilter()).dims,
             &out = shapes.get(op.getResult()).dims;
  // One spatial dimension is the row of a plane of one row.
  struct Axis {
    DimExpr size = 1, kernel = 1, out = 1;
    int64_t stride = 1, pad = 0, dilation = 1;
    bool isPlain() const { return kernel == DimExpr(1) && stride == 1 && size == out; }
  } y, x;
  size_t spatial = in.size() - 2;
  for (size_t s = 0; s < spatial; ++s)
    (s + 1 == spatial ? x : y) = {in[2 + s],          filter[2 + s],   out[2 + s],
                                  op.getStrides()[s], op.getPads()[s], op.getDilations()[s]};
  if (x.isPlain() && y.isPlain()) { // rows follow each other: one long row
    x.size = x.out = y.size * x.size;
    y = Axis();
  }
  DimExpr groups(int64_t(op.getGroups())), m = DimExpr::floorDiv(filter[0], groups);
  auto binding = [&](Value v) { return k.binding(cast<BlockArgument>(v).getArgNumber()); };
  auto number = [&](int64_t v) { return k.number(v); };
  callKernel(k, config.symbol,
             {binding(op.getInput()),
              number(int64_t(*wideType(op.getInput()))),
              binding(op.getFilter()),
              number(int64_t(*wideType(op.getFilter()))),
              k.size(groups),
              k.size(filter[1]),
              k.size(y.size),
              k.size(x.size),
              k.size(y.kernel),
              k.size(x.kernel),
              number(y.stride),
              number(x.stride),
              number(y.pad),
              number(x.pad),
              number(y.dilation),
              number(x.dilation),
              k.size(y.out),
              k.size(x.out),
              k.size(m),
              k.begin(),
              k.end(),
              k.scratch(),
              k.function.getArgument(0),
              k.function.getArgument(1),
              addressOf(k, *epilogue)});
  KernelFunction::Launch launch;
  launch.workgroups = in[0] * groups * DimExpr::ceilDiv(m, DimExpr(config.rowsPerGroup)) *
                      DimExpr::ceilDiv(y.out * x.out, DimExpr(config.columnsPerGroup));
  launch.grain = DimExpr(config.grain);
  launch.scratchBytes = DimExpr(config.scratchBytes);
  launch.description = config.symbol + ": " + config.why;
  k.close(launch);
  return success();
}

} // namespace quaver::codegen
