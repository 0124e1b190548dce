#include "compiler/Interpreter/Interpreter.h"
#include "compiler/Interpreter/Eval.h"
#include "dialects/Graph/Analysis/ShapeAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace quaver::interpreter {
namespace {

const EvalTable &table() {
  static const EvalTable all = [] {
    EvalTable t;
    addElementwise(t);
    addBinary(t);
    addCasts(t);
    addMovement(t);
    addIndexing(t);
    addReductions(t);
    addSelections(t);
    addWindows(t);
    addResize(t);
    addContractions(t);
    addControl(t);
    addQuantization(t);
    return t;
  }();
  return all;
}

// A composite is evaluated as what it decomposes into, on a scratch function with the concrete shapes of this
// run.
LogicalResult evalComposite(Eval &e) {
  MLIRContext *context = e.op->getContext();
  Block scratch;
  SmallVector<Location> locations(e.in.size(), e.op->getLoc());
  for (const Tensor &t : e.in)
    scratch.addArgument(t.mlirType(context), e.op->getLoc());
  OpBuilder b(context);
  b.setInsertionPointToEnd(&scratch); // atBlockEnd would ask the block for its region
  IRMapping mapping;
  for (auto [from, to] : llvm::zip(e.op->getOperands(), scratch.getArguments()))
    mapping.map(from, to);
  Operation *copy = b.clone(*e.op, mapping);
  b.setInsertionPointToEnd(&scratch);
  auto results = cast<graph::DecomposeInterface>(copy).decompose(b);
  if (failed(results))
    return failure();
  Interpreter inner(e.interpreter.getModule(), e.interpreter.getWeights());
  // The copy itself is not run: only what it was decomposed into.
  copy->erase();
  graph::YieldOp::create(b, e.op->getLoc(), *results);
  auto values = inner.runBlock(scratch, e.in);
  if (failed(values))
    return e.op->emitRemark("while evaluating this composite op on ") << e.operandTypes(), failure();
  e.out.assign(values->begin(), values->end());
  return success();
}

} // namespace

bool Interpreter::knows(Operation *op) {
  return table().count(op->getName().getStringRef()) || isa<graph::DecomposeInterface>(op);
}

LogicalResult Interpreter::checkResults(Operation *op, ArrayRef<Tensor> results) {
  if (results.size() != op->getNumResults())
    return op->emitOpError() << "gave " << results.size() << " results in the interpreter, "
                             << op->getNumResults() << " are declared";
  for (auto [t, v] : llvm::zip(results, op->getResults())) {
    auto type = dyn_cast<RankedTensorType>(v.getType());
    if (!type)
      continue;
    bool fits = t.type() == elementTypeOf(type.getElementType()) && t.rank() == type.getRank();
    for (int64_t d = 0; fits && d < t.rank(); ++d)
      fits = type.isDynamicDim(d) || type.getDimSize(d) == t.dim(d);
    if (!fits)
      return op->emitOpError() << "gives " << t.typeString() << " at run time, but its result is declared "
                               << type;
  }
  return success();
}

FailureOr<SmallVector<Tensor>> Interpreter::evaluate(Operation *op, ArrayRef<Tensor> operands) {
  Eval e{op, operands, *this, {}};
  auto fn = table().find(op->getName().getStringRef());
  LogicalResult done = fn != table().end() ? fn->second(e)
                       : isa<graph::DecomposeInterface>(op)
                           ? evalComposite(e)
                           : LogicalResult(e.error() << "is not an op that the interpreter knows");
  if (failed(done) || failed(checkResults(op, e.out)))
    return failure();
  return std::move(e.out);
}

LogicalResult Interpreter::runOp(Operation *op) {
  SmallVector<Tensor> operands;
  for (Value v : op->getOperands())
    operands.push_back(values.lookup(v));
  FailureOr<SmallVector<Tensor>> results = failure();
  if (auto known = recall ? recall(op) : std::nullopt)
    results = std::move(*known);
  else
    results = evaluate(op, operands);
  if (failed(results))
    return failure();
  if (hook)
    hook(op, operands, *results);
  for (auto [v, t] : llvm::zip(op->getResults(), *results))
    values[v] = t;
  return bindDataDependent(op, *results);
}

