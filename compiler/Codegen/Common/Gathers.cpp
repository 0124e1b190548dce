// Reads at positions that are data.
#include "compiler/Codegen/Common/Emitter.h"

using namespace mlir;

namespace quaver::codegen {

// An index tensor's value as a position of a dimension of size n: negative ones count from the end; one out
// of range reads the nearest element instead of foreign memory.
Index Emitter::wrapped(Value indices, ArrayRef<Index> idx, const DimExpr &n) {
  Value v = convert(at(indices, idx), element(indices), b.getI64Type());
  auto c = [&](Value x) { return isVector(v) ? splat(x) : x; };
  v = select(compare(arith::CmpIPredicate::slt, v, c(num(0))), arith(Arith::Add, v, c(size(n))), v);
  v = arith(Arith::MaxS, arith(Arith::MinS, v, c(size(n - DimExpr(1)))), c(num(0)));
  return indexOf(v);
}

std::optional<Emitter::Access> Emitter::gathered(Operation *op, ArrayRef<Index> given) {
  if (!isa<graph::GatherOp, graph::GatherElementsOp, graph::GatherNdOp>(op))
    return std::nullopt;
  Indices idx(given);
  const Dims &rd = dims(op->getResult(0));
  if (auto g = dyn_cast<graph::GatherOp>(op)) {
    int64_t axis = g.getAxis(), r = dims(g.getIndices()).size();
    split(idx, rd,
          [&](int64_t i) { return i + 1 < axis || (i >= axis && i + 1 < axis + r) || i >= axis + r; });
    Indices out(idx.begin(), idx.begin() + axis);
    out.push_back(wrapped(g.getIndices(), ArrayRef<Index>(idx).slice(axis, r), dims(g.getData())[axis]));
    out.append(idx.begin() + axis + r, idx.end());
    return Access{g.getData(), out};
  }
  split(idx, rd);
  if (auto g = dyn_cast<graph::GatherElementsOp>(op)) {
    Indices out = idx;
    out[g.getAxis()] = wrapped(g.getIndices(), idx, dims(g.getData())[g.getAxis()]);
    return Access{g.getData(), out};
  }
  auto g = cast<graph::GatherNdOp>(op);
  int64_t batch = g.getBatchDims(), lead = int64_t(dims(g.getIndices()).size()) - 1;
  auto depth = dims(g.getIndices()).back().getConstant();
  if (!depth) {
    fail(op, "the number of coordinates is not static");
    return std::nullopt;
  }
  Indices out(idx.begin(), idx.begin() + batch);
  for (int64_t c = 0; c < *depth; ++c) {
    Indices at(idx.begin(), idx.begin() + lead);
    at.push_back(scalar(num(c)));
    out.push_back(wrapped(g.getIndices(), at, dims(g.getData())[batch + c]));
  }
  out.append(idx.begin() + lead, idx.end());
  return Access{g.getData(), out};
}

} // namespace quaver::codegen
