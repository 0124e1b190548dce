// scatter_elements, scatter_nd.
#include "compiler/Codegen/Common/Loops/LoopBuilder.h"

using namespace mlir;
using namespace quaver::graph;

namespace quaver::codegen {

// `old` combined with `update`, both as bits.
static Value combine(LoopBuilder &l, ScatterKind kind, Value old, Value update, Type element) {
  if (kind == ScatterKind::none)
    return update;
  bool isBool = element.isInteger(1); // a sum is "or", a product "and", as the largest and the smallest are
  Value x = l.toCompute(old, element), y = l.toCompute(update, element), r;
  if (kind == ScatterKind::add && !isBool)
    r = l.sum(x, y);
  else if (kind == ScatterKind::mul && !isBool)
    r = l.product(x, y);
  else
    r = l.larger(x, y, element, kind == ScatterKind::max || kind == ScatterKind::add);
  return l.fromCompute(r, element);
}

static LogicalResult checkElement(Operation *op, ScatterKind kind, Type element) {
  if (kind == ScatterKind::none || !isa<FloatType>(element) || element.getIntOrFloatBitWidth() >= 16)
    return success();
  return op->emitOpError() << "cannot combine elements of " << element << "; cast to a wider float first";
}

// A workgroup is one line of the result along the axis: updates of different lines never meet, those of one
// line come in order.
LogicalResult emitScatterElements(LoopBuilder &l, ScatterElementsOp op, KernelFunction::Launch &launch) {
  Type element = getElementTypeOrSelf(op.getData().getType()), bits = l.bitsOf(op.getData());
  Type indexType = getElementTypeOrSelf(op.getIndices().getType());
  if (failed(checkElement(op, op.getKind(), element)))
    return failure();
  const Dims d(l.dims(op.getData())), u(l.dims(op.getIndices()));
  int64_t axis = op.getAxis(), rank = d.size();
  auto s = l.splitAt(op.getData(), axis);
  Value data = l.input(op.getData()), indices = l.input(op.getIndices()), updates = l.input(op.getUpdates()),
        out = l.output(op.getResult());
  Value n = l.size(s.axis), inner = l.size(s.inner), m = l.size(u[axis]);
  DimExpr updateInner(1);
  for (int64_t i = axis + 1; i < rank; ++i)
    updateInner = updateInner * u[i];
  l.loop(l.k.begin(), l.k.end(), [&](Value line) {
    Value o = l.div(line, inner), i = l.rem(line, inner), base = l.add(l.mul(o, l.mul(n, inner)), i);
    l.loop(l.num(0), n, [&](Value j) {
      Value at = l.add(base, l.mul(j, inner));
      l.store(out, at, l.load(data, bits, at));
    });
    // The line's coordinates beside the axis, if the smaller indices tensor has them: its offset there.
    Value has = l.isTrue(true), offset = l.num(0), stride(l.num(1));
    Value left = i;
    for (int64_t r = rank - 1; r >= 0; --r) {
      if (r == axis) {
        stride = l.mul(stride, m), left = o;
        continue;
      }
      Value dim = l.size(d[r]), c = l.rem(left, dim);
      left = l.div(left, dim);
      Value limit = l.size(u[r]);
      has = l.both(has, l.lt(c, limit));
      offset = l.add(offset, l.mul(c, stride));
      stride = l.mul(stride, limit);
    }
    l.when(has, [&] {
      l.loop(l.num(0), m, [&](Value j) {
        Value from = l.add(offset, l.mul(j, l.size(updateInner))), inRange;
        Value at = l.index(indices, indexType, from, n, inRange);
        l.when(inRange, [&] {
          Value to = l.add(base, l.mul(at, inner)), update = l.load(updates, bits, from);
          Value old = op.getKind() == ScatterKind::none ? Value() : l.load(out, bits, to);
          l.store(out, to, combine(l, op.getKind(), old, update, element));
        });
      });
    });
  });
  launch.workgroups = s.outer * s.inner;
  launch.grain = 16;
  return success();
}

// A workgroup is a range of positions inside the slices that indices name: all updates of those positions, in
// order.
LogicalResult emitScatterNd(LoopBuilder &l, ScatterNdOp op, KernelFunction::Launch &launch) {
  constexpr int64_t kBlock = 256;
  Type element = getElementTypeOrSelf(op.getData().getType()), bits = l.bitsOf(op.getData());
  Type indexType = getElementTypeOrSelf(op.getIndices().getType());
  if (failed(checkElement(op, op.getKind(), element)))
    return failure();
  const Dims d(l.dims(op.getData())), idx(l.dims(op.getIndices()));
  auto depth = idx.empty() ? std::nullopt : idx.back().getConstant();
  if (!depth || *depth > int64_t(d.size()))
    return op.emitOpError() << "needs indices whose last size is static and at most the data's rank "
                            << d.size();
  DimExpr slices(1), slice(1), tuples(1);
  for (int64_t i = 0; i < int64_t(d.size()); ++i)
    (i < *depth ? slices : slice) = (i < *depth ? slices : slice) * d[i];
  for (size_t i = 0; i + 1 < idx.size(); ++i)
    tuples = tuples * idx[i];
  Value data = l.input(op.getData()), indices = l.input(op.getIndices()), updates = l.input(op.getUpdates()),
        out = l.output(op.getResult());
  Value length = l.size(slice);
  l.loop(l.k.begin(), l.k.end(), [&](Value group) {
    Value lo = l.mul(group, l.num(kBlock)), hi = l.min(l.add(lo, l.num(kBlock)), length);
    l.loop(l.num(0), l.size(slices), [&](Value p) {
      Value base = l.mul(p, length);
      l.loop(lo, hi, [&](Value e) { l.store(out, l.add(base, e), l.load(data, bits, l.add(base, e))); });
    });
    l.loop(l.num(0), l.size(tuples), [&](Value t) {
      Value has = l.isTrue(true), at = l.num(0);
      for (int64_t q = 0; q < *depth; ++q) {
        Value n = l.size(d[q]), inRange;
        Value i = l.index(indices, indexType, l.add(l.mul(t, l.num(*depth)), l.num(q)), n, inRange);
        at = l.add(l.mul(at, n), i);
        has = l.both(has, inRange);
      }
      l.when(has, [&] {
        Value to = l.mul(at, length), from = l.mul(t, length);
        l.loop(lo, hi, [&](Value e) {
          Value place = l.add(to, e), update = l.load(updates, bits, l.add(from, e));
          Value old = op.getKind() == ScatterKind::none ? Value() : l.load(out, bits, place);
          l.store(out, place, combine(l, op.getKind(), old, update, element));
        });
      });
    });
  });
  launch.workgroups = DimExpr::ceilDiv(slice, DimExpr(kBlock));
  return success();
}

} // namespace quaver::codegen
