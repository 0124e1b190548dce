#include "compiler/Pipeline/FoldBlockScales.h"
#include "compiler/Interpreter/Tensor.h"
#include "dialects/Graph/IR/GraphDialect.h"

using namespace mlir;

namespace quaver::pipeline {
namespace {

// The n for which positions are i / n, if there is one.
std::optional<int64_t> repetition(Value indices, const WeightStore &weights) {
  interpreter::Tensor t;
  if (auto c = indices.getDefiningOp<graph::ConstantOp>())
    t = interpreter::Tensor::of(c.getValue());
  else if (auto get = indices.getDefiningOp<graph::GetWeightOp>(); get && weights.find(get.getWeight()))
    t = interpreter::Tensor::of(*weights.find(get.getWeight()));
  if (t.isNull() || t.rank() != 1 || t.size() == 0 || is_float(t.type()))
    return std::nullopt;
  SmallVector<int64_t> at = t.integers();
  int64_t n = 0;
  while (n < t.size() && at[n] == 0)
    ++n;
  for (int64_t i = 0; n && i < t.size(); ++i)
    if (at[i] != i / n)
      return std::nullopt;
  return n ? std::optional(n) : std::nullopt;
}

// Few scales are written in the IR by the importer; beside codes they are a weight like others.
Value asWeight(OpBuilder &b, Value scale, ModuleOp module, WeightStore &weights) {
  auto constant = scale.getDefiningOp<graph::ConstantOp>();
  if (!constant)
    return scale;
  auto type = cast<RankedTensorType>(constant.getType());
  auto location = dyn_cast<NameLoc>(constant.getLoc());
  std::string name = location ? location.getName().str() : "scales";
  auto owner = std::make_shared<const std::vector<char>>(bytesOf(constant.getValue()));
  std::string symbol = weights.add(name, WeightData{type, *owner, name, "", owner});
  OpBuilder top(module.getContext());
  top.setInsertionPointToStart(module.getBody());
  graph::WeightOp::create(top, constant.getLoc(), symbol, type, name, "", 0, storageBytes(type));
  return graph::GetWeightOp::create(b, constant.getLoc(), type,
                                    FlatSymbolRefAttr::get(module.getContext(), symbol));
}

bool fold(graph::DequantizeOp op, ModuleOp module, WeightStore &weights) {
  auto type = dyn_cast<RankedTensorType>(op.getInput().getType());
  if (!type || !type.hasStaticShape() || op.getBlockSize() == 0 || op.getZeroPoint() ||
      !op.getBlocks().empty())
    return false;
  SmallVector<int64_t> blocks(type.getRank(), 1);
  blocks[op.getAxis()] = op.getBlockSize();
  Value scale = op.getScale();
  bool isSpread = false;
  while (auto gather = scale.getDefiningOp<graph::GatherOp>()) {
    auto from = cast<RankedTensorType>(gather.getData().getType());
    uint64_t axis = gather.getAxis();
    auto n = repetition(gather.getIndices(), weights);
    bool fits = n && from.getRank() == type.getRank() && axis != op.getAxis() && blocks[axis] == 1 &&
                from.getDimSize(axis) == int64_t(llvm::divideCeil(type.getDimSize(axis), *n));
    if (!fits)
      return false;
    // All rows under one scale: any block size that reaches to the end says so; a whole number of 128 is what
    // kernels know.
    bool isOneBlock = from.getDimSize(axis) == 1;
    blocks[axis] = isOneBlock ? int64_t(llvm::divideCeil(*n, op.getBlockSize()) * op.getBlockSize()) : *n;
    scale = gather.getData();
    isSpread = true;
  }
  if (!isSpread)
    return false;
  OpBuilder b(op);
  scale = asWeight(b, scale, module, weights);
  auto codes = op.getInput().getDefiningOp<graph::GetWeightOp>();
  auto scales = scale.getDefiningOp<graph::GetWeightOp>();
  bool isTiled = llvm::all_of(blocks, [](int64_t n) { return n == 128; });
  if (codes && scales && isTiled)
    weights.pair(codes.getWeight(), scales.getWeight(), "128x128");
  Value result =
      graph::DequantizeOp::create(b, op.getLoc(), op.getType(), op.getInput(), scale, Value(), 0, 0, blocks);
  op.getResult().replaceAllUsesWith(result);
  op.erase();
  return true;
}

} // namespace

int64_t foldBlockScales(ModuleOp module, WeightStore &weights) {
  SmallVector<graph::DequantizeOp> ops;
  module.walk([&](graph::DequantizeOp op) { ops.push_back(op); });
  return llvm::count_if(ops, [&](graph::DequantizeOp op) { return fold(op, module, weights); });
}

} // namespace quaver::pipeline
