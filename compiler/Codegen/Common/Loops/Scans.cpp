// cumulative, non_zero.
#include "compiler/Codegen/Common/Loops/LoopBuilder.h"

using namespace mlir;
using namespace quaver::graph;

namespace quaver::codegen {

// A workgroup is one line along the axis.
LogicalResult emitCumulative(LoopBuilder &l, CumulativeOp op, KernelFunction::Launch &launch) {
  Type element = getElementTypeOrSelf(op.getInput().getType()), bits = l.bitsOf(op.getInput());
  bool isProduct = op.getKind() == ReduceKind::prod;
  if (!isProduct && op.getKind() != ReduceKind::sum)
    return op.emitOpError("runs a sum or a product; other kinds have no kernel");
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 16)
    return op.emitOpError() << "cannot compute in " << element << "; cast to a wider float first";
  auto s = l.splitAt(op.getInput(), op.getAxis());
  Value in = l.input(op.getInput()), out = l.output(op.getResult()), n = l.size(s.axis),
        inner = l.size(s.inner);
  l.loop(l.k.begin(), l.k.end(), [&](Value line) {
    Value base = l.add(l.mul(l.div(line, inner), l.mul(n, inner)), l.rem(line, inner));
    Type compute = l.computeType(element);
    Value start;
    if (isa<FloatType>(compute))
      start = arith::ConstantOp::create(l.b, l.loc, l.b.getFloatAttr(compute, isProduct ? 1 : 0));
    else
      start = arith::ConstantOp::create(l.b, l.loc, l.b.getIntegerAttr(compute, isProduct ? 1 : 0));
    l.loop(l.num(0), n, l.num(1), {start}, [&](Value j, ValueRange carried) -> Values {
      Value at = op.getReverse() ? l.sub(l.sub(n, l.num(1)), j) : j;
      Value offset = l.add(base, l.mul(at, inner));
      Value x = l.toCompute(l.load(in, bits, offset), element);
      Value next = isProduct ? l.product(carried[0], x) : l.sum(carried[0], x);
      l.store(out, offset, l.fromCompute(op.getExclusive() ? carried[0] : next, element));
      return {next};
    });
  });
  launch.workgroups = s.outer * s.inner;
  launch.grain = 16;
  return success();
}

// Counts, then writes: rows of the result are `count` apart. One workgroup.
LogicalResult emitNonZero(LoopBuilder &l, NonZeroOp op, KernelFunction::Launch &launch) {
  Type element = getElementTypeOrSelf(op.getInput().getType()), bits = l.bitsOf(op.getInput());
  Value in = l.input(op.getInput()), out = l.output(op.getResult());
  const Dims d(l.dims(op.getInput()));
  Value n = l.size(l.shapes.numElements(op.getInput()));
  l.when(l.lt(l.k.begin(), l.k.end()), [&] {
    Value count = l.loop(l.num(0), n, l.num(1), {l.num(0)}, [&](Value i, ValueRange c) -> Values {
      Value hit = l.isNonZero(l.load(in, bits, i), element);
      return {l.select(hit, l.add(c[0], l.num(1)), c[0])};
    })[0];
    l.store(l.countOutput(), l.num(0), count);
    if (!out)
      return;
    l.loop(l.num(0), n, l.num(1), {l.num(0)}, [&](Value i, ValueRange c) -> Values {
      Value hit = l.isNonZero(l.load(in, bits, i), element);
      l.when(hit, [&] {
        Value left = i;
        for (int64_t r = int64_t(d.size()) - 1; r >= 0; --r) {
          Value size = l.size(d[r]);
          l.store(out, l.add(l.mul(l.num(r), count), c[0]), r == 0 ? left : l.rem(left, size));
          if (r > 0)
            left = l.div(left, size);
        }
      });
      return {l.select(hit, l.add(c[0], l.num(1)), c[0])};
    });
  });
  launch.workgroups = 1;
  return success();
}

} // namespace quaver::codegen
