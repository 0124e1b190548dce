// The dispatch of a product: a call of a matrix kernel with the functions that it calls back.
#include "compiler/Codegen/Common/Epilogue.h"
#include "compiler/Codegen/X86/Generic/CallKernel.h"
#include "compiler/Codegen/X86/Generic/Product.h"
#include "dialects/Plan/IR/Packing.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using quaver::graph::DimExpr;

namespace quaver::codegen {

LogicalResult emitProduct(Product &p, plan_ir::DispatchOp dispatch, graph::ShapeAnalysis &shapes,
                          const Target &target, ModuleOp kernels, StringRef symbol) {
  MLIRContext *context = kernels.getContext();
  Type ptr = LLVM::LLVMPointerType::get(context), i64 = IntegerType::get(context, 64);
  auto layout = p.rowsMerged ? SumsLayout::RowsMerged : SumsLayout::Batched;
  std::optional<ColumnScales> scales;
  if (p.hasColumnScales())
    scales = {p.rhs.scales->source, p.rhs.scales->columnStride};
  SmallVector<DimExpr> constants;
  auto epilogueName =
      epilogueFunction(dispatch, p.op, layout, scales, shapes, target, kernels, symbol, constants);
  if (failed(epilogueName))
    return failure();
  std::string offsetName;
  if (!p.packed) {
    auto offset = internalFunction(kernels, symbol + "_offset", i64, {i64, i64, ptr});
    KernelFunction o(dispatch, kernels, offset, 2, 2, constants);
    auto batch = p.rowsMerged ? ArrayRef<DimExpr>() : ArrayRef<DimExpr>(p.batch);
    if (failed(emitBatchOffset(o, &offset.getBody().front(), p.op, batch, shapes, target)))
      return failure();
    constants = o.constants;
    offsetName = deduplicated(kernels, offset);
  }

  KernelFunction k(dispatch, kernels, symbol);
  k.continueConstants(constants);
  DimExpr leading = dispatch::product(p.batch), m = p.lhs.rows() * (p.rowsMerged ? leading : DimExpr(1)),
          n = p.rhs.columns();
  SmallVector<Value> arguments;
  auto pointer = [&](const ProductOperand &x) { return k.binding(x.source.getArgNumber()); };
  auto strided = [&](const ProductOperand &x) {
    arguments.append(
        {pointer(x), k.number(int64_t(x.type)), k.size(x.rowStride()), k.size(x.columnStride())});
  };
  strided(p.lhs);
  auto scaled = [&](const ProductOperand &x, bool columnsFirst) {
    if (!x.scales)
      return arguments.append({LLVM::ZeroOp::create(k.b, k.loc, ptr), k.number(0), k.number(0)});
    Value row = k.size(x.scales->rowStride), column = k.size(x.scales->columnStride);
    arguments.append({k.binding(x.scales->source.getArgNumber()), columnsFirst ? column : row,
                      columnsFirst ? row : column});
  };
  if (p.packed) {
    scaled(p.lhs, false);
    arguments.push_back(pointer(p.rhs));
    if (scales)
      arguments.append({addressOfOne(k), k.number(0), k.number(0)});
    else
      scaled(p.rhs, true);
  } else {
    strided(p.rhs);
  }
  arguments.append({k.size(m), k.size(n), k.size(p.lhs.columns()), k.begin(), k.end(), k.scratch(),
                    k.function.getArgument(0), k.function.getArgument(1), addressOf(k, *epilogueName)});
  if (!p.packed)
    arguments.push_back(addressOf(k, offsetName));
  callKernel(k, p.config.symbol, arguments);
  KernelFunction::Launch launch;
  launch.workgroups = (p.rowsMerged ? DimExpr(1) : leading) *
                      DimExpr::ceilDiv(m, DimExpr(p.config.rowsPerGroup)) *
                      DimExpr::ceilDiv(n, DimExpr(p.config.columnsPerGroup));
  launch.grain = DimExpr(p.config.grain);
  launch.scratchBytes = DimExpr(p.config.scratchBytes);
  launch.description = p.config.symbol + ": " + p.config.why;
  k.close(launch);
  if (p.packed) {
    const x86::DenseView &v = *p.packed;
    plan_ir::setPackings(dispatch, {{int64_t(p.rhs.source.getArgNumber()),
                                     x86::layoutName(p.config.layout),
                                     {v.k, v.n, v.kStride, v.nStride},
                                     x86::packedBytes(p.config.layout, v.k, v.n)}});
  }
  return success();
}

} // namespace quaver::codegen
