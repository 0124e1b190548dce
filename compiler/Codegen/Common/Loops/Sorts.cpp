// top_k, unique, and the merge sort behind them.
#include "compiler/Codegen/Common/Loops/LoopBuilder.h"

using namespace mlir;
using namespace quaver::graph;

namespace quaver::codegen {

Value LoopBuilder::mergeSort(Value n, Value from, Value to, llvm::function_ref<Value(Value, Value)> before) {
  loop(num(0), n, [&](Value i) { store(from, i, i); });
  // Runs of `width` sorted positions become runs of twice that, from one array into the other.
  Values end = loopWhile(
      {num(1), from, to}, [&](ValueRange c) { return lt(c[0], n); },
      [&](ValueRange c) -> Values {
        Value width = c[0], src = c[1], dst = c[2], twice = add(width, width);
        loop(num(0), n, twice, {}, [&](Value lo, ValueRange) -> Values {
          Value mid = min(add(lo, width), n), hi = min(add(lo, twice), n);
          loop(lo, hi, num(1), {lo, mid}, [&](Value at, ValueRange ij) -> Values {
            Value i = ij[0], j = ij[1];
            Value x = load64(src, min(i, sub(mid, num(1)))), y = load64(src, min(j, sub(hi, num(1))));
            Value right = both(lt(j, hi), either(compare(Predicate::sge, i, mid), before(x, y)));
            store(dst, at, select(right, y, x));
            return {select(right, i, add(i, num(1))), select(right, add(j, num(1)), j)};
          });
          return {};
        });
        return {twice, dst, src};
      });
  return end[1];
}

// Up to this many selected elements are kept in a sorted list; more are found by sorting the whole line.
static constexpr int64_t kMaxInsertion = 64;

// A workgroup is one line along the axis.
LogicalResult emitTopK(LoopBuilder &l, TopKOp op, KernelFunction::Launch &launch) {
  Type element = getElementTypeOrSelf(op.getInput().getType()), bits = l.bitsOf(op.getInput());
  auto s = l.splitAt(op.getInput(), op.getAxis());
  DimExpr k = l.dims(op.getValues())[op.getAxis()];
  Value in = l.input(op.getInput()), values = l.output(op.getValues()), indices = l.output(op.getIndices());
  Value n = l.size(s.axis), inner = l.size(s.inner), K = l.size(k);
  auto constant = k.getConstant();
  bool insertion = constant && *constant <= kMaxInsertion;
  launch.workgroups = constant == int64_t(0) ? DimExpr(0) : s.outer * s.inner;
  if (constant == int64_t(0))
    return success();
  l.loop(l.k.begin(), l.k.end(), [&](Value line) {
    Value o = l.div(line, inner), i = l.rem(line, inner);
    Value base = l.add(l.mul(o, l.mul(n, inner)), i), outBase = l.add(l.mul(o, l.mul(K, inner)), i);
    // Smaller comes first; the largest have the smallest keys when those are wanted.
    auto keyAt = [&](Value j) {
      Value key = l.key(l.load(in, bits, l.add(base, l.mul(j, inner))), element);
      return op.getLargest() ? l.sub(l.num(-1), key) : key;
    };
    Value sorted;
    if (insertion) {
      Value keys = l.scratchArray(0, K), best = l.scratchArray(1, K), last = l.sub(K, l.num(1));
      l.loop(l.num(0), n, l.num(1), {l.num(0)}, [&](Value j, ValueRange c) -> Values {
        Value key = keyAt(j), count = c[0], notFull = l.lt(count, K);
        Value place = l.either(notFull, l.lt(key, l.load64(keys, last)));
        Value next = l.choose(
            place,
            [&]() -> Values {
              Value at = l.loopWhile(
                  {l.min(count, last)},
                  [&](ValueRange p) {
                    Value before = l.load64(keys, l.max(l.sub(p[0], l.num(1)), l.num(0)));
                    return l.both(l.lt(l.num(0), p[0]), l.lt(key, before));
                  },
                  [&](ValueRange p) -> Values {
                    Value one = l.sub(p[0], l.num(1));
                    l.store(keys, p[0], l.load64(keys, one));
                    l.store(best, p[0], l.load64(best, one));
                    return {one};
                  })[0];
              l.store(keys, at, key);
              l.store(best, at, j);
              return {l.min(l.add(count, l.num(1)), K)};
            },
            [&]() -> Values { return {count}; })[0];
        return {next};
      });
      sorted = best;
    } else {
      Value keys = l.scratchArray(0, n);
      l.loop(l.num(0), n, [&](Value j) { l.store(keys, j, keyAt(j)); });
      sorted = l.mergeSort(n, l.scratchArray(1, n), l.scratchArray(2, n),
                           [&](Value x, Value y) { return l.lt(l.load64(keys, y), l.load64(keys, x)); });
    }
    l.loop(l.num(0), K, [&](Value t) {
      Value j = l.load64(sorted, t), at = l.add(outBase, l.mul(t, inner));
      if (indices)
        l.store(indices, at, j);
      if (values)
        l.store(values, at, l.load(in, bits, l.add(base, l.mul(j, inner))));
    });
  });
  launch.scratchBytes = insertion ? DimExpr(16) * k : DimExpr(24) * s.axis;
  launch.description = insertion ? "top k by insertion" : "top k by merge sort";
  return success();
}

// Items (slices along the axis, or elements) are sorted; equal neighbours are one group. One workgroup.
LogicalResult emitUnique(LoopBuilder &l, UniqueOp op, KernelFunction::Launch &launch) {
  Type element = getElementTypeOrSelf(op.getInput().getType()), bits = l.bitsOf(op.getInput());
  LoopBuilder::Split s;
  if (op.getAxis())
    s = l.splitAt(op.getInput(), *op.getAxis());
  else
    s.axis = l.shapes.numElements(op.getInput());
  Value in = l.input(op.getInput()), values = l.output(op.getValues()), firsts = l.output(op.getIndices());
  Value inverse = l.output(op.getInverse()), counts = l.output(op.getCounts());
  Value n = l.size(s.axis), inner = l.size(s.inner), length = l.size(s.outer * s.inner);
  auto place = [&](Value items, Value item, Value e) { // of element e of an item
    return l.add(l.mul(l.div(e, inner), l.mul(items, inner)), l.add(l.mul(item, inner), l.rem(e, inner)));
  };
  // -1, 0, 1: how two items compare, by their first elements that differ.
  auto order = [&](Value x, Value y) {
    return l.loopWhile(
        {l.num(0), l.num(0)}, [&](ValueRange c) { return l.both(l.lt(c[0], length), l.eq(c[1], l.num(0))); },
        [&](ValueRange c) -> Values {
          Value kx = l.key(l.load(in, bits, place(n, x, c[0])), element),
                ky = l.key(l.load(in, bits, place(n, y, c[0])), element);
          return {l.add(c[0], l.num(1)),
                  l.select(l.lt(kx, ky), l.num(-1), l.select(l.lt(ky, kx), l.num(1), l.num(0)))};
        })[1];
  };
  l.when(l.lt(l.k.begin(), l.k.end()), [&] {
    Value sorted = l.mergeSort(n, l.scratchArray(0, n), l.scratchArray(1, n),
                               [&](Value x, Value y) { return l.lt(order(y, x), l.num(0)); });
    // groupOf[item], firstOf[group]: the sort is stable, so a group's first member has the lowest position.
    Value groupOf = l.scratchArray(2, n), firstOf = l.scratchArray(3, n);
    Value count = l.loop(l.num(0), n, l.num(1), {l.num(0)}, [&](Value t, ValueRange c) -> Values {
      Value item = l.load64(sorted, t), previous = l.load64(sorted, l.max(l.sub(t, l.num(1)), l.num(0)));
      Value isNew =
          l.either(l.eq(t, l.num(0)), l.compare(LoopBuilder::Predicate::ne, order(previous, item), l.num(0)));
      l.when(isNew, [&] { l.store(firstOf, c[0], item); });
      Value groups = l.select(isNew, l.add(c[0], l.num(1)), c[0]);
      l.store(groupOf, item, l.sub(groups, l.num(1)));
      return {groups};
    })[0];
    l.store(l.countOutput(), l.num(0), count);
    // Where a group stands in the results: as sorted, or by first appearance. The sorted positions are not
    // needed any more.
    Value rank = sorted;
    if (op.getSorted()) {
      l.loop(l.num(0), count, [&](Value g) { l.store(rank, g, g); });
    } else {
      l.loop(l.num(0), n, l.num(1), {l.num(0)}, [&](Value item, ValueRange c) -> Values {
        Value g = l.load64(groupOf, item), isFirst = l.eq(l.load64(firstOf, g), item);
        l.when(isFirst, [&] { l.store(rank, g, c[0]); });
        return {l.select(isFirst, l.add(c[0], l.num(1)), c[0])};
      });
    }
    l.loop(l.num(0), count, [&](Value g) {
      Value at = l.load64(rank, g), first = l.load64(firstOf, g);
      if (firsts)
        l.store(firsts, at, first);
      if (counts)
        l.store(counts, at, l.num(0));
      if (values)
        l.loop(l.num(0), length,
               [&](Value e) { l.store(values, place(count, at, e), l.load(in, bits, place(n, first, e))); });
    });
    l.loop(l.num(0), n, [&](Value item) {
      Value at = l.load64(rank, l.load64(groupOf, item));
      if (inverse)
        l.store(inverse, item, at);
      if (counts)
        l.store(counts, at, l.add(l.load64(counts, at), l.num(1)));
    });
  });
  launch.workgroups = 1;
  launch.scratchBytes = DimExpr(32) * s.axis;
  return success();
}

} // namespace quaver::codegen
