#include "compiler/Dispatch/BuildDispatches.h"
#include "dialects/Plan/IR/PlanDialect.h"

using namespace mlir;
using namespace quaver::graph;

namespace quaver::dispatch {

static void collectNames(Location loc, llvm::SmallSetVector<StringAttr, 4> &names) {
  if (auto n = dyn_cast<NameLoc>(loc))
    names.insert(n.getName());
  else if (auto f = dyn_cast<FusedLoc>(loc))
    for (Location l : f.getLocations())
      collectNames(l, names);
  else if (auto c = dyn_cast<CallSiteLoc>(loc))
    collectNames(c.getCallee(), names);
}

std::string labelOf(ArrayRef<Operation *> ops) {
  llvm::SmallSetVector<StringAttr, 4> names;
  for (Operation *op : ops)
    collectNames(op->getLoc(), names);
  std::string text;
  for (auto [i, n] : llvm::enumerate(names)) {
    if (i == 4)
      return text + " + " + std::to_string(names.size() - 4) + " more";
    text += (i ? " + " : "") + n.getValue().str();
  }
  if (!text.empty())
    return text;
  for (auto [i, op] : llvm::enumerate(ops)) { // no names: what it does
    if (i == 4)
      return text + " + " + std::to_string(ops.size() - 4) + " more";
    text += (i ? " + " : "") + op->getName().stripDialect().str();
  }
  return text;
}

namespace {

class Builder {
public:
  Builder(Block &block, Clusters &clusters, ShapeAnalysis &shapes)
      : block(block), clusters(clusters), shapes(shapes) {}
  int run();

private:
  // A launch, or one op that stays outside; ordered so that what it reads comes before.
  struct Unit {
    int cluster = -1;
    SmallVector<Operation *> ops;
  };
  void need(Value v);
  void needOperands(Operation *op);
  void needOfCluster(int c);
  Value insideOf(OpOperand &use, OpBuilder &b);
  Value insideValue(Value v, bool copied, OpBuilder &b);
  bool isMadeInside(Value v);
  bool isCopiedHere(OpOperand &use);
  void order(SmallVector<Unit> &units);
  void build(const Unit &unit);

  Block &block;
  Clusters &clusters;
  ShapeAnalysis &shapes;
  llvm::DenseMap<int, llvm::SmallSetVector<Value, 4>> results; // needed values of every live cluster
  llvm::SmallSetVector<Operation *, 16> aliases;               // kept outside
  llvm::DenseSet<Operation *> outside;
  SmallVector<int> newClusters;

