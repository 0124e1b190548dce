#include "compiler/Dispatch/Clusters.h"
#include "compiler/Dispatch/FusionRules.h"
#include "compiler/Dispatch/Recompute.h"
#include "compiler/Dispatch/Views.h"
#include "llvm/ADT/PointerIntPair.h"

using namespace mlir;
using namespace quaver::graph;

namespace quaver::dispatch {

Clusters::Clusters(Block &block, ShapeAnalysis &shapes, const FormOptions &options)
    : block(block), shapes(shapes), options(options) {
  int n = 0;
  for (Operation &op : block)
    position[&op] = n++;
  if (!options.fuse)
    return;
  views = findViews(block, shapes);
  recomputed = findRecomputed(block, shapes);
}

int Clusters::of(Operation *op) const {
  auto it = ofOp.find(op);
  return it == ofOp.end() ? -1 : it->second;
}

bool Clusters::readsInPlace(Operation *op) const {
  OpClass kind = classify(op);
  return kind == OpClass::Loop || kind == OpClass::Contraction || views.contains(op);
}

bool Clusters::isCopiedAt(OpOperand &use) const {
  Operation *def = use.get().getDefiningOp(), *user = use.getOwner();
  if (!def)
    return false;
  bool inPlace = readsInPlace(user) && !isSizeOperand(use);
  if (isInlineConstant(def) || isa<SizesOp>(def))
    return !inPlace;
  if (def->getBlock() != &block || isSizeOperand(use))
    return false;
  if (inPlace)
    return views.contains(def) && classify(user) != OpClass::Loop;
  return isCopied(def) && classify(user) != OpClass::Window;
}

void Clusters::producers(Value v, llvm::SmallSetVector<int, 4> &found) const {
  Operation *def = v.getDefiningOp();
  if (!def || def->getBlock() != &block)
    return;
  if (int c = of(def); c >= 0) {
    found.insert(c);
  } else if (isCopied(def) || classify(def) == OpClass::Alias) {
    for (OpOperand &o : def->getOpOperands())
      if (!isSizeOperand(o))
        producers(o.get(), found);
  }
}

void Clusters::readers(Value v, llvm::SmallSetVector<Operation *, 8> &found) const {
  for (Operation *user : v.getUsers()) {
    Operation *here = block.findAncestorOpInBlock(*user);
    if (!here)
      continue;
    bool through = here == user && of(here) < 0 && (isCopied(here) || classify(here) == OpClass::Alias);
    if (through)
      readers(here->getResult(0), found);
    else
      found.insert(here);
  }
}

bool Clusters::isReadOnlyBy(int cluster, Operation *besides) const {
  for (Operation *op : clusters[cluster].ops)
    for (Value r : op->getResults()) {
      llvm::SmallSetVector<Operation *, 8> found;
      readers(r, found);
      for (Operation *reader : found)
        if (reader != besides && of(reader) != cluster)
          return false;
    }
  return true;
}

bool Clusters::wouldCycle(int a, int b, Operation *op) const {
  SmallVector<Operation *> inside;
  if (op)
    inside.push_back(op);
  for (int c : {a, b})
    if (c >= 0)
      inside.append(clusters[c].ops);
  int first = INT_MAX;
  for (Operation *o : inside)
    first = std::min(first, position.lookup(o));
  auto isInside = [&](Operation *o) {
    int c = of(o);
    return o == op || (c >= 0 && (c == a || c == b));
  };
  // Walks to everything that must run before. `outside`: on the way some other launch, or op that stays
  // outside, was met.
  using Step = llvm::PointerIntPair<Operation *, 1, bool>;
  llvm::DenseSet<Operation *> seen[2];
  SmallVector<Step> work;
  bool found = false;
  auto pushOperands = [&](Operation *o, bool outside) {
    o->walk([&](Operation *nested) {
      for (OpOperand &use : nested->getOpOperands()) {
        Operation *def = use.get().getDefiningOp();
        def = def ? block.findAncestorOpInBlock(*def) : nullptr;
        if (!def || def == o)
          continue;
        bool before = outside || isSizeOperand(use); // sizes are known before a launch
        if (isInside(def))
          found |= before;
        else if (seen[before].insert(def).second)
          work.push_back(Step(def, before));
      }
    });
  };
  for (Operation *o : inside)
    pushOperands(o, false);
  while (!work.empty() && !found) {
    Step step = work.pop_back_val();
    Operation *o = step.getPointer();
    int c = of(o);
    if (c < 0) {
      if (position.lookup(o) < first)
        continue; // nothing before the first member depends on one
      // Copied ops and views between two members become a part of the launch.
      bool through = isCopied(o) || classify(o) == OpClass::Alias || classify(o) == OpClass::Literal;
      pushOperands(o, step.getInt() || !through);
      continue;
    }
    if (position.lookup(clusters[c].ops.back()) < first)
      continue;
    for (Operation *m : clusters[c].ops)
      pushOperands(m, true);
  }
  return found;
}

void Clusters::add(int cluster, Operation *op) {
  ofOp[op] = cluster;
  auto &ops = clusters[cluster].ops;
  ops.insert(
      llvm::upper_bound(ops, op,
                        [&](Operation *x, Operation *y) { return position.lookup(x) < position.lookup(y); }),
      op);
}

void Clusters::merge(int into, int from) {
  for (Operation *op : clusters[from].ops)
    add(into, op);
  clusters[from].ops.clear();
}

void Clusters::sink(int product) {
  SmallVector<Operation *> ops(clusters[product].ops);
  for (Operation *op : llvm::reverse(ops)) {
    if (classify(op) != OpClass::Elementwise)
      continue;
    llvm::SmallSetVector<Operation *, 8> found;
    readers(op->getResult(0), found);
    int reader = found.empty() ? -1 : of(found.front());
    if (reader < 0 || reader == product ||
        !llvm::all_of(found, [&](Operation *r) { return of(r) == reader; }))
      continue;
    const Cluster &to = clusters[reader];
    bool fits = (to.shape == Shape::Rows || to.shape == Shape::Pointwise) &&
                shapes.get(op->getResult(0)).dims == to.domain;
    // What it reads from the product must be stored for others already.
    bool saves = false;
    for (Value v : op->getOperands()) {
      Operation *def = v.getDefiningOp();
      if (!def || of(def) != product)
        continue;
      llvm::SmallSetVector<Operation *, 8> others;
      readers(v, others);
      saves = llvm::any_of(others, [&](Operation *r) { return r != op && of(r) != product; });
      fits &= saves;
    }
    if (!fits || !saves)
      continue;
    llvm::erase(clusters[product].ops, op);
    add(reader, op);
  }
}

int Clusters::addAlone(Operation *op) {
  clusters.push_back({});
  clusters.back().domain = shapes.get(op->getResult(0)).dims;
  add(clusters.size() - 1, op);
  return clusters.size() - 1;
}

void Clusters::place(Operation *op) {
  FusionRules rules(*this);
  OpClass kind = classify(op);
  if (options.fuse && kind != OpClass::Contraction && kind != OpClass::Loop && kind != OpClass::Window) {
    llvm::SmallSetVector<int, 4> found;
    for (OpOperand &use : op->getOpOperands())
      if (!isSizeOperand(use))
        producers(use.get(), found);
    SmallVector<int> candidates(found.begin(), found.end());
    // The producer that is ready last: what it waits for is there already.
    llvm::sort(candidates, [&](int x, int y) {
      return position.lookup(clusters[x].ops.back()) > position.lookup(clusters[y].ops.back());
    });
    for (int i : candidates) {
      std::string why = rules.whyNotJoin(clusters[i], i, op);
      if (why.empty() && wouldCycle(i, -1, op))
        why = "another launch would lie between them";
      if (!why.empty()) {
        if (options.explain)
          op->emitRemark() << "does not join " << clusters[i].ops.back()->getName().getStringRef() << ": "
                           << why;
        continue;
      }
      rules.join(clusters[i], op);
      add(i, op);
      for (int other : candidates)
        if (other != i && rules.mayMerge(i, other, op) && !wouldCycle(i, other, nullptr))
          merge(i, other);
      return;
    }
  }
  clusters.push_back({});
  Cluster &c = clusters.back();
  c.domain = shapes.get(op->getResult(0)).dims;
  if (kind == OpClass::Contraction)
    c.shape = Shape::Contraction;
  else if (kind == OpClass::Loop)
    c.shape = Shape::Alone;
  else if (kind == OpClass::Window)
    c.shape = Shape::Reduction;
  else
    rules.join(c, op);
  add(clusters.size() - 1, op);
}

void Clusters::decide() {
  for (Operation &op : block) {
    OpClass kind = classify(&op);
    if (kind == OpClass::Outside || kind == OpClass::Literal || kind == OpClass::Alias || isCopied(&op))
      continue;
    place(&op);
  }
  for (size_t i = 0; i < clusters.size(); ++i)
    if (clusters[i].shape == Shape::Contraction)
      sink(i);
}

} // namespace quaver::dispatch
