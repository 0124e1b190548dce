// Verifiers: what element types and attributes each op takes. Sizes are checked by ShapeAnalysis, which every
// stage runs. The labels are those of Spec.md.
#include "dialects/Graph/Analysis/DimExpr.h"
#include "dialects/Graph/IR/GraphDialect.h"

using namespace mlir;

namespace quaver::graph {
namespace {

Type elementOf(Value v) {
  if (auto u = dyn_cast<UnrankedTensorType>(v.getType()))
    return u.getElementType();
  return getElementTypeOrSelf(v.getType());
}
bool isStorageOnly(Type t) { return isa<FloatType>(t) && t.getIntOrFloatBitWidth() <= 8; } // FP8
bool isComputeFloat(Type t) { return isa<FloatType>(t) && !isStorageOnly(t); }
bool isWhole(Type t) { return isa<IntegerType>(t) && !t.isInteger(1); }
bool isBool(Type t) { return t.isInteger(1); }
bool isNumber(Type t) { return isComputeFloat(t) || isWhole(t); }

LogicalResult expect(Operation *op, const char *label, bool holds, const Twine &what) {
  if (holds)
    return success();
  return op->emitOpError() << label << ": " << what;
}

/// E1: FP8 is storage only: arithmetic takes wider types. E2: the op's class of types. E3: equal types
/// throughout.
template <class Pred> LogicalResult unary(Operation *op, Pred allowed, const char *want) {
  Type in = elementOf(op->getOperand(0)), out = elementOf(op->getResult(0));
  if (failed(expect(op, "E1", !isStorageOnly(in),
                    "FP8 values are only stored and moved; cast to f32 or bf16 first")) ||
      failed(expect(op, "E2", allowed(in), Twine("takes ") + want)))
    return failure();
  return expect(op, "E3", in == out, "operand and result must have one element type");
}
template <class Pred> LogicalResult binary(Operation *op, Pred allowed, const char *want) {
  if (failed(unary(op, allowed, want)))
    return failure();
  return expect(op, "E3", elementOf(op->getOperand(0)) == elementOf(op->getOperand(1)),
                "operands must have one element type");
}
/// M1: data movement keeps the element type. M2: indices and sizes are integers.
LogicalResult moves(Operation *op, unsigned dataOperands, unsigned from = 0) {
  for (unsigned i = from; i < dataOperands; ++i)
    if (failed(expect(op, "M1", elementOf(op->getOperand(i)) == elementOf(op->getResult(0)),
                      "data and result must have one element type")))
      return failure();
  for (unsigned i = dataOperands; i < op->getNumOperands(); ++i)
    if (failed(expect(op, "M2", isWhole(elementOf(op->getOperand(i))),
                      "sizes, positions and indices must be integers")))
      return failure();
  return success();
}

} // namespace

#define VERIFY(Op, ...)                                                                                      \
  LogicalResult Op::verify() { return __VA_ARGS__; }

VERIFY(NegOp, unary(*this, isNumber, "floats or integers"))
VERIFY(AbsOp, unary(*this, isNumber, "floats or integers"))
VERIFY(SignOp, unary(*this, isNumber, "floats or integers"))
VERIFY(NotOp, unary(*this, isBool, "i1"))
VERIFY(BitwiseNotOp, unary(*this, isWhole, "integers"))
#define FLOAT_UNARY(Op) VERIFY(Op, unary(*this, isComputeFloat, "floats"))
FLOAT_UNARY(CeilOp)
FLOAT_UNARY(FloorOp)
FLOAT_UNARY(RoundOp)
FLOAT_UNARY(TruncOp)
FLOAT_UNARY(SqrtOp)
FLOAT_UNARY(RsqrtOp)
FLOAT_UNARY(ReciprocalOp)
FLOAT_UNARY(ExpOp)
FLOAT_UNARY(LogOp)
FLOAT_UNARY(SinOp)
FLOAT_UNARY(CosOp)
FLOAT_UNARY(TanOp)
FLOAT_UNARY(AsinOp)
FLOAT_UNARY(AcosOp)
FLOAT_UNARY(AtanOp)
FLOAT_UNARY(SinhOp)
FLOAT_UNARY(CoshOp)
FLOAT_UNARY(TanhOp)
FLOAT_UNARY(AsinhOp)
FLOAT_UNARY(AcoshOp)
FLOAT_UNARY(AtanhOp)
FLOAT_UNARY(ErfOp)
FLOAT_UNARY(SigmoidOp)

static LogicalResult isClass(Operation *op) {
  if (failed(expect(op, "E2", isComputeFloat(elementOf(op->getOperand(0))), "takes floats")))
    return failure();
  return expect(op, "E4", isBool(elementOf(op->getResult(0))), "gives i1");
}
VERIFY(IsNanOp, isClass(*this))
VERIFY(IsInfOp, isClass(*this))

#define NUMBER_BINARY(Op) VERIFY(Op, binary(*this, isNumber, "floats or integers"))
NUMBER_BINARY(AddOp)
NUMBER_BINARY(SubOp)
NUMBER_BINARY(MulOp)
NUMBER_BINARY(DivOp)
NUMBER_BINARY(RemOp)
NUMBER_BINARY(MaxOp)
NUMBER_BINARY(MinOp)
VERIFY(PowOp, unary(*this, isNumber, "floats or integers"))
VERIFY(AndOp, binary(*this, isBool, "i1"))
VERIFY(OrOp, binary(*this, isBool, "i1"))
VERIFY(XorOp, binary(*this, isBool, "i1"))
VERIFY(BitwiseAndOp, binary(*this, isWhole, "integers"))
VERIFY(BitwiseOrOp, binary(*this, isWhole, "integers"))
VERIFY(BitwiseXorOp, binary(*this, isWhole, "integers"))
VERIFY(ShiftLeftOp, binary(*this, isWhole, "integers"))
VERIFY(ShiftRightOp, binary(*this, isWhole, "integers"))

LogicalResult CompareOp::verify() {
  Type x = elementOf(getLhs()), y = elementOf(getRhs());
  if (failed(expect(*this, "E3", x == y, "operands must have one element type")) ||
      failed(expect(*this, "E1", !isStorageOnly(x),
                    "FP8 values are only stored and moved; cast to f32 or bf16 first")))
    return failure();
  return expect(*this, "E4", isBool(elementOf(getResult())), "gives i1");
}
LogicalResult SelectOp::verify() {
  if (failed(expect(*this, "E5", isBool(elementOf(getCondition())), "the condition is i1")))
    return failure();
  return expect(*this, "E3",
                elementOf(getLhs()) == elementOf(getResult()) &&
                    elementOf(getRhs()) == elementOf(getResult()),
                "both choices and the result must have one element type");
}
VERIFY(CastOp, success())
VERIFY(BitcastOp,
       expect(*this, "E6",
              elementOf(getInput()).getIntOrFloatBitWidth() == elementOf(getResult()).getIntOrFloatBitWidth(),
              "both types must have the same width"))

VERIFY(ReshapeOp, moves(*this, 1))
VERIFY(ExpandDimsOp, moves(*this, 1))
VERIFY(SqueezeOp, moves(*this, 1))
VERIFY(ExpandOp, moves(*this, 1))
VERIFY(TransposeOp, moves(*this, 1))
VERIFY(SliceOp, moves(*this, 1))
VERIFY(ConcatOp, moves(*this, getNumOperands()))
VERIFY(GatherOp, moves(*this, 1))
VERIFY(GatherElementsOp, moves(*this, 1))
VERIFY(GatherNdOp, moves(*this, 1))
LogicalResult PadOp::verify() {
  if (failed(expect(*this, "M1",
                    elementOf(getInput()) == elementOf(getResult()) &&
                        elementOf(getValue()) == elementOf(getResult()),
                    "input, value and result must have one element type")))
    return failure();
  return expect(*this, "M2", isWhole(elementOf(getPads())), "pads must be integers");
}
static LogicalResult scatters(Operation *op) {
  if (failed(expect(op, "M1",
                    elementOf(op->getOperand(0)) == elementOf(op->getResult(0)) &&
                        elementOf(op->getOperand(2)) == elementOf(op->getResult(0)),
                    "data, updates and result must have one element type")))
    return failure();
  return expect(op, "M2", isWhole(elementOf(op->getOperand(1))), "indices must be integers");
}
VERIFY(ScatterElementsOp, scatters(*this))
VERIFY(ScatterNdOp, scatters(*this))
VERIFY(ShapeOp, expect(*this, "M3", elementOf(getResult()).isInteger(64), "gives i64"))
VERIFY(RangeOp, binary(*this, isNumber, "floats or integers"))
LogicalResult SizesOp::verify() {
  auto type = dyn_cast<RankedTensorType>(getResult().getType());
  if (failed(expect(*this, "M5",
                    type && type.hasStaticShape() && type.getNumElements() == int64_t(getElements().size()) &&
                        isa<IntegerType>(type.getElementType()),
                    "gives a static integer tensor with one expression per element")))
    return failure();
  for (Attribute e : getElements())
    if (failed(expect(*this, "M6", DimExpr::parse(cast<StringAttr>(e).getValue()).has_value(),
                      "elements are dimension expressions")))
      return failure();
  return success();
}
LogicalResult ConstantOp::verify() {
  return expect(*this, "M4",
                cast<ShapedType>(getValue().getType()).getElementType() == elementOf(getResult()),
                "the attribute and the result must have one element type");
}

VERIFY(ReduceOp, unary(*this, isNumber, "floats or integers"))
LogicalResult ArgReduceOp::verify() {
  if (failed(expect(*this, "R1", getKind() == ReduceKind::max || getKind() == ReduceKind::min,
                    "kind is max or min")))
    return failure();
  return expect(*this, "R2", elementOf(getResult()).isInteger(64), "gives i64");
}
LogicalResult CumulativeOp::verify() {
  if (failed(expect(*this, "R3", getKind() == ReduceKind::sum || getKind() == ReduceKind::prod,
                    "kind is sum or prod")))
    return failure();
  return unary(*this, isNumber, "floats or integers");
}
VERIFY(TopKOp, expect(*this, "R2", elementOf(getIndices()).isInteger(64), "positions are i64"))
VERIFY(NonZeroOp, expect(*this, "R2", elementOf(getResult()).isInteger(64), "gives i64"))
VERIFY(UniqueOp, expect(*this, "R2", elementOf(getIndices()).isInteger(64), "positions are i64"))
VERIFY(PoolOp, unary(*this, isNumber, "floats or integers"))
VERIFY(ResizeOp, expect(*this, "M1", elementOf(getInput()) == elementOf(getResult()),
                        "input and result must have one element type"))

LogicalResult MatmulOp::verify() {
  Type x = elementOf(getLhs()), y = elementOf(getRhs()), out = elementOf(getResult());
  if (failed(expect(*this, "E1", !isStorageOnly(x) && !isStorageOnly(y),
                    "FP8 operands need their scales: use scale.matmul or dequantize first")))
    return failure();
  return expect(*this, "C1",
                isa<FloatType>(x) == isa<FloatType>(out) && isa<FloatType>(y) == isa<FloatType>(out),
                "operands and result must all be floats or all integers");
}
static LogicalResult convolves(Operation *op) {
  return expect(op, "E1",
                !isStorageOnly(elementOf(op->getOperand(0))) && !isStorageOnly(elementOf(op->getOperand(1))),
                "FP8 operands need their scales: use scale.conv or dequantize first");
}
VERIFY(ConvOp, convolves(*this))
VERIFY(ConvTransposeOp, convolves(*this))

#define FLOAT_COMPOSITE(Op)                                                                                  \
  LogicalResult Op::verify() {                                                                               \
    return expect(*this, "E2", isComputeFloat(elementOf((*this)->getOperand(0))), "takes floats");           \
  }
FLOAT_COMPOSITE(SoftmaxOp)
FLOAT_COMPOSITE(LogSoftmaxOp)
FLOAT_COMPOSITE(LayerNormOp)
FLOAT_COMPOSITE(RmsNormOp)
FLOAT_COMPOSITE(RotaryEmbeddingOp)
FLOAT_COMPOSITE(AttentionOp)
FLOAT_COMPOSITE(LatentAttentionOp)
FLOAT_COMPOSITE(DispatchTokensOp)
FLOAT_COMPOSITE(GroupedMatmulOp)
FLOAT_COMPOSITE(CombineTokensOp)
LogicalResult RouteOp::verify() {
  if (failed(expect(*this, "A1", getScoring() == "softmax" || getScoring() == "sigmoid",
                    "scoring is softmax or sigmoid")) ||
      failed(expect(*this, "A2",
                    getK() >= 1 && getGroups() >= 1 && getTopGroups() >= 1 && getTopGroups() <= getGroups(),
                    "k, groups and top_groups are at least 1, top_groups at most groups")))
    return failure();
  return expect(*this, "E2", isComputeFloat(elementOf(getLogits())), "takes floats");
}
// Q3: blocks are sizes, one a dimension.
static LogicalResult hasBlocks(Operation *op, ArrayRef<int64_t> blocks) {
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  return expect(op, "Q3",
                llvm::all_of(blocks, [](int64_t b) { return b >= 0; }) &&
                    (!type || int64_t(blocks.size()) == type.getRank()),
                "blocks holds a size (0: the whole dimension) for each dimension of the input");
}
LogicalResult QuantizeOp::verify() {
  if (failed(expect(*this, "E2", isComputeFloat(elementOf(getInput())) || elementOf(getInput()).isInteger(32),
                    "takes floats or i32")))
    return failure();
  if (!getBlocks().empty() && failed(hasBlocks(*this, getBlocks())))
    return failure();
  return expect(*this, "Q1", !getZeroPoint() || !isa<FloatType>(elementOf(getResult())),
                "FP8 results take no zero point");
}
LogicalResult DequantizeOp::verify() {
  if (!getBlocks().empty() && failed(hasBlocks(*this, getBlocks())))
    return failure();
  return expect(*this, "Q2", isComputeFloat(elementOf(getResult())), "gives floats");
}
LogicalResult DynamicQuantizeOp::verify() {
  Type codes = elementOf(getCodes()), scales = elementOf(getScales());
  if (failed(expect(*this, "E2", isComputeFloat(elementOf(getInput())) && !elementOf(getInput()).isF64(),
                    "takes f32, bf16 or f16")) ||
      failed(hasBlocks(*this, getBlocks())) ||
      failed(expect(*this, "Q4", isa<Float8E4M3FNType, Float8E5M2Type>(codes),
                    "gives f8E4M3FN or f8E5M2 codes")) ||
      failed(expect(*this, "Q5", scales.isF32() || isa<Float8E8M0FNUType>(scales),
                    "gives f32 or f8E8M0FNU scales")))
    return failure();
  return expect(*this, "Q6", scales.isF32() || getRounding() != ScaleRounding::none,
                "f8E8M0FNU scales are rounded to powers of two");
}

LogicalResult DimOp::verify() {
  if (failed(expect(*this, "D1", getMin() >= 0 && getMultipleOf() >= 1,
                    "min is at least 0, multiple_of at least 1")))
    return failure();
  return expect(*this, "D2", !getMax() || int64_t(*getMax()) >= int64_t(getMin()), "max is at least min");
}
static LogicalResult staticTensor(Operation *op, Type t) {
  auto r = dyn_cast<RankedTensorType>(t);
  return expect(op, "D3", r && r.hasStaticShape(), "has a static tensor type");
}
VERIFY(WeightOp, staticTensor(*this, getType()))
VERIFY(StateOp, expect(*this, "D4", isa<RankedTensorType>(getType()), "has a ranked tensor type"))

template <class Symbol>
static LogicalResult uses(Operation *op, SymbolTableCollection &table, FlatSymbolRefAttr name, Type type) {
  auto symbol = table.lookupNearestSymbolFrom<Symbol>(op, name);
  if (failed(expect(op, "D5", bool(symbol), Twine("names @") + name.getValue() + ", which is not declared")))
    return failure();
  return expect(op, "D6", getElementTypeOrSelf(symbol.getType()) == getElementTypeOrSelf(type),
                "must have the symbol's element type");
}
LogicalResult GetWeightOp::verifySymbolUses(SymbolTableCollection &t) {
  return uses<WeightOp>(*this, t, getWeightAttr(), getResult().getType());
}
LogicalResult ReadStateOp::verifySymbolUses(SymbolTableCollection &t) {
  return uses<StateOp>(*this, t, getStateAttr(), getResult().getType());
}
LogicalResult UpdateStateOp::verifySymbolUses(SymbolTableCollection &t) {
  return uses<StateOp>(*this, t, getStateAttr(), getValue().getType());
}

LogicalResult IfOp::verify() {
  for (Region *r : {&getThenRegion(), &getElseRegion()})
    if (failed(expect(*this, "F1", r->front().getTerminator()->getNumOperands() == getNumResults(),
                      "both regions yield as many values as there are results")))
      return failure();
  return expect(*this, "F2", isBool(elementOf(getCondition())), "the condition is i1");
}
LogicalResult WhileOp::verify() {
  Operation *before = getBefore().front().getTerminator(), *body = getBody().front().getTerminator();
  if (failed(
          expect(*this, "F3",
                 before->getNumOperands() == getNumResults() + 1 && isBool(elementOf(before->getOperand(0))),
                 "`before` yields an i1 and one value per result")) ||
      failed(expect(*this, "F4",
                    getBefore().getNumArguments() == getInits().size() &&
                        getBody().getNumArguments() == getNumResults(),
                    "`before` takes the inits, `body` takes what `before` yields")))
    return failure();
  return expect(*this, "F5", body->getNumOperands() == getInits().size(),
                "`body` yields the next carried values");
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }
OpFoldResult CastOp::fold(FoldAdaptor) {
  return getInput().getType() == getResult().getType() ? OpFoldResult(getInput()) : OpFoldResult();
}

} // namespace quaver::graph
