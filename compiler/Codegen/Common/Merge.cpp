// Which adjacent dimensions of a value may be walked as one: rows shorter than a vector waste lanes.
#include "compiler/Codegen/Common/Emitter.h"
#include "compiler/Codegen/Common/OpKinds.h"

using namespace mlir;

namespace quaver::codegen {

bool Emitter::canMerge(Value t, int64_t i) {
  auto [it, fresh] = merges.try_emplace({t, i}, false);
  if (!fresh)
    return it->second;
  bool can = canMergeUncached(t, i);
  return merges[{t, i}] = can;
}

bool Emitter::canMergeUncached(Value t, int64_t i) {
  const Dims &d = dims(t);
  if (isOne(d[i]) || isOne(d[i + 1]))
    return true; // a group with one size that is not 1 splits for free
  Operation *op = t.getDefiningOp();
  if (!op || isa<graph::ConstantOp>(op))
    return true;
  if (isElementwise(op) || isa<graph::ExpandOp>(op)) {
    for (Value v : isa<graph::ExpandOp>(op) ? ValueRange(op->getOperands().take_front())
                                            : ValueRange(op->getOperands())) {
      const Dims &o = dims(v);
      int64_t j = i - (int64_t(d.size()) - int64_t(o.size()));
      bool outer = j >= 0 && !isOne(o[j]), inner = j + 1 >= 0 && !isOne(o[j + 1]);
      if (outer != inner || (outer && !canMerge(v, j)))
        return false;
    }
    return true;
  }
  if (auto tr = dyn_cast<graph::TransposeOp>(op)) {
    auto p = tr.getPermutation();
    return p[i + 1] == p[i] + 1 && canMerge(tr.getInput(), p[i]);
  }
  if (isa<graph::ReshapeOp, graph::ExpandDimsOp, graph::SqueezeOp>(op)) {
    Value from = op->getOperand(0);
    SmallVector<std::array<int64_t, 4>> groups;
    if (!reshapeGroups(dims(from), d, groups))
      return false;
    for (size_t g = 0; g < groups.size(); ++g) {
      auto [lo, hi, fromLo, fromHi] = groups[g];
      int64_t last = fromHi;
      if (i < lo || i >= hi)
        continue;
      if (i + 1 >= hi) { // across two groups
        if (g + 1 >= groups.size() || hi - lo != 1 || groups[g + 1][1] - groups[g + 1][0] != 1)
          return false;
        last = groups[g + 1][3];
      } else if (hi - lo != 2) {
        return last - fromLo == 1; // a part of a group: it is counted as one number below anyway
      }
      for (int64_t j = fromLo; j + 1 < last; ++j)
        if (!canMerge(from, j))
          return false;
      return true;
    }
    return false;
  }
  if (auto s = dyn_cast<graph::SliceOp>(op))
    return !llvm::is_contained(s.getAxes(), i) && !llvm::is_contained(s.getAxes(), i + 1) &&
           canMerge(s.getInput(), i);
  if (auto c = dyn_cast<graph::ConcatOp>(op)) {
    if (c.getAxis() == i || c.getAxis() == i + 1)
      return false;
    return llvm::all_of(c.getInputs(), [&](Value v) { return canMerge(v, i); });
  }
  if (auto p = dyn_cast<graph::PadOp>(op))
    return !llvm::is_contained(p.getAxes(), i) && !llvm::is_contained(p.getAxes(), i + 1) &&
           canMerge(p.getInput(), i);
  if (auto g = dyn_cast<graph::GatherOp>(op)) {
    int64_t axis = g.getAxis(), r = dims(g.getIndices()).size();
    if (i + 1 < axis)
      return canMerge(g.getData(), i);
    if (i >= axis && i + 1 < axis + r)
      return canMerge(g.getIndices(), i - axis);
    return i >= axis + r && canMerge(g.getData(), i - r + 1);
  }
  if (auto r = dyn_cast<graph::ReduceOp>(op)) {
    if (r.getKeepDims())
      return !llvm::is_contained(r.getAxes(), i) && !llvm::is_contained(r.getAxes(), i + 1) &&
             canMerge(r.getInput(), i);
    SmallVector<int64_t> kept;
    for (int64_t j = 0; j < int64_t(dims(r.getInput()).size()); ++j)
      if (!llvm::is_contained(r.getAxes(), j))
        kept.push_back(j);
    return kept[i + 1] == kept[i] + 1 && canMerge(r.getInput(), kept[i]);
  }
  return false;
}

SmallVector<int64_t> Emitter::groupsOf(ValueRange values, int64_t lo, int64_t hi) {
  SmallVector<int64_t> first;
  for (int64_t i = lo; i < hi; ++i)
    if (i == lo || !llvm::all_of(values, [&](Value v) { return canMerge(v, i - 1); }))
      first.push_back(i);
  return first;
}

void Emitter::split(Indices &idx, ArrayRef<DimExpr> d, llvm::function_ref<bool(int64_t)> keep) {
  for (int64_t q = int64_t(idx.size()) - 1, p; q >= 0; q = p - 1) {
    p = q;
    while (p > 0 && idx[p - 1].joined)
      --p;
    bool whole = true;
    for (int64_t i = p; i < q; ++i)
      whole &= keep(i);
    if (whole)
      continue;
    Index left = idx[q];
    int64_t sizes = 0;
    for (int64_t i = p; i <= q; ++i)
      sizes += !isOne(d[i]);
    for (int64_t i = q; i >= p; --i) {
      if (isOne(d[i])) {
        idx[i] = scalar(num(0));
      } else if (--sizes == 0) {
        idx[i] = left;
      } else {
        idx[i] = remainder(left, d[i]);
        left = quotient(left, d[i]);
      }
    }
  }
}

Indices Emitter::broadcastIndex(Value operand, Value result, ArrayRef<Index> given) {
  const Dims &od = dims(operand), &rd = dims(result);
  int64_t off = int64_t(rd.size()) - int64_t(od.size());
  Indices idx(given);
  // A group may stay joined where the operand has all of its sizes.
  split(idx, rd, [&](int64_t i) {
    bool outer = i >= off && !isOne(od[i - off]), inner = i + 1 >= off && !isOne(od[i + 1 - off]);
    return (outer || isOne(rd[i])) == (inner || isOne(rd[i + 1])) || isOne(rd[i]) || isOne(rd[i + 1]);
  });
  Indices out(od.size());
  for (int64_t q = int64_t(rd.size()) - 1, p; q >= 0; q = p - 1) {
    p = q;
    while (p > 0 && idx[p - 1].joined)
      --p;
    bool some = false, all = true;
    for (int64_t i = p; i <= q; ++i) {
      bool has = i >= off && !isOne(od[i - off]);
      some |= has, all &= has || isOne(rd[i]);
    }
    Indices part(ArrayRef<Index>(idx).slice(p, q - p + 1));
    if (some && !all)
      split(part, ArrayRef<DimExpr>(rd).slice(p, q - p + 1));
    for (int64_t i = std::max(p, off); i <= q; ++i) {
      bool joinedWithNext = part[i - p].joined;
      if (!some || (isOne(od[i - off]) && !joinedWithNext && p == q))
        out[i - off] = scalar(num(0));
      else if (some && !all && isOne(od[i - off]))
        out[i - off] = scalar(num(0));
      else
        out[i - off] = part[i - p];
    }
  }
  return out;
}

} // namespace quaver::codegen
