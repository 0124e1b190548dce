#include "compiler/Dispatch/OpClass.h"

using namespace mlir;
using namespace quaver::graph;

namespace quaver::dispatch {

bool isTranscendental(Operation *op) {
  return isa<ExpOp, LogOp, SinOp, CosOp, TanOp, AsinOp, AcosOp, AtanOp, SinhOp, CoshOp, TanhOp, AsinhOp,
             AcoshOp, AtanhOp, ErfOp, SigmoidOp, PowOp>(op);
}

OpClass classify(Operation *op) {
  if (isa<ConstantOp, SizesOp>(op))
    return OpClass::Literal;
  if (isa<ReshapeOp, ExpandDimsOp, SqueezeOp, BitcastOp>(op))
    return OpClass::Alias;
  if (isa<MatmulOp, ConvOp, ConvTransposeOp>(op))
    return OpClass::Contraction;
  if (isa<ReduceOp, ArgReduceOp>(op))
    return OpClass::Reduce;
  if (isa<PoolOp>(op))
    return OpClass::Window;
  if (isa<ExpandOp, TransposeOp, SliceOp, ConcatOp, PadOp, GatherOp, GatherElementsOp, GatherNdOp, ShapeOp,
          RangeOp>(op))
    return OpClass::Movement;
  if (isa<NegOp, AbsOp, SignOp, CeilOp, FloorOp, RoundOp, TruncOp, SqrtOp, RsqrtOp, ReciprocalOp, NotOp,
          BitwiseNotOp, IsNanOp, IsInfOp, AddOp, SubOp, MulOp, DivOp, RemOp, MaxOp, MinOp, AndOp, OrOp, XorOp,
          BitwiseAndOp, BitwiseOrOp, BitwiseXorOp, ShiftLeftOp, ShiftRightOp, CompareOp, SelectOp, CastOp,
          DequantizeOp>(op) ||
      isTranscendental(op))
    return OpClass::Elementwise;
  bool isPlain = op->getNumRegions() == 0 && !op->hasTrait<OpTrait::IsTerminator>() && isPure(op) &&
                 !isa<GetWeightOp>(op) && op->getName().getDialectNamespace() != "plan";
  return isPlain ? OpClass::Loop : OpClass::Outside;
}

bool isInlineConstant(Operation *op) {
  auto c = dyn_cast<ConstantOp>(op);
  if (!c)
    return false;
  auto dense = dyn_cast<DenseElementsAttr>(c.getValue());
  return dense && (dense.isSplat() || dense.getNumElements() <= ShapeAnalysis::kMaxElements);
}

bool isSizeOperand(OpOperand &use) {
  unsigned i = use.getOperandNumber();
  Operation *op = use.getOwner();
  if (isa<ReshapeOp, ExpandOp, TopKOp>(op))
    return i == 1;
  if (isa<SliceOp>(op))
    return i >= 1;
  if (isa<PadOp>(op))
    return i == 1;
  if (isa<ResizeOp>(op))
    return i >= 1;
  return isa<ShapeOp, RangeOp>(op);
}

DimExpr product(ArrayRef<DimExpr> dims) {
  DimExpr n(1);
  for (const DimExpr &d : dims)
    n = n * d;
  return n;
}

} // namespace quaver::dispatch
