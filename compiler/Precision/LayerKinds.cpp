#include "compiler/Precision/LayerKinds.h"
#include "compiler/Precision/Values.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace quaver::precision {
namespace {

constexpr size_t kFar = 4096; // ops looked at from one product

bool isSoftmaxLike(Operation *op) { return isa<graph::SoftmaxOp, graph::LogSoftmaxOp, graph::ExpOp>(op); }
bool isNorm(Operation *op) { return isa<graph::LayerNormOp, graph::RmsNormOp>(op); }

// A sum of two computed tensors of the product's own width: where a layer's result meets the stream it was
// computed from. (The sum inside a rotary embedding has the width of one head.)
bool isResidual(Operation *op, Value product) {
  if (!isa<graph::AddOp>(op) || isConstant(op->getOperand(0)) || isConstant(op->getOperand(1)))
    return false;
  auto width = [](Value v) {
    auto type = cast<RankedTensorType>(v.getType());
    return type.getRank() ? type.getShape().back() : 1;
  };
  return width(op->getOperand(0)) == width(product) && width(op->getOperand(1)) == width(product);
}

// Visits ops behind a value until `enter` declines one; true as soon as `found` says so.
bool reaches(Value from, function_ref<bool(OpOperand &)> found, function_ref<bool(Operation *)> enter) {
  SmallVector<Value> open = {from};
  SmallPtrSet<Operation *, 32> seen;
  while (!open.empty() && seen.size() < kFar) {
    Value v = open.pop_back_val();
    for (OpOperand &use : v.getUses()) {
      Operation *user = use.getOwner();
      if (isa<graph::ShapeOp>(user))
        continue;
      if (found(use))
        return true;
      if (!enter(user) || !seen.insert(user).second)
        continue;
      llvm::append_range(open, user->getResults());
    }
  }
  return false;
}

// The same towards the inputs.
bool comesFrom(Value to, function_ref<bool(Operation *)> found, function_ref<bool(Operation *)> enter) {
  SmallVector<Value> open = {to};
  SmallPtrSet<Operation *, 32> seen;
  while (!open.empty() && seen.size() < kFar) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (found(op))
      return true;
    if (enter(op))
      llvm::append_range(open, op->getOperands());
  }
  return false;
}

bool isNoProduct(Operation *op) { return !isProduct(op); }

graph::GetWeightOp weightOf(Value v) {
  for (Operation *op = v.getDefiningOp(); op;
       op = op->getNumOperands() ? op->getOperand(0).getDefiningOp() : nullptr)
    if (auto get = dyn_cast<graph::GetWeightOp>(op))
      return get;
  return {};
}

// Is a slice or look-up taken of a weight of rank 3 or more, or is it used as a stack?
bool isStacked(Value v) {
  graph::GetWeightOp get = weightOf(v);
  return get && cast<RankedTensorType>(get.getType()).getRank() >= 3;
}

// What names say where structure does not.
std::string kindByName(const std::string &node, const std::string &weight) {
  std::string text = llvm::StringRef(node + " " + weight).lower();
  auto has = [&](std::initializer_list<const char *> words) {
    return llvm::any_of(words, [&](const char *w) { return llvm::StringRef(text).contains(w); });
  };
  if (has({"router", "mlp.gate.weight", "mlp/gate/"}))
    return "router";
  if (has({"expert"}))
    return "expert";
  if (has({"lm_head", "output_head", "classifier"}))
    return "output_head";
  if (has({"o_proj", "out_proj", "attention/output", "attention.output"}))
    return "attention_output";
  if (has({"q_proj", "k_proj", "v_proj", "qkv", "kv_a_proj", "kv_b_proj", "q_a_proj", "q_b_proj"}))
    return "attention_qkv";
  return "ffn";
}

