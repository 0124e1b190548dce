// Verifiers of quantization and products. The labels are those of Spec.md.
#include "dialects/Scale/IR/ScaleDialect.h"

using namespace mlir;

namespace quaver::scale {
namespace {

bool isPlainFloat(Type t) { return t.isF32() || t.isBF16() || t.isF16(); }

bool sameShape(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  return a.size() == b.size() &&
         llvm::none_of(llvm::zip(a, b), [](auto p) { return differ(std::get<0>(p), std::get<1>(p)); });
}

std::string text(Type t) {
  std::string s;
  llvm::raw_string_ostream(s) << t;
  return s;
}

// C2-C5: what both products ask of their precision and of the scales along the contracted dimension.
template <class Product> LogicalResult product(Product op, Value lhs, Value rhs, int64_t lhsK, int64_t rhsK) {
  auto l = dyn_cast<ScaledTensorType>(lhs.getType()), r = dyn_cast<ScaledTensorType>(rhs.getType());
  if (failed(
          require(op, "C1", l || r,
                  "takes a scaled tensor on one side at least: use graph.matmul or graph.conv for floats")))
    return failure();
  for (Type side : {lhs.getType(), rhs.getType()})
    if (failed(require(op, "C1", isa<ScaledTensorType>(side) || isPlainFloat(elementOf(side)),
                       "the other side holds f32, bf16 or f16, not " + text(side))))
      return failure();
  if (l && r) {
    int64_t a = l.getBlocks()[lhsK], b = r.getBlocks()[rhsK];
    bool fits = a == b || a == ScaledTensorType::kWhole || b == ScaledTensorType::kWhole;
    if (failed(require(op, "C3", fits,
                       "the blocks along the contracted dimension differ: scales = " + l.getLayout() +
                           " on the left, " + r.getLayout() + " on the right")))
      return failure();
  }
  PrecisionAttr p = op.getPrecision();
  if (failed(require(op, "C4",
                     p.getLhs() == elementOf(lhs.getType()) && p.getRhs() == elementOf(rhs.getType()),
                     "the precision says lhs = " + text(p.getLhs()) + ", rhs = " + text(p.getRhs()) +
                         ", the operands are " + text(lhs.getType()) + " and " + text(rhs.getType()))))
    return failure();
  Type out = elementOf(op.getResult().getType());
  if (failed(require(op, "C4", p.getOut() == out && isPlainFloat(out),
                     "the precision says out = " + text(p.getOut()) + ", the result is " + text(out))))
    return failure();
  return require(op, "C5", p.getAccumulate().isF32(), "sums are f32, not " + text(p.getAccumulate()));
}

} // namespace

LogicalResult QuantizeOp::verify() {
  ScaledTensorType type = getResult().getType();
  if (failed(require(*this, "Q1", isPlainFloat(elementOf(getInput().getType())), "takes f32, bf16 or f16")) ||
      failed(require(*this, "Q2", sameShape(shapeOf(getInput().getType()), type.getShape()),
                     "the result has the input's shape")))
    return failure();
  return require(*this, "Q3", type.getScaleType().isF32() || getRounding() != graph::ScaleRounding::none,
                 "f8E8M0FNU scales are rounded to powers of two");
}

LogicalResult DequantizeOp::verify() {
  if (failed(require(*this, "Q1", isPlainFloat(elementOf(getResult().getType())), "gives f32, bf16 or f16")))
    return failure();
  return require(*this, "Q2", sameShape(getInput().getType().getShape(), shapeOf(getResult().getType())),
                 "the result has the input's shape");
}

static LogicalResult isPair(Operation *op, ScaledTensorType type, Type codes, Type scales) {
  RankedTensorType wantCodes = type.getCodesType(), wantScales = type.getScalesType();
  if (failed(require(op, "P1",
                     elementOf(codes) == type.getElementType() &&
                         sameShape(shapeOf(codes), wantCodes.getShape()),
                     "codes of " + text(type) + " are " + text(wantCodes) + ", not " + text(codes))))
    return failure();
  return require(
      op, "P2", elementOf(scales) == type.getScaleType() && sameShape(shapeOf(scales), wantScales.getShape()),
      "scales of " + text(type) + " are " + text(wantScales) + ", not " + text(scales));
}
LogicalResult PackOp::verify() {
  return isPair(*this, getResult().getType(), getCodes().getType(), getScales().getType());
}
LogicalResult UnpackOp::verify() {
  return isPair(*this, getInput().getType(), getCodes().getType(), getScales().getType());
}

LogicalResult MatmulOp::verify() {
  ArrayRef<int64_t> a = shapeOf(getLhs().getType()), b = shapeOf(getRhs().getType()),
                    out = shapeOf(getResult().getType());
  if (failed(require(*this, "C2",
                     a.size() >= 2 && b.size() >= 2 && out.size() == std::max(a.size(), b.size()) &&
                         !differ(a.back(), b[b.size() - 2]) &&
                         !differ(a[a.size() - 2], out[out.size() - 2]) && !differ(b.back(), out.back()),
                     "shapes do not multiply: " + text(getLhs().getType()) + " by " +
                         text(getRhs().getType()) + " to " + text(getResult().getType()))))
    return failure();
  return product(*this, getLhs(), getRhs(), int64_t(a.size()) - 1, int64_t(b.size()) - 2);
}

LogicalResult ConvOp::verify() {
  ArrayRef<int64_t> x = shapeOf(getInput().getType()), w = shapeOf(getFilter().getType());
  bool fits = x.size() >= 3 && x.size() == w.size() && shapeOf(getResult().getType()).size() == x.size() &&
              getGroups() >= 1;
  if (fits && !ShapedType::isDynamic(w[1]))
    fits = !differ(x[1], w[1] * int64_t(getGroups()));
  if (failed(require(*this, "C2", fits,
                     "shapes do not convolve: " + text(getInput().getType()) + " with " +
                         text(getFilter().getType()))))
    return failure();
  if (auto s = dyn_cast<ScaledTensorType>(getInput().getType()))
    if (failed(require(*this, "C6",
                       llvm::all_of(s.getBlocks().drop_front(2), [](int64_t b) { return b <= 1; }),
                       "windows cross blocks of the input's spatial dimensions: scales = " + s.getLayout())))
      return failure();
  return product(*this, getInput(), getFilter(), 1, 1);
}

} // namespace quaver::scale
