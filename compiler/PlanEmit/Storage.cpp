#include "compiler/PlanEmit/Storage.h"
#include "dialects/Graph/IR/GraphDialect.h"

using namespace mlir;
using quaver::graph::DimExpr;

namespace quaver::plan_emit {

llvm::StringRef spell(Memory memory) {
  switch (memory) {
  case Memory::Arena:
    return "arena";
  case Memory::Input:
    return "input";
  case Memory::Output:
    return "output";
  case Memory::Weight:
    return "weight";
  case Memory::State:
    return "state";
  case Memory::Dynamic:
    return "dynamic";
  }
  llvm_unreachable("all memories are listed");
}

bool isAlias(Operation *op) {
  return isa<graph::ReshapeOp, graph::ExpandDimsOp, graph::SqueezeOp, graph::BitcastOp>(op);
}

int64_t elementBytes(Type element) { return (element.getIntOrFloatBitWidth() + 7) / 8; }

static void collectNames(Location loc, llvm::SmallVectorImpl<StringRef> &names) {
  if (auto n = dyn_cast<NameLoc>(loc)) {
    if (!llvm::is_contained(names, n.getName().getValue()))
      names.push_back(n.getName().getValue());
    return;
  }
  if (auto f = dyn_cast<FusedLoc>(loc))
    for (Location l : f.getLocations())
      collectNames(l, names);
  if (auto c = dyn_cast<CallSiteLoc>(loc))
    collectNames(c.getCallee(), names);
}

std::string labelOf(Location loc) {
  llvm::SmallVector<StringRef> names;
  collectNames(loc, names);
  return llvm::join(names, " + ");
}

int StorageAnalysis::storageOf(Value v) const {
  auto it = of.find(v);
  assert(it != of.end() && "every tensor of an entry has a storage");
  return it->second;
}

DimExpr StorageAnalysis::reservedBytes(Value v, bool &bounded) {
  DimExpr bytes = shapes.numElements(v) * DimExpr(elementBytes(getElementTypeOrSelf(v.getType())));
  auto boundOf = [&](StringRef symbol) -> std::optional<DimExpr> {
    for (const graph::DataDependentDim &d : shapes.dataDependent())
      if (d.symbol == symbol)
        return d.upperBound;
    return std::nullopt;
  };
  std::map<std::string, int> symbols;
  bytes.collectSymbols(symbols);
  bool depends = llvm::any_of(symbols, [&](auto &s) {
    return llvm::any_of(shapes.dataDependent(),
                        [&](const graph::DataDependentDim &d) { return d.symbol == s.first; });
  });
  bounded = true;
  if (!depends)
    return bytes;
  // Read-backs of inputs come before the arena is sized: such symbols need no bound.
  bool onlyInputs = llvm::all_of(symbols, [&](auto &s) {
    return llvm::all_of(shapes.dataDependent(), [&](const graph::DataDependentDim &d) {
      return d.symbol != s.first || (!d.isCount && isa<BlockArgument>(d.tensor) &&
                                     cast<BlockArgument>(d.tensor).getOwner()->getParentOp() == entry);
    });
  });
  if (onlyInputs)
    return bytes;
  std::function<std::optional<DimExpr>(StringRef)> eliminate = boundOf;
  for (int round = 0; round < 8; ++round) { // a bound may itself mention data-dependent symbols
    auto up = bytes.upperBound([&](StringRef s) -> std::optional<DimExpr> {
      for (const graph::DataDependentDim &d : shapes.dataDependent())
        if (d.symbol == s)
          return d.upperBound;
      return DimExpr::symbol(s);
    });
    if (!up)
      break;
    bytes = *up;
    symbols.clear();
    bytes.collectSymbols(symbols);
    if (llvm::none_of(symbols, [&](auto &s) {
          return llvm::any_of(shapes.dataDependent(), [&](auto &d) { return d.symbol == s.first; });
        }))
      return bytes;
  }
  bounded = false;
  return shapes.numElements(v) * DimExpr(elementBytes(getElementTypeOrSelf(v.getType())));
}

int StorageAnalysis::create(Memory memory, int64_t index, Value like, std::string label) {
  Storage s;
  bool bounded = true;
  s.bytes = reservedBytes(like, bounded);
  s.memory = !bounded && memory == Memory::Arena ? Memory::Dynamic : memory;
  s.index = index;
  s.element = getElementTypeOrSelf(like.getType());
  s.label = std::move(label);
  s.first = s.last = position;
  storages.push_back(std::move(s));
  return storages.size() - 1;
}

void StorageAnalysis::touch(Value v) {
  int s = storageOf(v);
  storages[s].last = std::max(storages[s].last, position);
  for (auto &loop : loops)
    loop.push_back(s);
}

int StorageAnalysis::weightIndex(Operation *source, const plan_ir::Packing *packing) {
  WeightUse use;
  if (auto get = dyn_cast<graph::GetWeightOp>(source))
    use.name = use.weight = get.getWeight().str();
  else
    use.constant = cast<graph::ConstantOp>(source).getValue(),
    use.name = "constant_" + std::to_string(weights.size());
  if (packing) {
    use.storage = packing->storage, use.packing = packing->parameters;
    use.name += " in " + use.storage;
    for (int64_t p : use.packing)
      use.name += " " + std::to_string(p);
  }
  // Another entry or target may use it already.
  auto known = llvm::find_if(weights, [&](const WeightUse &w) {
    return w.weight == use.weight && w.constant == use.constant && w.storage == use.storage &&
           w.packing == use.packing;
  });
  int64_t index = known - weights.begin();
  if (known == weights.end())
    weights.push_back(use);
  auto [it, inserted] = weightOf.try_emplace(index, 0);
  if (inserted)
    it->second = create(Memory::Weight, index, source->getResult(0), weights[index].name);
  if (packing)
    storages[it->second].bytes = DimExpr(packing->bytes);
  return it->second;
}

int StorageAnalysis::storageOfOperand(plan_ir::DispatchOp op, unsigned i) const {
  auto packed = packedOf.find({op, i});
  return packed != packedOf.end() ? packed->second : storageOf(op.getInputs()[i]);
}

// Does every reader want it packed?
static bool isOnlyReadPacked(Value v) {
  return llvm::all_of(v.getUses(), [](OpOperand &use) {
    if (isAlias(use.getOwner()))
      return use.getOperandNumber() == 0 && isOnlyReadPacked(use.getOwner()->getResult(0));
    auto d = dyn_cast<plan_ir::DispatchOp>(use.getOwner());
    return d && llvm::any_of(packingsOf(d),
                             [&](const plan_ir::Packing &p) { return p.operand == use.getOperandNumber(); });
  });
}

int64_t StorageAnalysis::stateIndex(StringRef name) {
  auto it = llvm::find(states, name);
  if (it == states.end())
    states.push_back(name.str()), it = std::prev(states.end());
  return it - states.begin();
}

static Value rootOf(Value v) {
  while (Operation *op = v.getDefiningOp()) {
    if (!isAlias(op))
      break;
    v = op->getOperand(0);
  }
  return v;
}

// A result that is only returned is written straight into the caller's buffer.
void StorageAnalysis::claimOutputs() {
  auto ret = cast<func::ReturnOp>(entry.getBody().front().getTerminator());
  for (auto [i, v] : llvm::enumerate(ret.getOperands())) {
    Value root = rootOf(v);
    Operation *def = root.getDefiningOp();
    bool bounded = true;
    reservedBytes(root, bounded);
    if (def && isa<plan_ir::DispatchOp>(def) && def->getBlock() == ret->getBlock() && bounded &&
        outputOf.try_emplace(root, i).second)
      continue;
    copiedOutputs.insert(i);
  }
}

LogicalResult StorageAnalysis::run() {
  for (BlockArgument a : entry.getArguments())
    of[a] = create(Memory::Input, a.getArgNumber(), a, ("input " + Twine(a.getArgNumber())).str());
  claimOutputs();
  return visitBlock(entry.getBody().front());
}

LogicalResult StorageAnalysis::visitBlock(Block &block) {
  for (Operation &o : block) {
    Operation *op = &o;
    ++position;
    if (isAlias(op)) {
      if (of.count(op->getOperand(0))) // else a view of what is only read packed
        of[op->getResult(0)] = storageOf(op->getOperand(0));
      continue;
    }
    // Sizes that views name are no bytes of the plan.
    bool isNamedOnly =
        isa<graph::ConstantOp>(op) && !op->use_empty() && llvm::all_of(op->getUses(), [](OpOperand &use) {
          return isAlias(use.getOwner()) && use.getOperandNumber() > 0;
        });
    if (isa<graph::SizesOp>(op) || isNamedOnly)
      continue;
    if (isa<graph::GetWeightOp, graph::ConstantOp>(op)) {
      if (op->use_empty() || !isOnlyReadPacked(op->getResult(0)))
        of[op->getResult(0)] = weightIndex(op);
      continue;
    }
    if (isa<graph::IfOp>(op)) {
      if (failed(visitIf(op)))
        return failure();
      continue;
    }
    if (isa<graph::WhileOp>(op)) {
      if (failed(visitWhile(op)))
        return failure();
      continue;
    }
    if (auto read = dyn_cast<graph::ReadStateOp>(op)) {
      bool updatedLater = llvm::any_of(block, [&](Operation &other) {
        auto u = dyn_cast<graph::UpdateStateOp>(other);
        return u && u.getState() == read.getState() && llvm::any_of(read->getUsers(), [&](Operation *user) {
                 Operation *here = block.findAncestorOpInBlock(*user);
                 return here && u->isBeforeInBlock(here);
               });
      });
      if (updatedLater)
        copiedReads.insert(op);
      of[read.getResult()] =
          updatedLater
              ? create(Memory::Arena, storages.size(), read.getResult(), read.getState().str())
              : create(Memory::State, stateIndex(read.getState()), read.getResult(), read.getState().str());
      continue;
    }
    if (auto update = dyn_cast<graph::UpdateStateOp>(op)) {
      touch(update.getValue());
      stateIndex(update.getState());
      continue;
    }
    if (auto ret = dyn_cast<func::ReturnOp>(op)) {
      for (auto [i, v] : llvm::enumerate(ret.getOperands())) {
        touch(v);
        if (needsOutputCopy(i))
          create(Memory::Output, i, v, ("output " + Twine(i)).str());
      }
      continue;
    }
    if (isa<graph::YieldOp>(op)) {
      for (Value v : op->getOperands())
        touch(v);
      continue;
    }
    auto dispatch = dyn_cast<plan_ir::DispatchOp>(op);
    if (!dispatch)
      return op->emitOpError(
          "is not part of a plan over tensors: expected plan.dispatch, a view, a weight, state or "
          "control flow here (an earlier stage left it behind)");
    for (const plan_ir::Packing &p : packingsOf(dispatch)) {
      Operation *source = rootOf(dispatch.getInputs()[p.operand]).getDefiningOp();
      if (!source || !isa<graph::GetWeightOp, graph::ConstantOp>(source))
        return op->emitOpError() << "wants operand " << p.operand << " packed, which is not a constant";
      packedOf[{op, p.operand}] = weightIndex(source, &p);
    }
    for (auto [i, v] : llvm::enumerate(op->getOperands()))
      if (!packedOf.contains({op, i}))
        touch(v);
    auto label = op->getAttrOfType<StringAttr>("label");
    for (Value r : op->getResults()) {
      auto out = outputOf.find(r);
      bool isOutput = out != outputOf.end();
      of[r] = create(isOutput ? Memory::Output : Memory::Arena, isOutput ? out->second : storages.size(), r,
                     label ? label.str() : labelOf(op->getLoc()));
    }
  }
  return success();
}

LogicalResult StorageAnalysis::visitIf(Operation *op) {
  touch(op->getOperand(0));
  for (Value r : op->getResults())
    of[r] = create(Memory::Arena, storages.size(), r, labelOf(op->getLoc()));
  for (Region &region : op->getRegions())
    if (failed(visitBlock(region.front())))
      return failure();
  ++position;
  for (Value r : op->getResults())
    touch(r);
  return success();
}

LogicalResult StorageAnalysis::visitWhile(Operation *op) {
  auto loop = cast<graph::WhileOp>(op);
  loops.emplace_back();
  llvm::SmallVector<int> own;
  for (auto [i, init] : llvm::enumerate(loop.getInits())) {
    touch(init);
    int c = create(Memory::Arena, storages.size(), loop.getBefore().getArgument(i), labelOf(op->getLoc()));
    carriedOf[{op, i}] = c;
    of[loop.getBefore().getArgument(i)] = c;
    own.push_back(c);
  }
  for (auto [i, r] : llvm::enumerate(loop.getResults())) {
    of[r] = create(Memory::Arena, storages.size(), r, labelOf(op->getLoc()));
    of[loop.getBody().getArgument(i)] = of[r];
    own.push_back(of[r]);
  }
  if (failed(visitBlock(loop.getBefore().front())) || failed(visitBlock(loop.getBody().front())))
    return failure();
  ++position;
  for (int s : own)
    storages[s].last = position;
  for (int s : loops.pop_back_val())
    storages[s].last = std::max(storages[s].last, position);
  return success();
}

} // namespace quaver::plan_emit