FailureOr<SmallVector<Tensor>> Interpreter::runBlock(Block &block, ArrayRef<Tensor> arguments) {
  assert(arguments.size() == block.getNumArguments());
  for (auto [v, t] : llvm::zip(block.getArguments(), arguments))
    values[v] = t;
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>()) {
      SmallVector<Tensor> results;
      for (Value v : op.getOperands())
        results.push_back(values.lookup(v));
      return results;
    }
    if (failed(runOp(&op)))
      return failure();
    // Values that nothing below reads are dropped: a large model's activations do not pile up.
    for (Value v : op.getOperands()) {
      bool isLast = v.getParentBlock() == &block && llvm::all_of(v.getUsers(), [&](Operation *user) {
                      return user->getBlock() == &block && (user == &op || user->isBeforeInBlock(&op));
                    });
      if (isLast)
        values.erase(v);
    }
  }
  return block.getParentOp()->emitOpError("has a block without a terminator"), failure();
}

std::optional<int64_t> Interpreter::dimension(StringRef symbol) const {
  auto it = dimensions.find(symbol.str());
  return it == dimensions.end() ? std::nullopt : std::optional(it->second);
}

// The sizes of arguments bind the symbols named by graph.dims, and must agree with what is bound or declared.
LogicalResult Interpreter::bindDimensions(Operation *op, ArrayRef<Tensor> inputs) {
  auto func = cast<func::FuncOp>(op);
  auto valueOf = [&](StringRef s) { return dimension(s); };
  SmallVector<std::tuple<unsigned, int64_t, graph::DimExpr>> later;
  auto nameOf = [&](unsigned i) {
    auto name = func.getArgAttrOfType<StringAttr>(i, "graph.name");
    return name ? name.getValue() : StringRef("(unnamed)");
  };
  for (auto [i, t] : llvm::enumerate(inputs)) {
    auto type = cast<RankedTensorType>(func.getArgument(i).getType());
    bool fits = t.type() == elementTypeOf(type.getElementType()) && t.rank() == type.getRank();
    for (int64_t d = 0; fits && d < t.rank(); ++d)
      fits = type.isDynamicDim(d) || type.getDimSize(d) == t.dim(d);
    if (!fits)
      return func.emitError() << "input '" << nameOf(i) << "' is " << t.typeString()
                              << ", but the entry takes " << type;
    auto dims = func.getArgAttrOfType<ArrayAttr>(i, "graph.dims");
    if (!dims)
      continue;
    for (auto [d, text] : llvm::enumerate(dims)) {
      auto expr = graph::DimExpr::parse(cast<StringAttr>(text).getValue());
      if (!expr)
        return func.emitError() << "input '" << nameOf(i) << "': graph.dims has '" << text
                                << "', which is not a size expression";
      auto symbol = expr->getSymbol();
      if (symbol && !dimension(*symbol))
        dimensions[*symbol] = t.dim(d);
      later.emplace_back(i, d, *expr);
    }
  }
  for (auto &[i, d, expr] : later) {
    auto want = expr.evaluate(valueOf);
    if (want && *want != inputs[i].dim(d))
      return func.emitError() << "input '" << nameOf(i) << "' has size " << inputs[i].dim(d)
                              << " in dimension " << d << ", but " << expr.str() << " is " << *want
                              << " by the inputs before it";
  }
  return success();
}

// Symbols for sizes that data decides: which values bind them is what the shape analysis says of this
// function.
LogicalResult Interpreter::bindDataDependent(Operation *op, ArrayRef<Tensor> results) {
  if (boundByData.empty())
    return success();
  for (auto [v, t] : llvm::zip(op->getResults(), results)) {
    auto it = boundByData.find(v);
    if (it == boundByData.end())
      continue;
    for (auto &[element, symbol] : it->second) {
      if (element < 0)
        dimensions[symbol] = t.rank() ? t.dim(t.rank() - 1) : 1;
      else if (element < t.size())
        dimensions[symbol] = t.integer(element);
    }
  }
  return success();
}

