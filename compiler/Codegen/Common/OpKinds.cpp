#include "compiler/Codegen/Common/OpKinds.h"
#include "compiler/Codegen/Common/KernelEmission.h"

using namespace mlir;
using namespace quaver::graph;

namespace quaver::codegen {

bool isTranscendental(Operation *op) {
  return isa<ExpOp, LogOp, SinOp, CosOp, TanOp, AsinOp, AcosOp, AtanOp, SinhOp, CoshOp, TanhOp, AsinhOp,
             AcoshOp, AtanhOp, ErfOp, SigmoidOp, PowOp>(op);
}

bool isElementwise(Operation *op) {
  return isTranscendental(op) ||
         isa<NegOp, AbsOp, SignOp, CeilOp, FloorOp, RoundOp, TruncOp, SqrtOp, RsqrtOp, ReciprocalOp, NotOp,
             BitwiseNotOp, IsNanOp, IsInfOp, AddOp, SubOp, MulOp, DivOp, RemOp, MaxOp, MinOp, AndOp, OrOp,
             XorOp, BitwiseAndOp, BitwiseOrOp, BitwiseXorOp, ShiftLeftOp, ShiftRightOp, CompareOp, SelectOp,
             CastOp, BitcastOp>(op);
}

static bool isMovement(Operation *op) {
  return isa<ReshapeOp, ExpandDimsOp, SqueezeOp, ExpandOp, TransposeOp, SliceOp, ConcatOp, PadOp, GatherOp,
             GatherElementsOp, GatherNdOp, ShapeOp, RangeOp, SizesOp, ConstantOp>(op);
}

std::optional<std::string> whyNotGeneric(Operation *op) {
  auto refuse = [&](const Twine &why) {
    return std::optional<std::string>((op->getName().getStringRef() + " " + why).str());
  };
  bool known = isElementwise(op) || isMovement(op) ||
               isa<ReduceOp, ArgReduceOp, MatmulOp, ConvOp, ConvTransposeOp, PoolOp>(op);
  if (!known)
    return refuse("is not one of the ops that clusters are made of");
  for (Type t :
       llvm::concat<Type>(llvm::to_vector(op->getOperandTypes()), llvm::to_vector(op->getResultTypes()))) {
    auto r = dyn_cast<RankedTensorType>(t);
    std::string text;
    llvm::raw_string_ostream(text) << t;
    if (!r)
      return refuse("has the type " + text + ", whose rank is not known");
    Type e = r.getElementType();
    if (!e.isIntOrFloat())
      return refuse("has elements of " + text + ", which are neither integers nor floats");
    unsigned bits = e.getIntOrFloatBitWidth();
    bool fits = isa<FloatType>(e)
                    ? isa<Float64Type, Float32Type, Float16Type, BFloat16Type, Float8E4M3FNType,
                          Float8E5M2Type, Float8E4M3FNUZType, Float8E5M2FNUZType, Float8E8M0FNUType>(e)
                    : bits == 1 || bits == 8 || bits == 16 || bits == 32 || bits == 64;
    if (!fits)
      return refuse("has elements of " + text + "; cast them to a type of 8 to 64 bits first");
  }
  return std::nullopt;
}

} // namespace quaver::codegen