  // Of the dispatch under construction.
  int current = -1;
  IRMapping inside;
  llvm::SmallSetVector<Value, 8> inputs;
  Block *body = nullptr;
};

// The value itself must be there, in a buffer.
void Builder::need(Value v) {
  Operation *def = v.getDefiningOp();
  if (!def || def->getBlock() != &block)
    return;
  OpClass kind = classify(def);
  if (kind == OpClass::Outside || isa<ConstantOp>(def))
    return;
  int c = clusters.of(def);
  bool isWholeView = kind == OpClass::Alias && c < 0;
  if (isWholeView) {
    if (aliases.insert(def))
      needOperands(def);
    return;
  }
  if (c < 0)
    c = clusters.addAlone(def);
  bool isNew = results[c].empty();
  results[c].insert(v);
  if (isNew)
    needOfCluster(c);
}

void Builder::needOperands(Operation *op) {
  for (OpOperand &use : op->getOpOperands()) {
    Operation *def = use.get().getDefiningOp();
    bool isSize = use.getOperandNumber() > 0 && isSizeOperand(use);
    if (isSize && def && isa<SizesOp, ConstantOp>(def))
      continue;
    need(use.get());
  }
}

// Is the value computed in the current region anyway, so that a view of it is made there too?
bool Builder::isMadeInside(Value v) {
  Operation *def = v.getDefiningOp();
  if (!def || def->getBlock() != &block)
    return false;
  if (clusters.isCopied(def))
    return true;
  if (int c = clusters.of(def); c >= 0)
    return c == current;
  return classify(def) == OpClass::Alias && isMadeInside(def->getOperand(0));
}

// Is what `use` reads copied into the current region: a cheap producer, or a view of a value made there?
bool Builder::isCopiedHere(OpOperand &use) {
  if (clusters.isCopiedAt(use))
    return true;
  Operation *def = use.get().getDefiningOp();
  return def && def->getBlock() == &block && !isSizeOperand(use) && clusters.of(def) < 0 &&
         classify(def) == OpClass::Alias && !clusters.readsInPlace(use.getOwner()) &&
         isMadeInside(def->getOperand(0));
}

void Builder::needOfCluster(int c) {
  // Walks what the region copies; the rest is read from buffers.
  std::function<void(OpOperand &)> visit = [&](OpOperand &use) {
    Value v = use.get();
    Operation *def = v.getDefiningOp();
    if (!def || def->getBlock() != &block)
      return;
    if (clusters.of(def) == c)
      return;
    current = c;
    if (isCopiedHere(use)) {
      for (OpOperand &o : def->getOpOperands())
        visit(o);
      return;
    }
    need(v);
  };
  SmallVector<Operation *> ops(clusters.all()[c].ops);
  for (Operation *op : ops)
    for (OpOperand &use : op->getOpOperands())
      visit(use);
}

Value Builder::insideOf(OpOperand &use, OpBuilder &b) {
  Value v = use.get();
  if (Value known = inside.lookupOrNull(v))
    return known;
  Operation *def = v.getDefiningOp();
  if (def && isCopiedHere(use)) {
    SmallVector<Value> operands;
    for (OpOperand &o : def->getOpOperands())
      operands.push_back(insideOf(o, b));
    Operation *clone = b.clone(*def, inside);
    return clone->getResult(0);
  }
  inputs.insert(v);
  Value arg = body->addArgument(v.getType(), v.getLoc());
  inside.map(v, arg);
  return arg;
}

void Builder::build(const Unit &unit) {
  current = unit.cluster;
  inside = IRMapping();
  inputs.clear();
  Operation *last = unit.ops.back();
  OpBuilder b(last);
  ArrayRef<Value> yielded = results[current].getArrayRef();
  SmallVector<Location> locs;
  for (Operation *op : unit.ops)
    locs.push_back(op->getLoc());
  Region region;
  body = new Block();
  region.push_back(body);
  OpBuilder inner(b.getContext());
  inner.setInsertionPointToEnd(body);
  for (Operation *op : unit.ops) {
    for (OpOperand &use : op->getOpOperands())
      insideOf(use, inner);
    inner.clone(*op, inside);
  }
  SmallVector<Value> values;
  SmallVector<Type> types;
  for (Value v : yielded)
    values.push_back(inside.lookup(v));
  Location loc = FusedLoc::get(b.getContext(), locs);
  // How many elements such an op found: the run reads it back.
  if (isa<NonZeroOp, UniqueOp>(last)) {
    Value counted = inside.lookup(last->getResult(0));
    int64_t axis = isa<NonZeroOp>(last) ? 1 : cast<UniqueOp>(last).getAxis().value_or(0);
    values.push_back(
        ShapeOp::create(inner, loc, RankedTensorType::get({1}, b.getI64Type()), counted, axis, axis + 1));
  }
  for (Value v : values)
    types.push_back(v.getType());
  plan_ir::YieldOp::create(inner, loc, values);
  auto d = plan_ir::DispatchOp::create(b, loc, types, inputs.getArrayRef(), StringAttr(), StringAttr(),
                                       ArrayAttr(), StringAttr(), StringAttr(), IntegerAttr(),
                                       b.getStringAttr(labelOf(unit.ops)), StringAttr(), ArrayAttr());
  d.getBody().takeBody(region);
  SmallVector<Value> old(yielded);
  for (auto [v, r] : llvm::zip(old, d.getResults())) {
    shapes.set(r, SymbolicTensor(shapes.get(v)));
    // Sizes are copied to most readers; only what needs them in memory reads the launch's result.
    bool isSizes = v.getDefiningOp<SizesOp>() != nullptr;
    v.replaceUsesWithIf(r, [&](OpOperand &use) {
      if (!isSizes)
        return true;
      bool inRegion = clusters.of(use.getOwner()) >= 0 || clusters.isCopied(use.getOwner());
      return inRegion ? !clusters.isCopiedAt(use) : !(use.getOperandNumber() > 0 && isSizeOperand(use));
    });
  }
}

// Kahn's algorithm, earliest program position first.
void Builder::order(SmallVector<Unit> &units) {
  llvm::DenseMap<Operation *, int> unitOf;
  for (auto [i, u] : llvm::enumerate(units))
    for (Operation *op : u.ops)
      unitOf[op] = i;
  SmallVector<llvm::SmallSetVector<int, 8>> before(units.size());
  SmallVector<SmallVector<int>> after(units.size());
  // What a unit reads, through ops that are copied into it and views of other units' values.
  std::function<void(int, Operation *, llvm::DenseSet<Operation *> &)> reads =
      [&](int i, Operation *op, llvm::DenseSet<Operation *> &seen) {
        op->walk([&](Operation *nested) {
          for (OpOperand &use : nested->getOpOperands()) {
            Operation *def = use.get().getDefiningOp();
            def = def ? block.findAncestorOpInBlock(*def) : nullptr;
            if (!def)
              continue;
            auto it = unitOf.find(def);
            if (it != unitOf.end() && it->second == i)
              continue;
            bool isCopied =
                current >= 0 ? isCopiedHere(use) : classify(def) == OpClass::Literal && isSizeOperand(use);
            bool isRead = it != unitOf.end() && !isCopied;
            if (isRead)
              before[i].insert(it->second);
            else if (seen.insert(def).second)
              reads(i, def, seen);
          }
        });
      };
  int lastEffect = -1;
  for (auto [i, u] : llvm::enumerate(units)) {
    llvm::DenseSet<Operation *> seen;
    current = u.cluster;
    for (Operation *op : u.ops)
      reads(i, op, seen);
    bool hasEffect = u.cluster < 0 && !isMemoryEffectFree(u.ops.front());
    if (hasEffect && lastEffect >= 0)
      before[i].insert(lastEffect);
    if (hasEffect)
      lastEffect = i;
  }
  SmallVector<int> waiting(units.size());
  for (size_t i = 0; i < units.size(); ++i) {
    waiting[i] = before[i].size();
    for (int p : before[i])
      after[p].push_back(i);
  }
  std::set<std::pair<int, int>> ready; // program position of the last op, unit
  llvm::DenseMap<Operation *, int> position;
  int n = 0;
  for (Operation &op : block)
    position[&op] = n++;
  auto key = [&](int i) { return std::pair(position.lookup(units[i].ops.back()), i); };
  for (size_t i = 0; i < units.size(); ++i)
    if (!waiting[i])
      ready.insert(key(i));
  SmallVector<Unit> sorted;
  while (!ready.empty()) {
    int i = ready.begin()->second;
    ready.erase(ready.begin());
    sorted.push_back(units[i]);
    for (int s : after[i])
      if (--waiting[s] == 0)
        ready.insert(key(s));
  }
  assert(sorted.size() == units.size() && "launches form no cycle");
  units = std::move(sorted);
}

int Builder::run() {
  Operation *terminator = block.getTerminator();
  for (Operation &op : block)
    if (classify(&op) == OpClass::Outside) {
      outside.insert(&op);
      op.walk([&](Operation *nested) { needOperands(nested); });
    }
  SmallVector<Unit> units;
  for (Operation &op : block)
    if (&op != terminator && (outside.contains(&op) || aliases.contains(&op)))
      units.push_back({-1, {&op}});
  for (auto &[c, values] : results)
    if (!values.empty())
      units.push_back({c, SmallVector<Operation *>(clusters.all()[c].ops)});
  llvm::sort(units, [](const Unit &x, const Unit &y) { return x.ops.back()->isBeforeInBlock(y.ops.back()); });
  order(units);
  int made = 0;
  // Literals first; then unit after unit at the end; what is left is dead.
  SmallVector<Operation *> old;
  for (Operation &op : block)
    if (&op != terminator && !outside.contains(&op) && !aliases.contains(&op) &&
        classify(&op) != OpClass::Literal)
      old.push_back(&op);
  for (const Unit &u : units) {
    for (Operation *op : u.ops)
      op->moveBefore(terminator);
    if (u.cluster < 0)
      continue;
    build(u);
    ++made;
  }
  for (Operation *op : llvm::reverse(old)) {
    op->dropAllUses();
    op->erase();
  }
  SmallVector<Operation *> literals;
  for (Operation &op : block)
    if (classify(&op) == OpClass::Literal)
      literals.push_back(&op);
  for (Operation *op : literals)
    if (op->use_empty())
      op->erase();
  return made;
}

} // namespace

int buildDispatches(Block &block, Clusters &clusters, ShapeAnalysis &shapes) {
  return Builder(block, clusters, shapes).run();
}

} // namespace quaver::dispatch
