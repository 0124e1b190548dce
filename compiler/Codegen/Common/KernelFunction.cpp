#include "compiler/Codegen/Common/KernelFunction.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace quaver::codegen {

KernelFunction::KernelFunction(plan_ir::DispatchOp dispatch, ModuleOp kernels, StringRef symbol)
    : dispatch(dispatch), kernels(kernels), b(kernels.getContext()),
      loc(UnknownLoc::get(kernels.getContext())) {
  Type ptr = LLVM::LLVMPointerType::get(b.getContext()), i64 = b.getI64Type();
  b.setInsertionPointToEnd(kernels.getBody());
  function = func::FuncOp::create(b, loc, symbol, b.getFunctionType({ptr, ptr, i64, i64, ptr}, {}));
  body = function.addEntryBlock();
  bindingsPointer = body->getArgument(0), constantsPointer = body->getArgument(1);
  b.setInsertionPointToStart(body);
  func::ReturnOp::create(b, loc);
  b.setInsertionPointToStart(body);
}

KernelFunction::KernelFunction(plan_ir::DispatchOp dispatch, ModuleOp kernels, LLVM::LLVMFuncOp llvmFunction,
                               unsigned bindingsArgument, unsigned constantsArgument,
                               ArrayRef<graph::DimExpr> constants)
    : dispatch(dispatch), kernels(kernels), b(kernels.getContext()),
      loc(UnknownLoc::get(kernels.getContext())), body(&llvmFunction.getBody().front()) {
  bindingsPointer = body->getArgument(bindingsArgument),
  constantsPointer = body->getArgument(constantsArgument);
  continueConstants(constants);
  b.setInsertionPoint(body->getTerminator());
}

void KernelFunction::continueConstants(ArrayRef<graph::DimExpr> known) {
  constants.assign(known.begin(), known.end());
  sizes.assign(known.size(), Value());
}

OpBuilder KernelFunction::top() {
  OpBuilder t(b.getContext());
  if (lastAtTop)
    t.setInsertionPointAfter(lastAtTop);
  else
    t.setInsertionPointToStart(body);
  return t;
}

static Value element(OpBuilder &t, Location loc, Type type, Value base, int64_t i) {
  Value p = LLVM::GEPOp::create(t, loc, base.getType(), type, base, ArrayRef<LLVM::GEPArg>{int32_t(i)});
  return LLVM::LoadOp::create(t, loc, type, p, 8, /*isVolatile=*/false, /*isNonTemporal=*/false,
                              /*isInvariant=*/true);
}

Value KernelFunction::binding(unsigned i) {
  Value &v = bindings[i];
  if (v)
    return v;
  OpBuilder t = top();
  v = element(t, loc, LLVM::LLVMPointerType::get(b.getContext()), bindingsPointer, i);
  lastAtTop = v.getDefiningOp();
  return v;
}

Value KernelFunction::number(int64_t n) {
  Value &v = numbers[n];
  if (v)
    return v;
  OpBuilder t = top();
  v = arith::ConstantOp::create(t, loc, t.getI64IntegerAttr(n));
  lastAtTop = v.getDefiningOp();
  return v;
}

Value KernelFunction::size(const graph::DimExpr &e) {
  if (auto c = e.getConstant())
    return number(*c);
  size_t i = llvm::find(constants, e) - constants.begin();
  if (i == constants.size()) {
    constants.push_back(e);
    sizes.emplace_back();
  }
  if (sizes[i])
    return sizes[i];
  OpBuilder t = top();
  sizes[i] = element(t, loc, b.getI64Type(), constantsPointer, i);
  lastAtTop = sizes[i].getDefiningOp();
  return sizes[i];
}

void KernelFunction::abandon() { function.erase(); }

void KernelFunction::close(const Launch &launch) {
  StringRef name = function.getSymName();
  for (auto other : kernels.getOps<func::FuncOp>()) {
    if (other == function || other.isDeclaration())
      continue;
    if (OperationEquivalence::isRegionEquivalentTo(&other.getBody(), &function.getBody(),
                                                   OperationEquivalence::IgnoreLocations)) {
      name = other.getSymName();
      break;
    }
  }
  SmallVector<Attribute> texts;
  for (const graph::DimExpr &e : constants)
    texts.push_back(b.getStringAttr(e.str()));
  dispatch.setKernel(name);
  dispatch.setWorkgroups(launch.workgroups.str());
  dispatch.setConstantsAttr(b.getArrayAttr(texts));
  dispatch.setScratch(launch.scratchBytes.str());
  dispatch.setGrain(launch.grain.str());
  dispatch.setDescription(launch.description);
  if (name != function.getSymName())
    function.erase();
}

} // namespace quaver::codegen
