#include "compiler/PlanEmit/PlanEmit.h"
#include "dialects/Graph/IR/GraphDialect.h"
#include "dialects/Plan/IR/PlanDialect.h"

using namespace mlir;
using quaver::graph::DimExpr;

namespace quaver::plan_emit {
namespace {

class Lowering {
public:
  Lowering(func::FuncOp entry, graph::ShapeAnalysis &shapes, StorageAnalysis &storage)
      : entry(entry), shapes(shapes), storage(storage), b(entry.getContext()) {}
  FailureOr<plan_ir::EntryOp> run(const DimExpr &peak);

private:
  StringAttr text(const DimExpr &e) { return b.getStringAttr(e.str()); }
  Value buffer(int storageIndex);
  void copy(Location loc, int from, int to, const DimExpr &bytes);
  DimExpr bytesOf(Value v) {
    return shapes.numElements(v) * DimExpr(elementBytes(getElementTypeOrSelf(v.getType())));
  }
  DictionaryAttr describe(Value v, Attribute name, Attribute dims);
  void readBacksOf(Value v);
  void readBacksOfDispatch(plan_ir::DispatchOp op);
  void checks();
  LogicalResult block(Block &source, Operation *parent);
  LogicalResult launch(plan_ir::DispatchOp op);
  LogicalResult ifOp(graph::IfOp op);
  LogicalResult whileOp(graph::WhileOp op);
  void returns(func::ReturnOp op);

