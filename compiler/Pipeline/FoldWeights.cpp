#include "compiler/Pipeline/FoldWeights.h"
#include "compiler/Interpreter/Interpreter.h"
#include "compiler/Pipeline/ScaleLint.h"
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
  return isa<graph::DequantizeOp>(op) ||
         (isa<graph::CastOp>(op) && isCode(op->getOperand(0)) && !isCode(op->getResult(0)));
}

// Scales that belong to codes are repeated where they are used, too: the artifact holds the pair.
bool repeatsScales(Operation *op, const WeightStore &weights) {
  auto gather = dyn_cast<graph::GatherOp>(op);
  auto get = gather ? gather.getData().getDefiningOp<graph::GetWeightOp>() : graph::GetWeightOp();
  return get && weights.isScales(get.getWeight());
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

// As scale recipes are spelled; blocks of the last two dimensions say it.
StringRef recipeOf(ArrayRef<int64_t> blocks) {
  int64_t n = blocks.size(), columns = n ? blocks[n - 1] : 0, rows = n > 1 ? blocks[n - 2] : 0;
  bool isFilter = n > 2 && rows == 1 && columns == 1; // [m, c, 1...]
  if (isFilter)
    rows = blocks[0], columns = blocks[1];
  if (llvm::all_of(blocks, [](int64_t b) { return b == 0; }))
    return "per_tensor";
  if (rows == 128 && columns == 128)
    return "128x128";
  if (rows == 1 && columns == 128)
    return "1x128";
  if (rows == 128 && columns == 1)
    return "128x1";
  return rows == 32 || columns == 32 ? "mx32" : "per_channel";
}

std::string programOf(Operation *op) {
  if (auto q = dyn_cast<graph::DynamicQuantizeOp>(op))
    return ("quantize(" + recipeOf(q.getBlocks()) + ")").str();
  return op->getName().stripDialect().str();
}

// Weights whose last reader is gone leave at once, so that a large model's intermediate copies do not pile
// up.
struct Readers {
  explicit Readers(ModuleOp module, WeightStore &weights) : module(module), weights(weights) {
    module.walk([&](graph::GetWeightOp get) { ++count[get.getWeight()]; });
    module.walk([&](graph::StateOp state) {
      if (auto init = state.getInit())
        ++count[*init];
    });
  }
  void eraseIfDead(Operation *op) {
    auto get = dyn_cast_or_null<graph::GetWeightOp>(op);
    if (!get || !get->use_empty())
      return;
    StringRef symbol = get.getWeight();
    bool isLast = --count[symbol] == 0;
    auto weight = isLast ? module.lookupSymbol<graph::WeightOp>(symbol) : graph::WeightOp();
    if (weight)
      weights.erase(symbol);
    get.erase();
    if (weight)
      weight.erase();
  }
  ModuleOp module;
  WeightStore &weights;
  llvm::StringMap<int> count;
};

Value materialize(OpBuilder &b, Operation *op, const interpreter::Tensor &value, RankedTensorType type,
                  ModuleOp module, WeightStore &weights) {
  // Scales stay weights, however few: kernels read them beside the codes.
  if (type.getNumElements() <= kInlineElements && !isa<graph::DynamicQuantizeOp>(op))
    return graph::ConstantOp::create(b, op->getLoc(), type, attributeOf(type, value.span()));
  std::string source, program = programOf(op);
  for (Value v : op->getOperands())
    if (auto get = v.getDefiningOp<graph::GetWeightOp>()) {
      const WeightData *w = weights.find(get.getWeight());
      source = w->sourceName;
      program = w->program.empty() ? program : w->program + ", " + program;
      break;
    }
  auto owner = std::make_shared<const interpreter::Tensor>(value);
  std::string symbol = weights.add(source.empty() ? "folded" : source,
                                   WeightData{type, owner->span(), source, program, owner});
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
  Readers readers(module, weights);
  for (Operation *op : ops) {
    if (!isWorthFolding(op) || repeatsScales(op, weights))
      continue;
    SmallVector<interpreter::Tensor> operands;
    for (Value v : op->getOperands()) {
      if (auto get = v.getDefiningOp<graph::GetWeightOp>()) {
        const WeightData &data = *weights.find(get.getWeight());
        operands.push_back(interpreter::Tensor::of(data));
        if (operands.back().data() != data.bytes.data()) // copied: it was not aligned
          weights.release(get.getWeight());
      } else
        operands.push_back(interpreter::Tensor::of(v.getDefiningOp<graph::ConstantOp>().getValue()));
    }
    auto values = interpreter.evaluate(op, operands);
    if (failed(values))
      return failure();
    OpBuilder b(op);
    SmallVector<StringRef> symbols;
    for (auto [r, value] : llvm::zip(op->getResults(), *values)) {
      Value made = materialize(b, op, value, cast<RankedTensorType>(r.getType()), module, weights);
      r.replaceAllUsesWith(made);
      if (auto get = made.getDefiningOp<graph::GetWeightOp>()) {
        ++readers.count[get.getWeight()];
        symbols.push_back(get.getWeight());
      }
    }
    if (auto q = dyn_cast<graph::DynamicQuantizeOp>(op)) {
      weights.pair(symbols[0], symbols[1], recipeOf(q.getBlocks()));
      lintQuantizedWeight(op, weights.find(symbols[0])->sourceName, operands[0], (*values)[0], q.getBlocks());
    }
    operands.clear();
    for (Value v : op->getOperands())
      if (auto get = v.getDefiningOp<graph::GetWeightOp>())
        weights.release(get.getWeight());
    SmallVector<Operation *> sources;
    for (Value v : op->getOperands())
      if (Operation *from = v.getDefiningOp(); !llvm::is_contained(sources, from))
        sources.push_back(from);
    op->erase();
    for (Operation *from : sources)
      readers.eraseIfDead(from);
  }
  // What nobody reads any more.
  module.walk([](graph::GetWeightOp get) {
    if (get->use_empty())
      get.erase();
  });
  llvm::StringSet<> used;
  module.walk([&](graph::GetWeightOp get) { used.insert(get.getWeight()); });
  module.walk([&](graph::StateOp state) {
    if (auto init = state.getInit())
      used.insert(*init);
  });
  for (graph::WeightOp w : llvm::make_early_inc_range(module.getOps<graph::WeightOp>()))
    if (!used.contains(w.getSymName())) {
      weights.erase(w.getSymName());
      w.erase();
    }
  return success();
}

} // namespace quaver::pipeline
