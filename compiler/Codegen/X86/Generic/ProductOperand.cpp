#include "compiler/Codegen/X86/Generic/CallKernel.h"
#include "compiler/Codegen/X86/Generic/Product.h"

using namespace mlir;
using quaver::graph::DimExpr;

namespace quaver::codegen {

static std::optional<ElementType> elementType(Value v) {
  Type t = getElementTypeOrSelf(v.getType());
  if (isa<Float8E4M3FNType>(t))
    return ElementType::F8E4M3FN;
  if (isa<Float8E8M0FNUType>(t))
    return ElementType::F8E8M0FNU;
  return wideType(v);
}

// Views of a block argument.
static std::optional<ProductOperand> viewOf(Value v, graph::ShapeAnalysis &shapes) {
  if (auto a = dyn_cast<BlockArgument>(v)) {
    auto type = elementType(v);
    if (!type)
      return std::nullopt;
    return ProductOperand{a, *type, dispatch::StridedView::contiguous(shapes.get(v).dims), {}};
  }
  Operation *op = v.getDefiningOp();
  if (op->getNumOperands() == 0 || isa<graph::DequantizeOp>(op))
    return std::nullopt;
  auto operand = viewOf(op->getOperand(0), shapes);
  auto view = operand ? dispatch::viewThrough(op, operand->view, shapes) : std::nullopt;
  if (!view)
    return std::nullopt;
  operand->view = *view;
  return operand;
}

// Block sizes along each dimension of the dequantized tensor; empty: one scale for all. nullopt: scales of
// another form.
static std::optional<SmallVector<int64_t>> blocksOf(graph::DequantizeOp op, graph::ShapeAnalysis &shapes) {
  const auto &scale = shapes.get(op.getScale()).dims;
  if (llvm::all_of(scale, [](const DimExpr &e) { return e == DimExpr(1); }))
    return SmallVector<int64_t>();
  size_t rank = shapes.get(op.getInput()).dims.size();
  if (scale.size() != rank)
    return std::nullopt;
  SmallVector<int64_t> blocks(op.getBlocks());
  if (blocks.empty() && op.getBlockSize() > 0)
    blocks.assign(rank, 1), blocks[op.getAxis()] = op.getBlockSize();
  return blocks.size() == rank ? std::optional(blocks) : std::nullopt;
}

std::optional<ProductOperand> productOperand(Value v, graph::ShapeAnalysis &shapes, std::string &why) {
  SmallVector<graph::TransposeOp> transposes; // of what is dequantized
  Value top = v;
  while (auto t = top.getDefiningOp<graph::TransposeOp>())
    transposes.push_back(t), top = t.getInput();
  auto dequantize = top.getDefiningOp<graph::DequantizeOp>();
  if (!dequantize) {
    auto operand = viewOf(v, shapes);
    if (!operand || !operand->view.isMatrix() || operand->type == ElementType::F8E4M3FN ||
        operand->type == ElementType::F8E8M0FNU)
      return why = "an operand is not a strided view of f32, bf16 or f16", std::nullopt;
    return operand;
  }
  auto codes = viewOf(dequantize.getInput(), shapes), scale = viewOf(dequantize.getScale(), shapes);
  if (!codes || codes->type != ElementType::F8E4M3FN || !scale ||
      (scale->type != ElementType::F32 && scale->type != ElementType::F8E8M0FNU))
    return why = "an operand is not E4M3 codes with f32 or E8M0 scales in memory", std::nullopt;
  auto blocks = blocksOf(dequantize, shapes);
  if (!blocks || dequantize.getZeroPoint())
    return why = "an operand's scales are not one for all, nor blocks", std::nullopt;
  for (graph::TransposeOp t : llvm::reverse(transposes)) {
    codes->view = *dispatch::viewThrough(t, codes->view, shapes);
    if (blocks->empty())
      continue;
    scale->view = *dispatch::viewThrough(t, scale->view, shapes);
    SmallVector<int64_t> from(*blocks);
    for (auto [i, p] : llvm::enumerate(t.getPermutation()))
      (*blocks)[i] = from[p];
  }
  if (!codes->view.isMatrix())
    return why = "an operand's codes are not a strided view", std::nullopt;
  OperandScales &s = codes->scales.emplace();
  s.source = scale->source, s.isE8m0 = scale->type == ElementType::F8E8M0FNU;
  if (blocks->empty())
    return codes;
  size_t rank = blocks->size();
  if (!scale->view.isMatrix())
    return why = "an operand's scales are not a strided view", std::nullopt;
  // Rows of all leading dimensions are counted as one: so must their scales be.
  DimExpr rows = scale->rows();
  for (size_t d = rank - 2; d-- > 0;) {
    bool isNested = (*blocks)[d] == 1 && (*blocks)[rank - 2] == 1 && scale->view.strides[d] &&
                    *scale->view.strides[d] == scale->rowStride() * rows;
    if (codes->view.dims[d] != DimExpr(1) && !isNested)
      return why = "an operand's scales differ along leading dimensions", std::nullopt;
    rows = rows * scale->view.dims[d];
  }
  auto along = [&](size_t d, int64_t &block, DimExpr &stride) {
    if (scale->view.dims[d] == DimExpr(1) && codes->view.dims[d] != DimExpr(1))
      return;
    block = (*blocks)[d], stride = *scale->view.strides[d];
  };
  along(rank - 2, s.rowBlock, s.rowStride);
  along(rank - 1, s.columnBlock, s.columnStride);
  return codes;
}

} // namespace quaver::codegen