  func::FuncOp entry;
  graph::ShapeAnalysis &shapes;
  StorageAnalysis &storage;
  OpBuilder b;
  Block *top = nullptr;
  Operation *lastBuffer = nullptr; // buffer ops stand together at the entry's start
  llvm::DenseMap<int, Value> buffers;
};

Value Lowering::buffer(int i) {
  auto it = buffers.find(i);
  if (it != buffers.end())
    return it->second;
  const Storage &s = storage.all()[i];
  OpBuilder::InsertionGuard guard(b);
  if (lastBuffer)
    b.setInsertionPointAfter(lastBuffer);
  else
    b.setInsertionPointToStart(top);
  auto op = plan_ir::BufferOp::create(b, entry.getLoc(), plan_ir::BufferType::get(b.getContext()),
                                      b.getStringAttr(spell(s.memory)), b.getI64IntegerAttr(s.index),
                                      text(s.offset), text(s.bytes), TypeAttr::get(s.element),
                                      b.getStringAttr(s.label));
  lastBuffer = op;
  return buffers[i] = op.getBuffer();
}

void Lowering::copy(Location loc, int from, int to, const DimExpr &bytes) {
  if (from == to)
    return;
  plan_ir::CopyOp::create(b, loc, buffer(from), buffer(to), text(bytes));
}

DictionaryAttr Lowering::describe(Value v, Attribute name, Attribute dims) {
  llvm::SmallVector<Attribute> exprs;
  for (const DimExpr &d : shapes.get(v).dims)
    exprs.push_back(text(d));
  NamedAttrList attrs;
  attrs.set("name", name ? name : b.getStringAttr(""));
  attrs.set("type", TypeAttr::get(getElementTypeOrSelf(v.getType())));
  attrs.set("shape", b.getArrayAttr(exprs));
  attrs.set("dim_names", dims && isa<ArrayAttr>(dims) && cast<ArrayAttr>(dims).size() == exprs.size()
                             ? dims
                             : b.getArrayAttr(exprs));
  return attrs.getDictionary(b.getContext());
}

// Symbols that the run learns from `v`, just computed.
void Lowering::readBacksOf(Value v) {
  for (const graph::DataDependentDim &d : shapes.dataDependent())
    if (d.tensor == v && !d.isCount)
      plan_ir::ReadBackOp::create(b, v.getLoc(), b.getStringAttr(d.symbol), buffer(storage.storageOf(v)),
                                  b.getI64IntegerAttr(d.element));
}

void Lowering::readBacksOfDispatch(plan_ir::DispatchOp op) {
  auto yield = op.getBody().front().getTerminator();
  for (const graph::DataDependentDim &d : shapes.dataDependent()) {
    Operation *def = d.tensor.getDefiningOp();
    if (!def || def->getParentOp() != op)
      continue;
    if (d.isCount) { // the kernel leaves the count in the dispatch's last result
      plan_ir::ReadBackOp::create(b, op.getLoc(), b.getStringAttr(d.symbol),
                                  buffer(storage.storageOf(op.getResults().back())), b.getI64IntegerAttr(0));
      continue;
    }
    for (auto [yielded, result] : llvm::zip(yield->getOperands(), op.getResults()))
      if (yielded == d.tensor)
        plan_ir::ReadBackOp::create(b, op.getLoc(), b.getStringAttr(d.symbol),
                                    buffer(storage.storageOf(result)), b.getI64IntegerAttr(d.element));
  }
  for (Value r : op.getResults())
    readBacksOf(r);
}

// Sizes that the model needs equal but that nothing in it ties together.
void Lowering::checks() {
  for (auto &[x, y] : shapes.assumedEqual()) {
    std::map<std::string, int> symbols;
    x.collectSymbols(symbols), y.collectSymbols(symbols);
    bool onlyArguments = llvm::none_of(symbols, [&](auto &s) {
      return llvm::any_of(shapes.dataDependent(), [&](auto &d) { return d.symbol == s.first; });
    });
    if (!onlyArguments)
      continue; // the kernels' own sizes follow from the data then
    plan_ir::CheckOp::create(b, entry.getLoc(), text(DimExpr::eq(x, y)),
                             b.getStringAttr("the model needs " + x.str() + " and " + y.str() +
                                             " to be equal: give inputs whose sizes agree"));
  }
}

LogicalResult Lowering::launch(plan_ir::DispatchOp op) {
  if (!op.getKernel() || !op.getWorkgroups() || !op.getConstants())
    return op.emitOpError("has no kernel: code generation must run before buffers are placed");
  llvm::SmallVector<Value> bindings;
  for (unsigned i = 0; i < op.getInputs().size(); ++i)
    bindings.push_back(buffer(storage.storageOfOperand(op, i)));
  for (Value v : op.getResults())
    bindings.push_back(buffer(storage.storageOf(v)));
  auto orEmpty = [&](std::optional<StringRef> s, StringRef otherwise) {
    return b.getStringAttr(s.value_or(otherwise));
  };
  plan_ir::LaunchOp::create(b, op.getLoc(), b.getStringAttr(*op.getKernel()), bindings,
                            b.getI64IntegerAttr(op.getNumResults()), b.getStringAttr(*op.getWorkgroups()),
                            op.getConstantsAttr(), orEmpty(op.getScratch(), "0"), orEmpty(op.getGrain(), "1"),
                            b.getStringAttr(op.getLabel() ? op.getLabel()->str() : labelOf(op.getLoc())),
                            orEmpty(op.getDescription(), ""), op.getBlockThreadsAttr());
  readBacksOfDispatch(op);
  return success();
}

LogicalResult Lowering::ifOp(graph::IfOp op) {
  auto lowered = plan_ir::IfOp::create(b, op.getLoc(), buffer(storage.storageOf(op.getCondition())));
  OpBuilder::InsertionGuard guard(b);
  for (auto [region, target] : llvm::zip(op->getRegions(), lowered->getRegions())) {
    b.createBlock(&target);
    if (failed(block(region.front(), op)))
      return failure();
    for (auto [v, r] : llvm::zip(region.front().getTerminator()->getOperands(), op.getResults()))
      copy(op.getLoc(), storage.storageOf(v), storage.storageOf(r), bytesOf(v));
  }
  return success();
}

LogicalResult Lowering::whileOp(graph::WhileOp op) {
  for (auto [i, init] : llvm::enumerate(op.getInits()))
    copy(op.getLoc(), storage.storageOf(init), storage.carried(op, i), bytesOf(init));
  Operation *beforeEnd = op.getBefore().front().getTerminator(),
            *bodyEnd = op.getBody().front().getTerminator();
  auto lowered =
      plan_ir::WhileOp::create(b, op.getLoc(), buffer(storage.storageOf(beforeEnd->getOperand(0))));
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&lowered.getBefore());
  if (failed(block(op.getBefore().front(), op)))
    return failure();
  for (auto [v, r] : llvm::zip(beforeEnd->getOperands().drop_front(), op.getResults()))
    copy(op.getLoc(), storage.storageOf(v), storage.storageOf(r), bytesOf(v));
  b.createBlock(&lowered.getBody());
  if (failed(block(op.getBody().front(), op)))
    return failure();
  for (auto [i, v] : llvm::enumerate(bodyEnd->getOperands()))
    copy(op.getLoc(), storage.storageOf(v), storage.carried(op, i), bytesOf(v));
  return success();
}

void Lowering::returns(func::ReturnOp op) {
  for (auto [i, v] : llvm::enumerate(op.getOperands())) {
    if (!storage.needsOutputCopy(i))
      continue;
    for (auto [s, info] : llvm::enumerate(storage.all()))
      if (info.memory == Memory::Output && info.index == int64_t(i))
        copy(op.getLoc(), storage.storageOf(v), s, bytesOf(v));
  }
}

LogicalResult Lowering::block(Block &source, Operation *) {
  for (Operation &o : source) {
    Operation *op = &o;
    if (isAlias(op)) {
      readBacksOf(op->getResult(0));
      continue;
    }
    if (isa<graph::GetWeightOp, graph::ConstantOp, graph::SizesOp, graph::YieldOp>(op))
      continue;
    if (auto d = dyn_cast<plan_ir::DispatchOp>(op)) {
      if (failed(launch(d)))
        return failure();
    } else if (auto i = dyn_cast<graph::IfOp>(op)) {
      if (failed(ifOp(i)))
        return failure();
    } else if (auto w = dyn_cast<graph::WhileOp>(op)) {
      if (failed(whileOp(w)))
        return failure();
    } else if (auto read = dyn_cast<graph::ReadStateOp>(op)) {
      if (!storage.needsStateCopy(op))
        continue;
      for (auto [s, info] : llvm::enumerate(storage.all()))
        if (info.memory == Memory::State && storage.stateNames()[info.index] == read.getState())
          copy(op->getLoc(), s, storage.storageOf(read.getResult()), bytesOf(read.getResult()));
    } else if (auto update = dyn_cast<graph::UpdateStateOp>(op)) {
      for (auto [s, info] : llvm::enumerate(storage.all()))
        if (info.memory == Memory::State && storage.stateNames()[info.index] == update.getState()) {
          copy(op->getLoc(), storage.storageOf(update.getValue()), s, bytesOf(update.getValue()));
          break;
        }
    } else if (auto ret = dyn_cast<func::ReturnOp>(op)) {
      returns(ret);
    }
  }
  return success();
}

FailureOr<plan_ir::EntryOp> Lowering::run(const DimExpr &peak) {
  auto ret = cast<func::ReturnOp>(entry.getBody().front().getTerminator());
  llvm::SmallVector<Attribute> inputs, outputs;
  for (BlockArgument a : entry.getArguments())
    inputs.push_back(describe(a, entry.getArgAttr(a.getArgNumber(), "graph.name"),
                              entry.getArgAttr(a.getArgNumber(), "graph.dims")));
  for (auto [i, v] : llvm::enumerate(ret.getOperands()))
    outputs.push_back(
        describe(v, entry.getResultAttr(i, "graph.name"), entry.getResultAttr(i, "graph.dims")));
  b.setInsertionPointAfter(entry);
  auto lowered = plan_ir::EntryOp::create(b, entry.getLoc(), b.getStringAttr(entry.getName()),
                                          b.getArrayAttr(inputs), b.getArrayAttr(outputs), text(peak));
  top = b.createBlock(&lowered.getBody());
  for (BlockArgument a : entry.getArguments())
    readBacksOf(a);
  checks();
  if (failed(block(entry.getBody().front(), entry)))
    return failure();
  entry.erase();
  return lowered;
}

} // namespace

FailureOr<plan_ir::EntryOp> lowerToBuffers(func::FuncOp entry, graph::ShapeAnalysis &shapes,
                                           llvm::SmallVectorImpl<WeightUse> &weights) {
  StorageAnalysis storage(entry, shapes, weights);
  if (failed(storage.run()))
    return failure();
  DimExpr peak = placeInArena(storage.all(), shapes);
  return Lowering(entry, shapes, storage).run(peak);
}

} // namespace quaver::plan_emit
