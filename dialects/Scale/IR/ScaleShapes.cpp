// Sizes of results as expressions of dimension symbols.
#include "dialects/Graph/Analysis/ShapeAnalysis.h"
#include "dialects/Scale/IR/ScaleDialect.h"

using namespace mlir;

namespace quaver::scale {

using graph::DimExpr;
using graph::ShapeAnalysis;
using Dims = SmallVector<DimExpr, 4>;

static LogicalResult set(ShapeAnalysis &s, Value result, Dims dims) {
  s.set(result, {std::move(dims), std::nullopt});
  return success();
}

static Dims blockCounts(const Dims &dims, ArrayRef<int64_t> blocks) {
  Dims counts;
  for (auto [d, block] : llvm::zip(dims, blocks))
    counts.push_back(block == ScaledTensorType::kWhole ? DimExpr(1) : DimExpr::ceilDiv(d, DimExpr(block)));
  return counts;
}

LogicalResult QuantizeOp::inferShapes(ShapeAnalysis &s) {
  return set(s, getResult(), s.get(getInput()).dims);
}
LogicalResult DequantizeOp::inferShapes(ShapeAnalysis &s) {
  return set(s, getResult(), s.get(getInput()).dims);
}
LogicalResult PackOp::inferShapes(ShapeAnalysis &s) { return set(s, getResult(), s.get(getCodes()).dims); }
LogicalResult UnpackOp::inferShapes(ShapeAnalysis &s) {
  Dims dims = s.get(getInput()).dims;
  if (failed(set(s, getCodes(), dims)))
    return failure();
  return set(s, getScales(), blockCounts(dims, getInput().getType().getBlocks()));
}

LogicalResult MatmulOp::inferShapes(ShapeAnalysis &s) {
  Dims x = s.get(getLhs()).dims, y = s.get(getRhs()).dims, out;
  if (!s.assumeEqual(x.back(), y[y.size() - 2]))
    return emitOpError() << "contracts sizes " << x.back().str() << " and " << y[y.size() - 2].str();
  size_t rank = std::max(x.size(), y.size());
  for (size_t i = 0; i + 2 < rank; ++i) {
    auto b = s.broadcast(i + x.size() < rank ? DimExpr(1) : x[i + x.size() - rank],
                         i + y.size() < rank ? DimExpr(1) : y[i + y.size() - rank]);
    if (!b)
      return emitOpError() << "cannot broadcast the leading sizes of its operands";
    out.push_back(*b);
  }
  out.push_back(x[x.size() - 2]);
  out.push_back(y.back());
  return set(s, getResult(), out);
}

LogicalResult ConvOp::inferShapes(ShapeAnalysis &s) {
  Dims x = s.get(getInput()).dims, w = s.get(getFilter()).dims, out = {x[0], w[0]};
  size_t spatial = x.size() - 2;
  for (size_t i = 0; i < spatial; ++i) {
    DimExpr extent = (w[i + 2] - DimExpr(1)) * DimExpr(getDilations()[i]) + DimExpr(1);
    DimExpr room = x[i + 2] + DimExpr(getPads()[i] + getPads()[i + spatial]) - extent;
    out.push_back(DimExpr::floorDiv(room, DimExpr(getStrides()[i])) + DimExpr(1));
  }
  return set(s, getResult(), out);
}

LogicalResult TransposeOp::inferShapes(ShapeAnalysis &s) {
  Dims from = s.get(getInput()).dims, to;
  for (int64_t d : getPermutation())
    to.push_back(from[d]);
  return set(s, getResult(), to);
}

LogicalResult ReshapeOp::inferShapes(ShapeAnalysis &s) {
  Dims to;
  DimExpr known(1);
  std::optional<size_t> open;
  for (auto [i, size] : llvm::enumerate(s.elementsOrFresh(getShape()))) {
    bool isOpen = size == DimExpr(-1);
    if (isOpen)
      open = i;
    else
      known = known * size;
    to.push_back(size);
  }
  if (open)
    to[*open] = DimExpr::floorDiv(s.numElements(getInput()), known);
  return set(s, getResult(), to);
}

LogicalResult SliceOp::inferShapes(ShapeAnalysis &s) {
  Dims from = s.get(getInput()).dims, to;
  for (size_t d = 0; d < from.size(); ++d)
    to.push_back(getSizes()[d] >= 0 ? DimExpr(getSizes()[d]) : from[d] - DimExpr(getOffsets()[d]));
  return set(s, getResult(), to);
}

} // namespace quaver::scale