FailureOr<SmallVector<Tensor>> Interpreter::run(StringRef entry, ArrayRef<Tensor> inputs) {
  func::FuncOp func;
  std::string names;
  for (auto f : module.getOps<func::FuncOp>()) {
    if (f.isExternal())
      continue;
    names += (names.empty() ? "@" : ", @") + f.getName().str();
    if (entry.empty() ? !func : f.getName() == entry)
      func = f;
    else if (entry.empty())
      return f.emitError("the module has several entries; name one of ") << names, failure();
  }
  if (!func)
    return module.emitError() << "no entry @" << entry << "; there is " << (names.empty() ? "none" : names);
  if (inputs.size() != func.getNumArguments())
    return func.emitError() << "takes " << func.getNumArguments() << " inputs, " << inputs.size()
                            << " were given",
           failure();
  values.clear();
  dimensions.clear();
  boundByData.clear();
  if (failed(bindDimensions(func, inputs)))
    return failure();
  bool readsSizes = false;
  func.walk([&](graph::SizesOp) { readsSizes = true; });
  if (readsSizes) {
    // The analysis refines types, so it runs on a copy; its n-th value is ours.
    OwningOpRef<Operation *> copy = module->clone();
    auto twin = cast<ModuleOp>(*copy).lookupSymbol<func::FuncOp>(func.getName());
    graph::ShapeAnalysis shapes{cast<ModuleOp>(*copy)};
    if (succeeded(shapes.bindArguments(twin)) && succeeded(shapes.run(twin))) {
      DenseMap<Operation *, Operation *> ours;
      SmallVector<Operation *> a, b;
      twin.walk([&](Operation *op) { a.push_back(op); });
      func.walk([&](Operation *op) { b.push_back(op); });
      for (auto [x, y] : llvm::zip(a, b))
        ours[x] = y;
      for (const graph::DataDependentDim &d : shapes.dataDependent())
        if (auto r = dyn_cast<OpResult>(d.tensor))
          boundByData[ours[r.getOwner()]->getResult(r.getResultNumber())].push_back(
              {d.isCount ? -1 : d.element, d.symbol});
        else if (auto arg = dyn_cast<BlockArgument>(d.tensor);
                 arg && arg.getOwner() == &twin.getBody().front())
          dimensions[d.symbol] =
              d.isCount ? inputs[arg.getArgNumber()].dim(0) : inputs[arg.getArgNumber()].integer(d.element);
    }
  }
  return runBlock(func.getBody().front(), inputs);
}

FailureOr<Tensor> Interpreter::readState(Operation *reader, StringRef name) {
  auto it = states.find(name);
  if (it != states.end())
    return it->second;
  auto state = module.lookupSymbol<graph::StateOp>(name);
  if (!state)
    return reader->emitOpError() << "reads @" << name << ", which is not declared", failure();
  if (auto init = state.getInit()) {
    const WeightData *data = weights.find(*init);
    if (!data)
      return state.emitOpError() << "starts as @" << *init << ", which the weight store does not hold",
             failure();
    return states[name] = Tensor::of(*data);
  }
  auto type = cast<RankedTensorType>(state.getType());
  Shape shape(type.getShape());
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (!type.isDynamicDim(d))
      continue;
    std::optional<int64_t> size;
    if (auto dims = state.getDims())
      if (auto expr = graph::DimExpr::parse(cast<StringAttr>((*dims)[d]).getValue()))
        size = expr->evaluate([&](StringRef s) { return dimension(s); });
    if (!size)
      return state.emitOpError() << "has a size in dimension " << d
                                 << " that nothing binds: give `dims` or write the state first",
             failure();
    shape[d] = *size;
  }
  return states[name] = Tensor::make(elementTypeOf(type.getElementType()), shape);
}

} // namespace quaver::interpreter
