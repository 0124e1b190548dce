#include "compiler/Pipeline/FoldWeights.h"
#include "compiler/Interpreter/Interpreter.h"
#include "dialects/Graph/IR/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace quaver::pipeline {
namespace {

constexpr int64_t kSmallBytes = 16 << 10; // may grow up to this much
constexpr int64_t kInlineElements = 64;

bool isConstant(Value v) {
  return v.getDefiningOp() && isa<graph::GetWeightOp, graph::ConstantOp>(v.getDefiningOp());
}

// FP8 codes stay codes, however small the tensor: what they stand for is computed where it is used.
bool widensCodes(Operation *op) {
  auto isCode = [](Value v) {
    Type t = getElementTypeOrSelf(v.getType());
    return isa<FloatType>(t) && t.getIntOrFloatBitWidth() <= 8;
  };
  return isa<graph::DequantizeOp>(op) || (isa<graph::CastOp>(op) && isCode(op->getOperand(0)) && !isCode(op->getResult(0)));
}

bool isWorthFolding(Operation *op) {
  if (op->getNumOperands() == 0 || op->getNumRegions() || !isPure(op) ||
      !llvm::all_of(op->getOperands(), isConstant))
    return false;
  if (!interpreter::Interpreter::knows(op) || widensCodes(op))
    return false;
  int64_t in = 0, out = 0;
  for (Value v : op->getOperands())
    in += storageBytes(cast<RankedTensorType>(v.getType()));
  for (Type t : op->getResultTypes()) {
    auto r = dyn_cast<RankedTensorType>(t);
    if (!r || !r.hasStaticShape())
      return false;
    out += storageBytes(r);
  }
  return out <= std::max(in, kSmallBytes);
}

Value materialize(OpBuilder &b, Operation *op, const interpreter::Tensor &value, RankedTensorType type,
                  ModuleOp module, WeightStore &weights) {
  if (type.getNumElements() <= kInlineElements)
    return graph::ConstantOp::create(b, op->getLoc(), type, attributeOf(type, value.span()));
  std::string source, program = op->getName().stripDialect().str();
  for (Value v : op->getOperands())
    if (auto get = v.getDefiningOp<graph::GetWeightOp>()) {
      const WeightData *w = weights.find(get.getWeight());
      source = w->sourceName;
      program = w->program.empty() ? program : w->program + ", " + program;
      break;
    }
  std::vector<char> bytes(value.span().begin(), value.span().end());
  std::string symbol =
      weights.add(source.empty() ? "folded" : source, type, std::move(bytes), source, program);
  OpBuilder top(module.getContext());
  top.setInsertionPointToStart(module.getBody());
  graph::WeightOp::create(top, op->getLoc(), symbol, type, source, "", 0, storageBytes(type));
  return graph::GetWeightOp::create(b, op->getLoc(), type,
                                    FlatSymbolRefAttr::get(module.getContext(), symbol));
}

} // namespace

LogicalResult foldWeights(ModuleOp module, WeightStore &weights) {
  interpreter::Interpreter interpreter(module, weights);
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    if (!isWorthFolding(op))
      continue;
    SmallVector<interpreter::Tensor> operands;
    for (Value v : op->getOperands()) {
      if (auto get = v.getDefiningOp<graph::GetWeightOp>())
        operands.push_back(interpreter::Tensor::of(*weights.find(get.getWeight())));
      else
        operands.push_back(interpreter::Tensor::of(v.getDefiningOp<graph::ConstantOp>().getValue()));
    }
    auto values = interpreter.evaluate(op, operands);
    if (failed(values))
      return failure();
    OpBuilder b(op);
    for (auto [r, value] : llvm::zip(op->getResults(), *values))
      r.replaceAllUsesWith(materialize(b, op, value, cast<RankedTensorType>(r.getType()), module, weights));
    op->erase();
  }
  // What nobody reads any more.
  module.walk([](graph::GetWeightOp get) {
    if (get->use_empty())
      get.erase();
  });
  llvm::StringSet<> used;
  module.walk([&](graph::GetWeightOp get) { used.insert(get.getWeight()); });
  for (graph::WeightOp w : llvm::make_early_inc_range(module.getOps<graph::WeightOp>()))
    if (!used.contains(w.getSymName())) {
      weights.erase(w.getSymName());
      w.erase();
    }
  return success();
}

} // namespace quaver::pipeline
