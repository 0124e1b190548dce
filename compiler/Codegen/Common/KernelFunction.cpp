#include "compiler/Codegen/Common/KernelFunction.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace quaver::codegen {

KernelFunction::KernelFunction(plan_ir::DispatchOp dispatch, ModuleOp kernels, StringRef symbol, Grid grid)
    : dispatch(dispatch), kernels(kernels), b(kernels.getContext()),
      loc(UnknownLoc::get(kernels.getContext())), grid(grid) {
  Type ptr = LLVM::LLVMPointerType::get(b.getContext()), i64 = b.getI64Type();
  SmallVector<Type> types{ptr, ptr, i64, i64, ptr};
  if (grid != Grid::HostRange)
    types.assign(dispatch.getNumOperands() + dispatch.getNumResults() + 1, ptr);
  b.setInsertionPointToEnd(kernels.getBody());
  function = func::FuncOp::create(b, loc, symbol, b.getFunctionType(types, {}));
  body = function.addEntryBlock();
  b.setInsertionPointToStart(body);
  func::ReturnOp::create(b, loc);
  b.setInsertionPointToStart(body);
  if (grid != Grid::HostRange) {
    startOnGrid();
    return;
  }
  bindingsPointer = body->getArgument(0), constantsPointer = body->getArgument(1);
  first = body->getArgument(2), last = body->getArgument(3), ownScratch = body->getArgument(4);
}

int64_t KernelFunction::unitsOfBlock() const {
  return grid == Grid::WarpEach ? kBlockThreads / kWarp : kBlockThreads;
}

// Which workgroup is this thread's? How many there are, and the scratch of each, is known when the kernel is
// closed.
void KernelFunction::startOnGrid() {
  auto constant = [&](int64_t n) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(n));
  };
  auto wide = [&](Value v) -> Value { return arith::ExtUIOp::create(b, loc, b.getI64Type(), v); };
  total = constant(0), scratchStride = constant(0);
  Value thread = wide(NVVM::ThreadIdXOp::create(b, loc, b.getI32Type()));
  Value unit = thread;
  if (grid == Grid::WarpEach) {
    laneInWarp = arith::AndIOp::create(b, loc, thread, constant(kWarp - 1));
    unit = arith::DivUIOp::create(b, loc, thread, constant(kWarp));
  }
  Value block = wide(NVVM::BlockIdXOp::create(b, loc, b.getI32Type()));
  Value before = arith::MulIOp::create(b, loc, block, constant(unitsOfBlock()));
  Value own = arith::AddIOp::create(b, loc, before, unit);
  first = arith::MinUIOp::create(b, loc, own, total);
  last = arith::MinUIOp::create(b, loc, arith::AddIOp::create(b, loc, own, constant(1)), total);
  Value offset = arith::MulIOp::create(b, loc, own, scratchStride);
  Value all = body->getArguments().back();
  ownScratch = LLVM::GEPOp::create(b, loc, all.getType(), b.getI8Type(), all, ValueRange{offset});
}

KernelFunction::Launch KernelFunction::placeOnGrid(const Launch &launch) {
  Launch placed = launch;
  for (auto [placeholder, value] :
       {std::pair{total, launch.workgroups}, {scratchStride, launch.scratchBytes}}) {
    placeholder.replaceAllUsesWith(size(value));
    placeholder.getDefiningOp()->erase();
  }
  placed.workgroups = graph::DimExpr::ceilDiv(launch.workgroups, graph::DimExpr(unitsOfBlock()));
  placed.scratchBytes = launch.scratchBytes * graph::DimExpr(unitsOfBlock());
  placed.grain = graph::DimExpr(1);
  return placed;
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
  if (grid != Grid::HostRange)
    return body->getArgument(i);
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
  if (grid != Grid::HostRange) { // in front of the scratch, which is the last one
    unsigned at = function.getNumArguments() - 1;
    bool isInserted = succeeded(function.insertArgument(at, b.getI64Type(), DictionaryAttr(), loc));
    assert(isInserted && "a function of ours takes one more argument");
    (void)isInserted;
    return sizes[i] = body->getArgument(at);
  }
  OpBuilder t = top();
  sizes[i] = element(t, loc, b.getI64Type(), constantsPointer, i);
  lastAtTop = sizes[i].getDefiningOp();
  return sizes[i];
}

void KernelFunction::abandon() { function.erase(); }

void KernelFunction::close(const Launch &asked) {
  Launch launch = asked;
  if (grid != Grid::HostRange) {
    launch = placeOnGrid(asked);
    dispatch.setBlockThreads(kBlockThreads);
  }
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
