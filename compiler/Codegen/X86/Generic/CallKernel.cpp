#include "compiler/Codegen/X86/Generic/CallKernel.h"

using namespace mlir;

namespace quaver::codegen {

std::optional<ElementType> wideType(Value v) {
  Type t = getElementTypeOrSelf(v.getType());
  return t.isF32()    ? std::optional(ElementType::F32)
         : t.isBF16() ? std::optional(ElementType::BF16)
         : t.isF16()  ? std::optional(ElementType::F16)
                      : std::nullopt;
}

void callKernel(KernelFunction &k, StringRef name, ArrayRef<Value> arguments) {
  auto none = LLVM::LLVMVoidType::get(k.b.getContext());
  if (!k.kernels.lookupSymbol(name)) {
    OpBuilder b(k.b.getContext());
    b.setInsertionPointToStart(k.kernels.getBody());
    SmallVector<Type> types = llvm::map_to_vector(arguments, [](Value v) { return v.getType(); });
    LLVM::LLVMFuncOp::create(b, k.loc, name, LLVM::LLVMFunctionType::get(none, types));
  }
  LLVM::CallOp::create(k.b, k.loc, TypeRange(), name, ValueRange(arguments));
}

LLVM::LLVMFuncOp internalFunction(ModuleOp kernels, const Twine &name, Type result,
                                  ArrayRef<Type> arguments) {
  OpBuilder b(kernels.getContext());
  b.setInsertionPointToStart(kernels.getBody());
  Location loc = UnknownLoc::get(kernels.getContext());
  auto f = LLVM::LLVMFuncOp::create(b, loc, name.str(), LLVM::LLVMFunctionType::get(result, arguments),
                                    LLVM::Linkage::Internal);
  Block *body = f.addEntryBlock(b);
  b.setInsertionPointToStart(body);
  if (isa<LLVM::LLVMVoidType>(result))
    LLVM::ReturnOp::create(b, loc, ValueRange());
  else
    LLVM::ReturnOp::create(b, loc, ValueRange{LLVM::ZeroOp::create(b, loc, result)});
  return f;
}

std::string deduplicated(ModuleOp kernels, LLVM::LLVMFuncOp f) {
  for (auto other : kernels.getOps<LLVM::LLVMFuncOp>())
    if (other != f && !other.isExternal() && other.getFunctionType() == f.getFunctionType() &&
        OperationEquivalence::isRegionEquivalentTo(&other.getBody(), &f.getBody(),
                                                   OperationEquivalence::IgnoreLocations)) {
      f.erase();
      return other.getSymName().str();
    }
  return f.getSymName().str();
}

Value addressOf(KernelFunction &k, StringRef function) {
  return LLVM::AddressOfOp::create(k.b, k.loc, LLVM::LLVMPointerType::get(k.b.getContext()), function);
}

Value addressOfOne(KernelFunction &k) {
  static constexpr StringLiteral kName = "one_f32";
  MLIRContext *context = k.b.getContext();
  if (!k.kernels.lookupSymbol(kName)) {
    OpBuilder b(context);
    b.setInsertionPointToStart(k.kernels.getBody());
    LLVM::GlobalOp::create(b, k.loc, b.getF32Type(), /*isConstant=*/true, LLVM::Linkage::Internal, kName,
                           b.getF32FloatAttr(1));
  }
  return addressOf(k, kName);
}

FailureOr<std::string> epilogueFunction(plan_ir::DispatchOp dispatch, Operation *product, SumsLayout layout,
                                        const std::optional<ColumnScales> &scales,
                                        graph::ShapeAnalysis &shapes, const Target &target, ModuleOp kernels,
                                        StringRef symbol, SmallVectorImpl<graph::DimExpr> &constants) {
  MLIRContext *context = kernels.getContext();
  Type ptr = LLVM::LLVMPointerType::get(context), i64 = IntegerType::get(context, 64);
  auto f = internalFunction(kernels, symbol + "_epilogue", LLVM::LLVMVoidType::get(context),
                            {ptr, i64, i64, i64, i64, ptr, ptr});
  KernelFunction e(dispatch, kernels, f, 5, 6, constants);
  if (failed(emitEpilogue(e, &f.getBody().front(), product, layout, scales, shapes, target)))
    return failure();
  constants.assign(e.constants.begin(), e.constants.end());
  return deduplicated(kernels, f);
}

} // namespace quaver::codegen
