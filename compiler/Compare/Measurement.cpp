#include "compiler/Compare/Measurement.h"
#include "compiler/Precision/Values.h"
#include <algorithm>
#include <limits>

using namespace mlir;

namespace quaver::compare {

using interpreter::Interpreter;
using interpreter::Tensor;

double Effect::worstSqnr() const {
  double worst = std::numeric_limits<double>::infinity();
  for (const Difference &d : outputs)
    worst = std::min(worst, d.notFinite ? -300.0 : d.sqnr().value_or(worst));
  return worst;
}

double Effect::relativeNoise() const {
  double sum = 0;
  for (const Difference &d : outputs)
    sum += d.signal > 0 ? d.noise / d.signal : d.noise > 0;
  return sum;
}

Measurement::Measurement(Side reference, Side chosen, int effects, Progress progress)
    : reference(reference), chosen(chosen), effectCount(effects), progress(std::move(progress)),
      referenceNodes(reference.entry), chosenNodes(chosen.entry) {
  for (const NodeValues::Handed &h : referenceNodes.all())
    if (!h.isCastOf)
      referenceValue[h.key] = h.value;
}

NodeError &Measurement::errorOf(const NodeValues::Handed &handed) {
  NodeError &e = found[handed.key];
  e.op = handed.value.getOwner();
  return e;
}

LogicalResult Measurement::runReference(ArrayRef<Tensor> inputs) {
  Interpreter machine(reference.module, reference.weights);
  right.clear();
  int done = 0, total = int(reference.entry.getBody().front().getOperations().size());
  machine.setHook([&](Operation *op, ArrayRef<Tensor>, MutableArrayRef<Tensor> results) {
    if (op->getBlock() != &reference.entry.getBody().front())
      return;
    progress("running as the file says", ++done, total);
    right[op].assign(results.begin(), results.end());
  });
  auto outputs = machine.run(reference.entry.getName(), inputs);
  if (failed(outputs))
    return failure();
  referenceOutputs = *outputs;
  return success();
}

LogicalResult Measurement::runChosen(ArrayRef<Tensor> inputs) {
  Interpreter machine(chosen.module, chosen.weights);
  int done = 0, total = int(chosen.entry.getBody().front().getOperations().size());
  machine.setHook([&](Operation *op, ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results) {
    if (observer)
      observer(op, operands, results);
    if (op->getBlock() != &chosen.entry.getBody().front())
      return;
    progress("running as decided", ++done, total);
    for (const NodeValues::Handed &h : chosenNodes.madeBy(op)) {
      auto it = referenceValue.find(h.key);
      if (it == referenceValue.end() || h.isCastOf)
        continue;
      const Tensor &r = right[it->second.getOwner()][it->second.getResultNumber()];
      const Tensor &v = results[h.value.getResultNumber()];
      NodeError &e = errorOf(h);
      e.order = size_t(done), e.type = v.type(), e.elements = v.size();
      if (r.shape() == v.shape())
        e.total.add(r, v);
      else
        ++e.otherShapes;
    }
  });
  auto outputs = machine.run(chosen.entry.getName(), inputs);
  if (failed(outputs))
    return failure();
  chosenOutputs = *outputs;
  outputErrors.resize(chosenOutputs.size());
  for (auto [d, r, v] : llvm::zip(outputErrors, referenceOutputs, chosenOutputs)) {
    if (r.shape() != v.shape())
      return chosen.entry.emitError()
             << "an output is " << v.typeString() << " as decided and " << r.typeString()
             << " as the file says: which elements there are depends on data, so they cannot be compared";
    d.add(r, v);
  }
  return success();
}

LogicalResult Measurement::runForced(ArrayRef<Tensor> inputs) {
  Interpreter machine(chosen.module, chosen.weights);
  ownValues.clear();
  int done = 0, total = int(chosen.entry.getBody().front().getOperations().size());
  machine.setHook([&](Operation *op, ArrayRef<Tensor>, MutableArrayRef<Tensor> results) {
    if (op->getBlock() != &chosen.entry.getBody().front())
      return;
    progress("running with right inputs", ++done, total);
    for (const NodeValues::Handed &h : chosenNodes.madeBy(op)) {
      auto it = referenceValue.find(h.key);
      if (it == referenceValue.end())
        continue;
      const Tensor &r = right[it->second.getOwner()][it->second.getResultNumber()];
      Tensor &v = results[h.value.getResultNumber()];
      if (r.shape() != v.shape())
        continue;
      Tensor handed = r.to(v.type());
      if (h.isCastOf) {
        v = handed;
        continue;
      }
      // Narrow values that an op only moves were rounded by the node that reads them, unless it is a table
      // that is stored so.
      bool onlyMoves = precision::movesOperand0(op) && !op->hasAttr(precision::kStorage);
      Difference d;
      d.add(onlyMoves ? handed : r, v);
      errorOf(h).own.merge(d);
      if (!d.isExact())
        ownValues[h.key] = v;
      v = handed;
    }
  });
  return LogicalResult(machine.run(chosen.entry.getName(), inputs));
}

std::vector<std::string> Measurement::nodesOfLowestOwn() const {
  std::map<std::string, double> worst;
  for (auto &[key, e] : found) {
    if (e.own.isExact())
      continue;
    double ratio = e.own.notFinite ? -1e9 : *e.own.sqnr();
    auto [it, isNew] = worst.try_emplace(key.first, ratio);
    it->second = std::min(it->second, ratio);
  }
  std::vector<std::string> names;
  for (auto &[node, ratio] : worst)
    names.push_back(node);
  llvm::stable_sort(names, [&](auto &a, auto &b) { return worst[a] < worst[b]; });
  if (names.size() > size_t(effectCount))
    names.resize(size_t(effectCount));
  return names;
}

// Ops of the reference's entry that read what the sources make, directly or not.
llvm::DenseSet<Operation *> Measurement::dependents(const llvm::DenseSet<Operation *> &sources) {
  llvm::DenseSet<Operation *> all;
  for (Operation &op : reference.entry.getBody().front()) {
    bool depends = op.walk([&](Operation *inner) {
                       for (Value v : inner->getOperands())
                         if (Operation *def = v.getDefiningOp(); sources.contains(def) || all.contains(def))
                           return WalkResult::interrupt();
                       return WalkResult::advance();
                     }).wasInterrupted();
    if (depends)
      all.insert(&op);
  }
  return all;
}

LogicalResult Measurement::runEffects(ArrayRef<Tensor> inputs) {
  if (runs == 0)
    for (const std::string &node : nodesOfLowestOwn())
      effectOf[node].outputs.resize(referenceOutputs.size());
  int done = 0;
  for (auto &[node, effect] : effectOf) {
    progress("measuring effects on the outputs", done++, int(effectOf.size()));
    llvm::DenseMap<Operation *, Results> known;
    llvm::DenseSet<Operation *> sources;
    for (auto it = ownValues.lower_bound({node, 0}); it != ownValues.end() && it->first.first == node; ++it) {
      OpResult value = referenceValue.at(it->first);
      Operation *op = value.getOwner();
      Results &results = known.try_emplace(op, right[op]).first->second;
      Tensor &r = results[value.getResultNumber()];
      r = it->second.to(r.type());
      sources.insert(op);
    }
    if (sources.empty()) { // exact in this run
      for (auto [d, r] : llvm::zip(effect.outputs, referenceOutputs))
        d.add(r, r);
      continue;
    }
    llvm::DenseSet<Operation *> again = dependents(sources);
    Interpreter machine(reference.module, reference.weights);
    machine.setRecall([&](Operation *op) -> std::optional<Results> {
      if (op->getBlock() != &reference.entry.getBody().front())
        return std::nullopt;
      if (auto it = known.find(op); it != known.end())
        return it->second;
      if (again.contains(op))
        return std::nullopt;
      return right[op];
    });
    auto outputs = machine.run(reference.entry.getName(), inputs);
    if (failed(outputs))
      return failure();
    for (auto [d, r, v] : llvm::zip(effect.outputs, referenceOutputs, *outputs))
      if (r.shape() == v.shape())
        d.add(r, v);
      else
        d.notFinite += r.size();
  }
  return success();
}

LogicalResult Measurement::addRun(ArrayRef<Tensor> inputs) {
  if (failed(runReference(inputs)) || failed(runChosen(inputs)) || failed(runForced(inputs)) ||
      (effectCount > 0 && failed(runEffects(inputs))))
    return failure();
  ++runs;
  return success();
}

} // namespace quaver::compare
