// Ops that move data are index arithmetic.
#include "compiler/Codegen/Common/Emitter.h"

using namespace mlir;

namespace quaver::codegen {

// Runs of dimensions with equal products: {to.lo, to.hi, from.lo, from.hi}. False where only the whole
// matches.
bool Emitter::reshapeGroups(ArrayRef<DimExpr> from, ArrayRef<DimExpr> to,
                            SmallVectorImpl<std::array<int64_t, 4>> &groups) {
  int64_t i = 0, j = 0, n = to.size(), m = from.size();
  while (i < n || j < m) {
    int64_t bestA = n, bestB = m;
    bool found = false;
    for (int64_t total = 1; total <= (n - i) + (m - j) && !found; ++total)
      for (int64_t a = std::min(n, i + total); a >= i && !found; --a) {
        int64_t c = j + total - (a - i);
        if (c < j || c > m || (a == i && n > i && m > j && total > 1))
          continue;
        if (a == i && !(i == n || product(from.slice(j, c - j)) == DimExpr(1)))
          continue;
        if (product(to.slice(i, a - i)) == product(from.slice(j, c - j)))
          bestA = a, bestB = c, found = true;
      }
    groups.push_back({i, bestA, j, bestB});
    i = bestA, j = bestB;
  }
  return true;
}

Indices Emitter::reshaped(Value from, Value to, ArrayRef<Index> idx) {
  const Dims &fd = dims(from), &td = dims(to);
  Indices out(fd.size(), scalar(num(0)));
  SmallVector<std::array<int64_t, 4>> groups;
  reshapeGroups(fd, td, groups);
  for (size_t g = 0; g < groups.size(); ++g) {
    auto [lo, hi, fromLo, fromHi] = groups[g];
    // A joined run of the result ties reshape groups together.
    while (hi > lo && hi < int64_t(idx.size()) && idx[hi - 1].joined && g + 1 < groups.size()) {
      ++g;
      hi = groups[g][1], fromHi = groups[g][3];
    }
    if (fromLo == fromHi)
      continue;
    ArrayRef<Index> part = idx.slice(lo, hi - lo);
    Index lin = hi > lo ? linear(part, ArrayRef<DimExpr>(td).slice(lo, hi - lo)) : scalar(num(0));
    int64_t sized = -1;
    bool several = false;
    for (int64_t j = fromLo; j < fromHi; ++j)
      if (!isOne(fd[j]))
        several = sized >= 0, sized = j;
    if (hi - lo == fromHi - fromLo && std::equal(td.begin() + lo, td.begin() + hi, fd.begin() + fromLo)) {
      for (int64_t j = 0; j < hi - lo; ++j)
        out[fromLo + j] = part[j];
    } else if (sized < 0) {
      continue;
    } else if (!several &&
               llvm::count_if(llvm::seq(fromLo, fromHi), [&](int64_t j) { return !isOne(fd[j]); }) == 1) {
      out[sized] = lin;
    } else {
      for (int64_t j = fromLo; j + 1 < fromHi; ++j)
        out[j] = Index{{}, {}, {}, true};
      out[fromHi - 1] = lin;
    }
  }
  return out;
}

Indices Emitter::transposed(graph::TransposeOp op, ArrayRef<Index> given) {
  auto p = op.getPermutation();
  Indices idx(given), out(given.size());
  split(idx, dims(op.getResult()), [&](int64_t i) { return p[i + 1] == p[i] + 1; });
  for (auto [i, from] : llvm::enumerate(p))
    out[from] = idx[i];
  return out;
}

Value Emitter::elementOf(Value t, int64_t i) {
  const auto &s = shapes.get(t);
  if (s.elements && i < int64_t(s.elements->size()))
    return size((*s.elements)[i]);
  Indices idx;
  if (!dims(t).empty())
    idx.push_back(scalar(num(i)));
  Value savedMask = mask;
  mask = {};
  Value v = at(t, idx);
  mask = savedMask;
  return convert(v, element(t), b.getI64Type());
}

Indices Emitter::sliced(graph::SliceOp op, ArrayRef<Index> given) {
  Indices idx(given);
  const Dims &in = dims(op.getInput());
  auto axes = op.getAxes();
  split(idx, dims(op.getResult()),
        [&](int64_t i) { return !llvm::is_contained(axes, i) && !llvm::is_contained(axes, i + 1); });
  for (auto [i, axis] : llvm::enumerate(axes)) {
    if (!idx[axis].known())
      continue;
    const auto &starts = shapes.get(op.getStarts()).elements, &ends = shapes.get(op.getEnds()).elements,
               &steps = shapes.get(op.getSteps()).elements;
    Value first, step;
    if (starts && ends && steps) {
      graph::SliceRange r = graph::sliceRange(in[axis], (*starts)[i], (*ends)[i], (*steps)[i]);
      first = size(r.first), step = size(r.step);
    } else {
      Value n = size(in[axis]), zero = num(0), start = elementOf(op.getStarts(), i);
      step = elementOf(op.getSteps(), i);
      start = select(compare(arith::CmpIPredicate::slt, start, zero), add(start, n), start);
      Value forward = compare(arith::CmpIPredicate::sgt, step, zero);
      first = arith(Arith::MaxS, zero, arith(Arith::MinS, start, select(forward, n, sub(n, num(1)))));
    }
    idx[axis] = plus(times(idx[axis], step), scalar(first));
  }
  return idx;
}

Value Emitter::choose(Value c, llvm::function_ref<Value()> x, llvm::function_ref<Value()> y) {
  if (isVector(c)) {
    Value saved = mask, all = intConst(c.getType(), 1);
    Value vx, vy;
    scoped([&] {
      mask = both(saved, c);
      vx = x();
    });
    scoped([&] {
      mask = both(saved, arith::XOrIOp::create(b, loc, c, all));
      vy = y();
    });
    mask = saved;
    return select(c, vx, vy);
  }
  // The type is found by emitting the first branch.
  Value vx, vy;
  {
    OpBuilder::InsertionGuard g(b);
    auto probe = scf::IfOp::create(b, loc, TypeRange(), c, true);
    auto branch = [&](Block *block, llvm::function_ref<Value()> f) {
      b.setInsertionPointToStart(block);
      return scoped([&] { return f(); });
    };
    vx = branch(probe.thenBlock(), x);
    vy = branch(probe.elseBlock(), y);
    if (isVector(vx) != isVector(vy)) {
      Value &narrow = isVector(vx) ? vy : vx;
      b.setInsertionPoint((isVector(vx) ? probe.elseBlock() : probe.thenBlock())->getTerminator());
      narrow = vector::BroadcastOp::create(b, loc, VectorType::get(W, narrow.getType()), narrow);
    }
    b.setInsertionPointAfter(probe);
    auto made = scf::IfOp::create(b, loc, TypeRange{vx.getType()}, c, true);
    auto move = [&](Block *from, Block *to, Value v) {
      from->getTerminator()->erase();
      if (!to->empty())
        to->getTerminator()->erase();
      to->getOperations().splice(to->end(), from->getOperations());
      OpBuilder::InsertionGuard g2(b);
      b.setInsertionPointToEnd(to);
      scf::YieldOp::create(b, loc, v);
    };
    move(probe.thenBlock(), made.thenBlock(), vx);
    move(probe.elseBlock(), made.elseBlock(), vy);
    probe.erase();
    vx = made.getResult(0);
  }
  b.setInsertionPointAfter(vx.getDefiningOp());
  return vx;
}

} // namespace quaver::codegen
