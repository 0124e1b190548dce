#include "compiler/Dispatch/Views.h"

using namespace mlir;
using namespace quaver::graph;

namespace quaver::dispatch {

static bool isOne(const DimExpr &d) { return d == DimExpr(1); }

StridedView StridedView::contiguous(ArrayRef<DimExpr> dims) {
  StridedView v;
  v.dims.assign(dims.begin(), dims.end());
  v.strides.resize(dims.size());
  DimExpr stride(1);
  for (size_t i = dims.size(); i-- > 0;) {
    v.strides[i] = stride;
    stride = stride * dims[i];
  }
  return v;
}

bool StridedView::isMatrix() const {
  return strides.size() >= 2 && strides.back() && strides[strides.size() - 2];
}

// Dimensions from `from` are matched group by group with those of `to`; the sizes of a group have one
// product.
static std::optional<StridedView> reshaped(const StridedView &in, const Dims &to) {
  StridedView from;
  for (auto [d, s] : llvm::zip(in.dims, in.strides))
    if (!isOne(d))
      from.dims.push_back(d), from.strides.push_back(s);
  StridedView out;
  out.dims = to;
  out.strides.assign(to.size(), DimExpr(0));
  size_t i = 0, j = 0;
  while (j < to.size()) {
    if (isOne(to[j])) {
      ++j;
      continue;
    }
    // The shortest groups [i, p) and [j, q) of equal product.
    size_t p = 0, q = 0;
    for (size_t n = 2; !p && n <= from.dims.size() - i + to.size() - j; ++n)
      for (size_t a = 1; !p && a < n; ++a) {
        size_t pe = i + a, qe = j + (n - a);
        if (pe > from.dims.size() || qe > to.size())
          continue;
        if (product(ArrayRef<DimExpr>(from.dims).slice(i, a)) ==
            product(ArrayRef<DimExpr>(to).slice(j, n - a)))
          p = pe, q = qe;
      }
    if (!p)
      return std::nullopt;
    // Sizes that are counted as one must lie one inside the next, else the place is computed.
    bool nested = true;
    for (size_t t = i; t + 1 < p; ++t)
      nested &= from.strides[t] && from.strides[t + 1] &&
                *from.strides[t] == *from.strides[t + 1] * from.dims[t + 1];
    std::optional<DimExpr> stride = nested ? from.strides[p - 1] : std::nullopt;
    for (size_t t = q; t-- > j;) {
      out.strides[t] = stride;
      if (stride)
        stride = *stride * to[t];
    }
    i = p, j = q;
  }
  if (i != from.dims.size())
    return std::nullopt;
  return out;
}

std::optional<StridedView> viewThrough(Operation *op, const StridedView &in, ShapeAnalysis &shapes) {
  Dims to(shapes.get(op->getResult(0)).dims);
  StridedView out;
  out.dims = to;
  if (auto t = dyn_cast<TransposeOp>(op)) {
    for (int64_t p : t.getPermutation())
      out.strides.push_back(in.strides[p]);
    return out;
  }
  if (isa<ExpandOp>(op)) {
    size_t added = to.size() - in.dims.size();
    for (size_t i = 0; i < to.size(); ++i)
      out.strides.push_back(i < added || in.dims[i - added] != to[i] ? std::optional<DimExpr>(DimExpr(0))
                                                                     : in.strides[i - added]);
    return out;
  }
  if (isa<ExpandDimsOp, SqueezeOp, ReshapeOp>(op))
    return reshaped(in, to);
  if (isa<DequantizeOp>(op)) // of its codes
    return in;
  return std::nullopt;
}

static bool isWeight(Value v) {
  while (Operation *op = v.getDefiningOp()) {
    if (isa<GetWeightOp>(op))
      return true;
    if (!isa<TransposeOp, DequantizeOp>(op) && classify(op) != OpClass::Alias)
      return false;
    v = op->getOperand(0);
  }
  return false;
}

static bool isDequantized(Value v) {
  while (auto t = v.getDefiningOp<TransposeOp>())
    v = t.getInput();
  return v.getDefiningOp<DequantizeOp>() != nullptr;
}

bool acceptsView(Operation *contraction, unsigned i) {
  auto m = dyn_cast<MatmulOp>(contraction);
  if (!m)
    return false;
  // Codes are multiplied as they are by codes of a weight only; others become floats first.
  if (isDequantized(m->getOperand(i)))
    return isWeight(m.getRhs()) && isDequantized(m.getRhs());
  return i == 1 || !isWeight(m.getRhs());
}

llvm::DenseSet<Operation *> findViews(Block &block, ShapeAnalysis &shapes) {
  auto isViewOp = [](Operation *op) {
    return isa<TransposeOp, ExpandOp, DequantizeOp>(op) ||
           (classify(op) == OpClass::Alias && !isa<BitcastOp>(op));
  };
  llvm::DenseSet<Operation *> views;
  for (Operation &op : llvm::reverse(block)) {
    if (!isViewOp(&op) || op.use_empty())
      continue;
    bool only = llvm::all_of(op.getUses(), [&](OpOperand &use) {
      Operation *user = use.getOwner();
      if (user->getBlock() != &block || (use.getOperandNumber() > 0 && isSizeOperand(use)))
        return false;
      bool isScaled = isa<DequantizeOp>(op); // products see codes through transposes alone
      return (views.contains(user) && (!isScaled || isa<TransposeOp>(user))) ||
             acceptsView(user, use.getOperandNumber());
    });
    if (only)
      views.insert(&op);
  }
  // A view of a whole value stays outside, as an alias; one that strides cannot say starts from a copy.
  llvm::DenseMap<Operation *, StridedView> known;
  for (Operation &op : block) {
    if (!views.contains(&op))
      continue;
    Value from = op.getOperand(0);
    Operation *def = from.getDefiningOp();
    bool onView = def && views.contains(def);
    bool isAlias = classify(&op) == OpClass::Alias;
    if (!onView && isAlias) {
      views.erase(&op);
      continue;
    }
    StridedView in = onView ? known.find(def)->second : StridedView::contiguous(shapes.get(from).dims);
    std::optional<StridedView> out = viewThrough(&op, in, shapes);
    bool feedsProduct = llvm::any_of(op.getUsers(), [&](Operation *user) { return isa<MatmulOp>(user); });
    if (out && (out->isMatrix() || !feedsProduct)) {
      known[&op] = *out;
      continue;
    }
    views.erase(&op);
    if (isAlias) // an alias of a copy, then
      views.erase(def);
  }
  return views;
}

} // namespace quaver::dispatch
