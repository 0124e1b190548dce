#include "compiler/Compare/NodeValues.h"
#include "compiler/Precision/Values.h"
#include "dialects/Graph/IR/GraphDialect.h"
#include "llvm/ADT/SetVector.h"
#include <set>

using namespace mlir;

namespace quaver::compare {

using precision::elementOf;

bool isConversion(Operation *op) {
  if (isa<graph::QuantizeOp, graph::DequantizeOp, graph::DynamicQuantizeOp>(op))
    return true;
  return isa<graph::CastOp>(op) && isa<FloatType>(elementOf(op->getOperand(0))) &&
         isa<FloatType>(elementOf(op->getResult(0)));
}

namespace {

/// The op of the entry's own block that an op is, or lies in.
Operation *inEntry(Block *body, Operation *op) {
  while (op && op->getBlock() != body)
    op = op->getParentOp();
  return op;
}

// Results of casts in the same node count as the value that is cast: in which type it is handed on is no
// difference.
OpResult rootOf(OpResult value, StringRef node) {
  for (Operation *op = value.getOwner(); isa<graph::CastOp>(op) && isConversion(op);) {
    auto from = dyn_cast<OpResult>(op->getOperand(0));
    if (!from || precision::nodeName(from.getOwner()->getLoc()) != node)
      break;
    value = from, op = from.getOwner();
  }
  return value;
}

} // namespace

NodeValues::NodeValues(func::FuncOp entry) : body(&entry.getBody().front()) {
  std::map<std::string, llvm::SetVector<Value>> handed;
  DenseMap<Value, Value> castOf;
  for (Operation &op : *body) {
    std::string node = precision::nodeName(op.getLoc());
    if (node.empty() || op.hasTrait<OpTrait::IsTerminator>() || isa<graph::SizesOp, graph::ShapeOp>(op))
      continue;
    for (OpResult r : op.getResults()) {
      bool isHanded =
          isa<RankedTensorType>(r.getType()) && !precision::isConstant(r) &&
          llvm::any_of(r.getUsers(), [&](Operation *user) {
            Operation *reader = inEntry(body, user);
            return reader->hasTrait<OpTrait::IsTerminator>() || precision::nodeName(reader->getLoc()) != node;
          });
      if (!isHanded)
        continue;
      OpResult root = rootOf(r, node);
      handed[node].insert(root);
      if (root != r)
        castOf[r] = root;
    }
  }
  DenseMap<Value, NodeKey> keys;
  for (auto &[node, list] : handed)
    for (auto [i, v] : llvm::enumerate(llvm::reverse(list)))
      keys[v] = {node, unsigned(i)};
  for (Operation &op : *body) {
    size_t first = values.size();
    for (OpResult r : op.getResults()) {
      Value root = castOf.lookup(r);
      auto it = keys.find(root ? root : Value(r));
      if (it == keys.end())
        continue;
      indexOf[r] = values.size();
      values.push_back({it->second, r, bool(root)});
    }
    if (values.size() > first)
      ranges[&op] = {first, values.size() - first};
  }
}

ArrayRef<NodeValues::Handed> NodeValues::madeBy(Operation *op) const {
  auto it = ranges.find(op);
  return it == ranges.end() ? ArrayRef<Handed>()
                            : ArrayRef<Handed>(values).slice(it->second.first, it->second.second);
}

std::vector<std::string> NodeValues::inputsOf(StringRef node) const {
  std::set<std::string> found;
  llvm::SetVector<Value> open;
  auto openOperands = [&](Operation *op) {
    op->walk([&](Operation *inner) { open.insert(inner->operand_begin(), inner->operand_end()); });
  };
  for (Operation &op : *body)
    if (precision::nodeName(op.getLoc()) == node)
      openOperands(&op);
  for (size_t i = 0; i < open.size(); ++i) {
    Operation *op = open[i].getDefiningOp();
    if (!op || op->getBlock() != body)
      continue;
    auto it = indexOf.find(open[i]);
    if (isConversion(op))
      openOperands(op);
    else if (it != indexOf.end() && values[it->second].key.first != node)
      found.insert(values[it->second].key.first);
  }
  return {found.begin(), found.end()};
}

std::vector<std::string> NodeValues::readersOf(Value value) const {
  std::set<std::string> found;
  llvm::SetVector<Value> open;
  open.insert(value);
  for (size_t i = 0; i < open.size(); ++i)
    for (Operation *user : open[i].getUsers()) {
      Operation *reader = inEntry(body, user);
      if (isConversion(reader) || precision::movesOperand0(reader))
        open.insert(reader->result_begin(), reader->result_end());
      else if (std::string node = precision::nodeName(reader->getLoc()); !node.empty())
        found.insert(node);
    }
  return {found.begin(), found.end()};
}

} // namespace quaver::compare