class Kinds {
public:
  explicit Kinds(ModuleOp module) {
    module.walk([&](Operation *op) {
      if (isProduct(op))
        products.push_back(op);
      if (isTableRead(op) && !isStacked(op->getOperand(0))) {
        kinds[op] = "embedding";
        if (auto get = weightOf(op->getOperand(0)))
          tables.insert(get.getWeightAttr().getAttr());
      }
      if (isNorm(op))
        kinds[op] = "norm";
    });
    for (Operation *op : products)
      kinds[op] = withoutWeight(op);
    for (Operation *op : products)
      if (kinds[op].empty())
        kinds[op] = byStructure(op);
    lowRank();
    for (Operation *op : products)
      if (kinds[op].empty())
        kinds[op] = kindByName(nodeName(op->getLoc()), weightNameOf(op->getOperand(1)));
  }
  llvm::DenseMap<Operation *, std::string> kinds;

private:
  // Kinds of products that have no weight on the right, and of convolutions; empty for the others.
  std::string withoutWeight(Operation *op) {
    if (!isa<graph::MatmulOp>(op))
      return "conv";
    if (cast<RankedTensorType>(op->getOperand(0).getType()).getShape().back() == 1)
      return "outer_product";
    if (isConstant(op->getOperand(1)))
      return "";
    if (stackLookUp(op->getOperand(0)) || stackLookUp(op->getOperand(1)))
      return "expert";
    if (isConstant(op->getOperand(0)))
      return "product";
    // Not through a residual sum: behind one lies the softmax of a router.
    Value result = op->getResult(0);
    auto before = [](Operation *o) {
      return isNoProduct(o) && !isNorm(o) && !isa<graph::AddOp, graph::TopKOp>(o);
    };
    bool intoSoftmax =
        reaches(result, [](OpOperand &use) { return isSoftmaxLike(use.getOwner()); }, isNoProduct);
    bool outOfSoftmax = comesFrom(op->getOperand(0), isSoftmaxLike, before);
    return intoSoftmax || outOfSoftmax ? "attention_product" : "product";
  }

  bool isAttention(Operation *op) { return isProduct(op) && kinds[op] == "attention_product"; }

  std::string byStructure(Operation *op) {
    Value result = op->getResult(0);
    if (reaches(
            result, [](OpOperand &use) { return isa<graph::TopKOp, graph::RouteOp>(use.getOwner()); },
            isNoProduct))
      return "router";
    if (isStacked(op->getOperand(1)))
      return "expert";
    auto beforeResidual = [&](Operation *o) { return isNoProduct(o) && !isResidual(o, result); };
    if (reaches(result, [&](OpOperand &use) { return isAttention(use.getOwner()); }, beforeResidual))
      return "attention_qkv";
    if (comesFrom(op->getOperand(0), [&](Operation *o) { return isAttention(o); }, isNoProduct))
      return "attention_output";
    graph::GetWeightOp get = weightOf(op->getOperand(1));
    auto calm = [&](Operation *o) {
      return isNoProduct(o) && !isResidual(o, result) && !isNorm(o) && !isa<graph::ReduceOp>(o);
    };
    if ((get && tables.contains(get.getWeightAttr().getAttr())) ||
        reaches(result, [](OpOperand &use) { return isa<func::ReturnOp>(use.getOwner()); }, calm))
      return "output_head";
    return "";
  }

  // x -> down -> norm -> up, where up is a projection: so is down.
  void lowRank() {
    for (Operation *op : llvm::reverse(products)) {
      if (!kinds[op].empty())
        continue;
      Value result = op->getResult(0);
      auto straight = [&](Operation *o) {
        return isNoProduct(o) && !isResidual(o, result) && !isSoftmaxLike(o);
      };
      auto isProjection = [&](OpOperand &use) {
        return isProduct(use.getOwner()) && use.getOperandNumber() == 0 &&
               kinds[use.getOwner()] == "attention_qkv";
      };
      if (reaches(op->getResult(0), isProjection, straight))
        kinds[op] = "attention_qkv";
    }
  }

  SmallVector<Operation *> products;
  llvm::DenseSet<StringAttr> tables;
};

} // namespace

std::string weightNameOf(Value v) {
  if (Operation *lookUp = stackLookUp(v))
    v = lookUp->getOperand(0);
  graph::GetWeightOp get = isConstant(v) ? weightOf(v) : graph::GetWeightOp();
  if (!get)
    return "";
  auto symbol = SymbolTable::lookupNearestSymbolFrom<graph::WeightOp>(get, get.getWeightAttr());
  return symbol ? symbol.getSourceName().str() : get.getWeight().str();
}

llvm::DenseMap<Operation *, std::string> layerKinds(ModuleOp module) { return Kinds(module).kinds; }

} // namespace quaver::precision
