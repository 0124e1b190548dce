#include "dialects/Graph/Analysis/ShapeRules.h"

using namespace mlir;

namespace quaver::graph {

std::optional<int64_t> smallCount(ArrayRef<DimExpr> dims) {
  int64_t n = 1;
  for (const DimExpr &d : dims) {
    auto c = d.getConstant();
    if (!c || *c > ShapeAnalysis::kMaxElements)
      return std::nullopt;
    n *= *c;
    if (n > ShapeAnalysis::kMaxElements)
      return std::nullopt;
  }
  return n;
}

LogicalResult ShapeRules::set(Value result, Dims d, Elements elements) {
  Type element = getElementTypeOrSelf(result.getType());
  if (auto u = dyn_cast<UnrankedTensorType>(result.getType()))
    element = u.getElementType();
  if (auto r = dyn_cast<RankedTensorType>(result.getType())) {
    if (r.getRank() != int64_t(d.size()))
      return result.getDefiningOp()->emitOpError()
             << "has a result of rank " << r.getRank() << ", but its operands give rank " << d.size();
    for (auto [have, want] :
         llvm::zip(r.getShape(), d)) { // a type may know more than the rules: a declared output
      auto c = want.getConstant();
      if (!ShapedType::isDynamic(have) && c && *c != have)
        return result.getDefiningOp()->emitOpError()
               << "has a result of " << r << ", but its operands give size " << *c;
    }
  }
  if (!elements || smallCount(d) != int64_t(elements->size()))
    elements.reset();
  result.setType(ShapeAnalysis::typeOf(d, element));
  a.known[result] = SymbolicTensor{std::move(d), std::move(elements)};
  return success();
}

FailureOr<ShapeRules::Dims> ShapeRules::broadcastAll(Operation *op, ValueRange operands) {
  Dims out;
  for (Value v : operands) {
    Dims d = dims(v);
    if (d.size() > out.size())
      out.insert(out.begin(), d.size() - out.size(), DimExpr(1));
    for (size_t i = 0; i < d.size(); ++i) {
      DimExpr &o = out[out.size() - d.size() + i];
      auto b = a.broadcast(o, d[i]);
      if (!b)
        return op->emitOpError() << "cannot broadcast sizes " << o.str() << " and " << d[i].str()
                                 << " (dimension " << int64_t(i) - int64_t(d.size())
                                 << "); they must be equal, or one of them 1";
      o = *b;
    }
  }
  return out;
}

LogicalResult ShapeRules::equal(Operation *op, const DimExpr &x, const DimExpr &y, const char *what) {
  if (a.assumeEqual(x, y))
    return success();
  return op->emitOpError() << what << " must agree, but are " << x.str() << " and " << y.str();
}

LogicalResult ShapeRules::elementwise(Operation *op) {
  auto d = broadcastAll(op, op->getOperands());
  if (failed(d))
    return failure();
  return set(op->getResult(0), *d, elementwiseElements(op, *d));
}

static bool isWhole(Type t) { return isa<IntegerType>(getElementTypeOrSelf(t)); }

// C's truncating division and Python's remainder, on expressions: exact where both sides are known not to be
// negative.
static std::optional<DimExpr> divide(const DimExpr &x, const DimExpr &y) {
  auto c = y.getConstant();
  if (x.isConstant() && c)
    return *c ? DimExpr(*x.getConstant() / *c) : DimExpr(0);
  DimBounds b = x.bounds(
      [](StringRef s) { return DimBounds{s.starts_with("value_") ? INT64_MIN : 0, std::nullopt, 1}; });
  if (b.min < 0 || (c && *c <= 0))
    return std::nullopt;
  return DimExpr::floorDiv(x, y);
}

static std::optional<DimExpr> combine(Operation *op, ArrayRef<DimExpr> x) {
  DimExpr zero(0), one(1);
  if (isa<CastOp>(op)) {
    unsigned width = getElementTypeOrSelf(op->getResult(0).getType()).getIntOrFloatBitWidth();
    if (width > 1 && width < 32)
      return std::nullopt; // would wrap
    if (getElementTypeOrSelf(op->getResult(0).getType()).isInteger(1))
      return one - DimExpr::eq(x[0], zero);
    return x[0];
  }
  if (isa<NegOp>(op))
    return zero - x[0];
  if (isa<AbsOp>(op))
    return DimExpr::max(x[0], zero - x[0]);
  if (isa<NotOp>(op))
    return one - x[0];
  if (isa<AddOp>(op))
    return x[0] + x[1];
  if (isa<SubOp>(op))
    return x[0] - x[1];
  if (isa<MulOp>(op))
    return x[0] * x[1];
  if (isa<DivOp>(op))
    return divide(x[0], x[1]);
  if (auto r = dyn_cast<RemOp>(op)) {
    auto c = x[1].getConstant();
    if (!c || *c <= 0 || r.getTruncated())
      return std::nullopt;
    return DimExpr::mod(x[0], x[1]);
  }
  if (isa<MinOp>(op))
    return DimExpr::min(x[0], x[1]);
  if (isa<MaxOp>(op))
    return DimExpr::max(x[0], x[1]);
  if (isa<AndOp>(op))
    return x[0] * x[1];
  if (isa<OrOp>(op))
    return DimExpr::max(x[0], x[1]);
  if (isa<XorOp>(op))
    return one - DimExpr::eq(x[0], x[1]);
  if (auto c = dyn_cast<CompareOp>(op)) {
    switch (c.getKind()) {
    case CompareKind::eq:
      return DimExpr::eq(x[0], x[1]);
    case CompareKind::ne:
      return one - DimExpr::eq(x[0], x[1]);
    case CompareKind::lt:
      return DimExpr::lt(x[0], x[1]);
    case CompareKind::le:
      return one - DimExpr::lt(x[1], x[0]);
    case CompareKind::gt:
      return DimExpr::lt(x[1], x[0]);
    case CompareKind::ge:
      return one - DimExpr::lt(x[0], x[1]);
    }
  }
  if (isa<SelectOp>(op))
    return DimExpr::select(x[0], x[1], x[2]);
  return std::nullopt;
}

ShapeRules::Elements ShapeRules::elementwiseElements(Operation *op, const Dims &result) {
  auto count = smallCount(result);
  if (!count || !isWhole(op->getResult(0).getType()))
    return std::nullopt;
  for (Value v : op->getOperands())
    if (!isWhole(v.getType()) || !a.get(v).elements)
      return std::nullopt;
  Elements out;
  out.emplace();
  for (int64_t flat = 0; flat < *count; ++flat) {
    SmallVector<DimExpr> x;
    for (Value v : op->getOperands()) {
      const SymbolicTensor &t = a.get(v);
      int64_t rest = flat, index = 0, stride = 1;
      for (int64_t i = result.size() - 1, j = t.dims.size() - 1; i >= 0 && j >= 0; --i, --j) {
        int64_t n = *result[i].getConstant(), own = *t.dims[j].getConstant();
        index += (own == 1 ? 0 : rest % n) * stride;
        stride *= own;
        rest /= n;
      }
      x.push_back((*t.elements)[index]);
    }
    auto e = combine(op, x);
    if (!e)
      return std::nullopt;
    out->push_back(*e);
  }
  return out;
}

LogicalResult ShapeRules::constant(ConstantOp op) {
  auto type = cast<ShapedType>(op.getValue().getType());
  Dims d;
  for (int64_t n : type.getShape())
    d.push_back(DimExpr(n));
  Elements elements;
  if (smallCount(d) && isWhole(type))
    if (auto dense = dyn_cast<DenseIntElementsAttr>(op.getValue())) {
      elements.emplace();
      bool isUnsigned = type.getElementType().isUnsignedInteger() || type.getElementType().isInteger(1);
      for (const APInt &v : dense.getValues<APInt>())
        elements->push_back(DimExpr(isUnsigned ? int64_t(v.getZExtValue()) : v.getSExtValue()));
    }
  return set(op.getResult(), d, elements);
}

} // namespace quaver::graph
