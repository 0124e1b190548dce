#include "compiler/Codegen/Common/Loops/LoopBuilder.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace quaver::codegen {

Values LoopBuilder::loop(Value from, Value to, Value step, ValueRange carried, Body body) {
  auto f = scf::ForOp::create(b, loc, from, to, step, carried);
  OpBuilder::InsertionGuard guard(b);
  Block *block = f.getBody();
  if (!block->empty() && block->back().hasTrait<OpTrait::IsTerminator>())
    block->back().erase();
  b.setInsertionPointToEnd(block);
  Values next = body(f.getInductionVar(), f.getRegionIterArgs());
  scf::YieldOp::create(b, loc, next);
  return Values(f.getResults());
}

void LoopBuilder::loop(Value from, Value to, llvm::function_ref<void(Value)> body) {
  loop(from, to, num(1), {}, [&](Value i, ValueRange) {
    body(i);
    return Values();
  });
}

Values LoopBuilder::loopWhile(ValueRange carried, llvm::function_ref<Value(ValueRange)> go,
                              llvm::function_ref<Values(ValueRange)> body) {
  auto w = scf::WhileOp::create(b, loc, carried.getTypes(), carried);
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Location> locs(carried.size(), loc);
  Block *before = b.createBlock(&w.getBefore(), {}, carried.getTypes(), locs);
  Value c = go(before->getArguments());
  scf::ConditionOp::create(b, loc, c, before->getArguments());
  Block *after = b.createBlock(&w.getAfter(), {}, carried.getTypes(), locs);
  Values next = body(after->getArguments());
  scf::YieldOp::create(b, loc, next);
  return Values(w.getResults());
}

void LoopBuilder::when(Value c, llvm::function_ref<void()> body) {
  auto i = scf::IfOp::create(b, loc, TypeRange(), c, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(i.thenBlock());
  body();
}

Values LoopBuilder::choose(Value c, llvm::function_ref<Values()> x, llvm::function_ref<Values()> y) {
  // The types are known once one side is there: it is built in a block of its own first.
  auto thenBlock = std::make_unique<Block>();
  Values then;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(thenBlock.get());
    then = x();
    scf::YieldOp::create(b, loc, then);
  }
  auto i = scf::IfOp::create(b, loc, ValueRange(then).getTypes(), c, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  i.getThenRegion().getBlocks().clear();
  i.getThenRegion().push_back(thenBlock.release());
  i.getElseRegion().getBlocks().clear();
  b.createBlock(&i.getElseRegion());
  Values otherwise = y();
  scf::YieldOp::create(b, loc, otherwise);
  return Values(i.getResults());
}

Type LoopBuilder::bitsType(Type element, MLIRContext *context) {
  unsigned bits = element.getIntOrFloatBitWidth();
  return IntegerType::get(context, bits == 1 ? 8 : bits);
}

static Value pointer(OpBuilder &b, Location loc, Value base, Type type, Value offset) {
  return LLVM::GEPOp::create(b, loc, base.getType(), type, base, ArrayRef<LLVM::GEPArg>{offset});
}

Value LoopBuilder::load(Value base, Type type, Value offset) {
  return LLVM::LoadOp::create(b, loc, type, pointer(b, loc, base, type, offset),
                              type.getIntOrFloatBitWidth() / 8);
}

void LoopBuilder::store(Value base, Value offset, Value v) {
  LLVM::StoreOp::create(b, loc, v, pointer(b, loc, base, v.getType(), offset),
                        v.getType().getIntOrFloatBitWidth() / 8);
}

Value LoopBuilder::input(Value operand) {
  auto arg = dyn_cast<BlockArgument>(operand);
  return arg ? k.binding(arg.getArgNumber()) : Value();
}

Value LoopBuilder::output(Value result) {
  Operation *yield = k.dispatch.getBody().front().getTerminator();
  for (auto [i, v] : llvm::enumerate(yield->getOperands()))
    if (v == result)
      return k.binding(k.dispatch.getNumOperands() + i);
  return {};
}

Value LoopBuilder::scratchArray(int64_t n, Value length) {
  return pointer(b, loc, k.scratch(), b.getI64Type(), mul(num(n), length));
}

LoopBuilder::Split LoopBuilder::splitAt(Value tensor, int64_t axis) {
  Split s;
  for (auto [i, d] : llvm::enumerate(dims(tensor))) {
    DimExpr &part = int64_t(i) < axis ? s.outer : int64_t(i) == axis ? s.axis : s.inner;
    part = part * d;
  }
  return s;
}

bool isLoopKind(Operation *op) {
  return isa<graph::TopKOp, graph::CumulativeOp, graph::ScatterElementsOp, graph::ScatterNdOp,
             graph::NonZeroOp, graph::UniqueOp, graph::ResizeOp>(op);
}

LogicalResult emitLoopKernel(plan_ir::DispatchOp dispatch, graph::ShapeAnalysis &shapes, const Target &target,
                             ModuleOp kernels, StringRef symbol) {
  Operation *op = nullptr;
  for (Operation &o : dispatch.getBody().front())
    if (isLoopKind(&o)) {
      if (op)
        return o.emitOpError("shares a dispatch with another such op; each needs one of its own");
      op = &o;
    }
  if (!op)
    return dispatch.emitOpError("holds no op that is emitted as scalar loops");
  for (OpOperand &use : op->getOpOperands()) {
    bool isSize = (isa<graph::TopKOp>(op) && use.getOperandNumber() == 1) ||
                  (isa<graph::ResizeOp>(op) && use.getOperandNumber() >= 1);
    if (!isSize && !isa<BlockArgument>(use.get()))
      return op->emitOpError() << "reads operand " << use.getOperandNumber()
                               << " from the same dispatch; its data must lie in a buffer";
  }
  KernelFunction k(dispatch, kernels, symbol, target.isGpu() ? Grid::ThreadEach : Grid::HostRange);
  LoopBuilder l(k, shapes, op);
  KernelFunction::Launch launch;
  LogicalResult done =
      llvm::TypeSwitch<Operation *, LogicalResult>(op)
          .Case([&](graph::TopKOp o) { return emitTopK(l, o, launch); })
          .Case([&](graph::CumulativeOp o) { return emitCumulative(l, o, launch); })
          .Case([&](graph::ScatterElementsOp o) { return emitScatterElements(l, o, launch); })
          .Case([&](graph::ScatterNdOp o) { return emitScatterNd(l, o, launch); })
          .Case([&](graph::NonZeroOp o) { return emitNonZero(l, o, launch); })
          .Case([&](graph::UniqueOp o) { return emitUnique(l, o, launch); })
          .Case([&](graph::ResizeOp o) { return emitResize(l, o, launch); })
          .Default([](Operation *) { return failure(); });
  if (failed(done)) {
    k.abandon();
    return failure();
  }
  if (launch.description.empty())
    launch.description = "loops: " + op->getName().getStringRef().str();
  k.close(launch);
  return success();
}

} // namespace quaver::codegen
