// resize: ONNX Resize-19. Coordinates and weights are computed in f64.
#include "compiler/Codegen/Common/Loops/LoopBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace quaver::graph;

namespace quaver::codegen {
namespace {

class Resizer {
public:
  Resizer(LoopBuilder &l, ResizeOp op)
      : l(l), op(op), f64(l.b.getF64Type()), mode(op.getMode()), how(op.getCoordinates()) {}
  LogicalResult run(KernelFunction::Launch &launch);

private:
  Value f(double v) { return arith::ConstantOp::create(l.b, l.loc, l.b.getF64FloatAttr(v)); }
  Value toFloat(Value i) { return arith::SIToFPOp::create(l.b, l.loc, f64, i); }
  Value toInt(Value x) { return arith::FPToSIOp::create(l.b, l.loc, l.b.getI64Type(), x); }
  Value fadd(Value x, Value y) { return arith::AddFOp::create(l.b, l.loc, x, y); }
  Value fsub(Value x, Value y) { return arith::SubFOp::create(l.b, l.loc, x, y); }
  Value fmul(Value x, Value y) { return arith::MulFOp::create(l.b, l.loc, x, y); }
  Value fdiv(Value x, Value y) { return arith::DivFOp::create(l.b, l.loc, x, y); }
  Value floor(Value x) { return math::FloorOp::create(l.b, l.loc, x); }
  Value abs(Value x) { return math::AbsFOp::create(l.b, l.loc, x); }
  Value fcmp(arith::CmpFPredicate p, Value x, Value y) { return arith::CmpFOp::create(l.b, l.loc, p, x, y); }
  Value clamp(Value i, Value n) { return l.max(l.min(i, l.sub(n, l.num(1))), l.num(0)); }

  /// One dimension of one output element: taps are at first + i for i in [start, end), weighted.
  struct Axis {
    bool identity = false;
    Value at;              // identity, nearest: the input's coordinate
    Value n, first, ratio; // ratio in (0, 1]: the place between first and first + 1
    Value shrink, start, end, norm;
  };
  LogicalResult prepare();
  Value roiAt(int64_t i);
  Value coordinate(int64_t d, Value x, Value &outside);
  Axis axisOf(int64_t d, Value x, Value &outside);
  Value kernelAt(Value t);
  Value weight(const Axis &a, Value i);
  Value taps(ArrayRef<Axis> axes, size_t d, Value offset);
  Value fromDouble(Value v);

  LoopBuilder &l;
  ResizeOp op;
  Type f64, element, bits;
  StringRef mode, how;
  Value in;
  Dims from, to;
  std::optional<SmallVector<double>> scales;
};

std::optional<SmallVector<double>> floatsOf(Value v) {
  auto c = v.getDefiningOp<ConstantOp>();
  auto dense = c ? dyn_cast<DenseFPElementsAttr>(c.getValue()) : DenseFPElementsAttr();
  if (!dense)
    return std::nullopt;
  SmallVector<double> out;
  for (APFloat x : dense.getValues<APFloat>())
    out.push_back(x.convertToDouble());
  return out;
}

LogicalResult Resizer::prepare() {
  element = getElementTypeOrSelf(op.getInput().getType());
  bits = l.bitsOf(op.getInput());
  in = l.input(op.getInput());
  from = l.dims(op.getInput()), to = l.dims(op.getResult());
  scales = floatsOf(op.getScales());
  if (scales && scales->size() != from.size())
    scales.reset(); // empty: the sizes rule
  if (mode != "nearest" && mode != "linear" && mode != "cubic")
    return op.emitOpError() << "has the unknown mode \"" << mode << "\"";
  static const StringRef kCoordinates[] = {"half_pixel",    "half_pixel_symmetric", "pytorch_half_pixel",
                                           "align_corners", "asymmetric",           "tf_crop_and_resize"};
  if (!llvm::is_contained(kCoordinates, how))
    return op.emitOpError() << "has the unknown coordinates \"" << how << "\"";
  static const StringRef kNearest[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
  if (mode == "nearest" && !llvm::is_contained(kNearest, op.getNearestMode()))
    return op.emitOpError() << "has the unknown nearest_mode \"" << op.getNearestMode() << "\"";
  if (mode != "nearest" && isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 16)
    return op.emitOpError() << "cannot interpolate elements of " << element
                            << "; cast to a wider float first";
  return success();
}

Value Resizer::roiAt(int64_t i) {
  if (auto c = floatsOf(op.getRoi()); c && i < int64_t(c->size()))
    return f((*c)[i]);
  if (Value roi = l.input(op.getRoi())) {
    Value v = l.load(roi, l.b.getI32Type(), l.num(i));
    v = arith::BitcastOp::create(l.b, l.loc, l.b.getF32Type(), v);
    return arith::ExtFOp::create(l.b, l.loc, f64, v);
  }
  return f(i < int64_t(from.size()) ? 0 : 1);
}

// Where position x of the result lies in the input. `outside` is extended where the whole element is
// extrapolated.
Value Resizer::coordinate(int64_t d, Value x, Value &outside) {
  Value n = toFloat(l.size(from[d])), out = toFloat(l.size(to[d]));
  Value scale = scales ? f((*scales)[d]) : fdiv(out, n);
  Value width = scales ? fmul(scale, n) : out; // before it was rounded down
  Value one = f(1), half = f(0.5), isOne = fcmp(arith::CmpFPredicate::OEQ, width, one);
  Value centered = fsub(fdiv(fadd(x, half), scale), half);
  if (how == "half_pixel")
    return centered;
  if (how == "asymmetric")
    return fdiv(x, scale);
  if (how == "pytorch_half_pixel")
    return l.select(isOne, f(-0.5), centered);
  if (how == "half_pixel_symmetric")
    return fadd(fmul(fdiv(n, f(2)), fsub(one, fdiv(out, width))), centered);
  Value last = fsub(n, one), stretch = fsub(width, one);
  if (how == "align_corners")
    return l.select(isOne, f(0), fdiv(fmul(x, last), stretch));
  Value lo = roiAt(d), hi = roiAt(d + int64_t(from.size())), span = fmul(fsub(hi, lo), last);
  Value at = fadd(l.select(isOne, fdiv(span, f(2)), fdiv(fmul(x, span), stretch)), fmul(lo, last));
  Value beyond =
      l.either(fcmp(arith::CmpFPredicate::OLT, at, f(0)), fcmp(arith::CmpFPredicate::OGT, at, last));
  outside = outside ? l.either(outside, beyond) : beyond;
  return at;
}

Value Resizer::kernelAt(Value t) {
  t = abs(t);
  Value one = f(1);
  if (mode == "linear")
    return arith::MaximumFOp::create(l.b, l.loc, fsub(one, t), f(0));
  double a = op.getCubicCoefficient().convertToDouble();
  Value t2 = fmul(t, t), t3 = fmul(t2, t);
  Value near = fadd(fsub(fmul(f(a + 2), t3), fmul(f(a + 3), t2)), one);
  Value far = fsub(fadd(fsub(fmul(f(a), t3), fmul(f(5 * a), t2)), fmul(f(8 * a), t)), f(4 * a));
  Value isNear = fcmp(arith::CmpFPredicate::OLE, t, one), isFar = fcmp(arith::CmpFPredicate::OLT, t, f(2));
  return l.select(isNear, near, l.select(isFar, far, f(0)));
}

Value Resizer::weight(const Axis &a, Value i) {
  Value w = kernelAt(fmul(fsub(toFloat(i), a.ratio), a.shrink));
  if (!op.getExcludeOutside())
    return w;
  return l.select(l.compare(LoopBuilder::Predicate::ult, l.add(a.first, i), a.n), w, f(0));
}

Resizer::Axis Resizer::axisOf(int64_t d, Value x, Value &outside) {
  Axis a;
  bool sameSize = from[d] == to[d] && (!scales || (*scales)[d] == 1);
  if (sameSize && how != "tf_crop_and_resize") {
    a.identity = true;
    a.at = x;
    return a;
  }
  a.n = l.size(from[d]);
  Value at = coordinate(d, toFloat(x), outside);
  // first = ceil(at) - 1: a whole coordinate is the right end of its interval, with ratio 1.
  Value below = floor(at), isWhole = fcmp(arith::CmpFPredicate::OEQ, below, at);
  Value first = l.select(isWhole, fsub(below, f(1)), below);
  a.first = toInt(first);
  a.ratio = fsub(at, first);
  if (mode == "nearest") {
    StringRef rule = op.getNearestMode();
    Value right = isWhole;
    if (rule == "ceil")
      right = l.isTrue(true);
    else if (rule != "floor")
      right = l.either(
          isWhole, fcmp(rule == "round_prefer_floor" ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OGE,
                        a.ratio, f(0.5)));
    a.at = clamp(l.select(right, l.add(a.first, l.num(1)), a.first), a.n);
    a.identity = true;
    return a;
  }
  Value scale = scales ? f((*scales)[d]) : fdiv(toFloat(l.size(to[d])), toFloat(a.n));
  a.shrink = op.getAntialias() ? arith::MinimumFOp::create(l.b, l.loc, scale, f(1)).getResult() : f(1);
  a.start = l.add(toInt(floor(fdiv(f(mode == "linear" ? -1 : -2), a.shrink))), l.num(1));
  a.end = l.sub(l.num(2), a.start);
  a.norm = f(1);
  if (op.getAntialias() || op.getExcludeOutside())
    a.norm = l.loop(a.start, a.end, l.num(1), {f(0)},
                    [&](Value i, ValueRange c) -> Values { return {fadd(c[0], weight(a, i))}; })[0];
  return a;
}

Value Resizer::taps(ArrayRef<Axis> axes, size_t d, Value offset) {
  if (d == axes.size()) {
    Value v = l.load(in, bits, offset);
    if (isa<IntegerType>(element)) {
      if (element.isUnsignedInteger() || element.isInteger(1))
        return arith::UIToFPOp::create(l.b, l.loc, f64, v);
      return toFloat(v);
    }
    v = l.toCompute(v, element);
    return v.getType() == f64 ? v : arith::ExtFOp::create(l.b, l.loc, f64, v).getResult();
  }
  const Axis &a = axes[d];
  Value n = l.size(from[d]);
  if (a.identity)
    return taps(axes, d + 1, l.add(l.mul(offset, n), a.at));
  return l.loop(a.start, a.end, l.num(1), {f(0)}, [&](Value i, ValueRange c) -> Values {
    Value at = clamp(l.add(a.first, i), n);
    return {fadd(c[0], fmul(fdiv(weight(a, i), a.norm), taps(axes, d + 1, l.add(l.mul(offset, n), at))))};
  })[0];
}

// Truncates to integers, clamped to their range; rounds to floats.
Value Resizer::fromDouble(Value v) {
  if (!isa<IntegerType>(element)) {
    if (element.isF64())
      return l.fromCompute(v, element);
    v = arith::TruncFOp::create(l.b, l.loc, l.b.getF32Type(), v);
    return l.fromCompute(v, element);
  }
  unsigned width = bits.getIntOrFloatBitWidth();
  bool isUnsigned = element.isUnsignedInteger() || element.isInteger(1);
  double top = isUnsigned ? std::ldexp(1.0, width) - 1 : std::ldexp(1.0, width - 1) - 1,
         low = isUnsigned ? 0 : -std::ldexp(1.0, width - 1);
  if (width == 64)
    top = isUnsigned ? 18446744073709549568.0 : 9223372036854774784.0; // the largest doubles inside
  v = arith::MinimumFOp::create(l.b, l.loc, v, f(top));
  v = arith::MaximumFOp::create(l.b, l.loc, v, f(low));
  if (isUnsigned)
    return arith::FPToUIOp::create(l.b, l.loc, bits, v);
  return arith::FPToSIOp::create(l.b, l.loc, bits, v);
}

LogicalResult Resizer::run(KernelFunction::Launch &launch) {
  if (failed(prepare()))
    return failure();
  Value out = l.output(op.getResult());
  // A workgroup is one element of the result.
  l.loop(l.k.begin(), l.k.end(), [&](Value e) {
    SmallVector<Axis> axes(to.size());
    Value left = e, outside;
    for (int64_t d = int64_t(to.size()) - 1; d >= 0; --d) {
      Value size = l.size(to[d]);
      axes[d] = axisOf(d, l.rem(left, size), outside);
      left = l.div(left, size);
    }
    auto inside = [&]() -> Values {
      if (mode != "nearest")
        return {fromDouble(taps(axes, 0, l.num(0)))};
      Value offset = l.num(0);
      for (auto [d, a] : llvm::enumerate(axes))
        offset = l.add(l.mul(offset, l.size(from[d])), a.at);
      return {l.load(in, bits, offset)};
    };
    Values v = outside
                   ? l.choose(
                         outside,
                         [&]() -> Values { return {fromDouble(f(op.getExtrapolation().convertToDouble()))}; },
                         inside)
                   : inside();
    l.store(out, e, v[0]);
  });
  launch.workgroups = l.shapes.numElements(op.getResult());
  launch.grain = 256;
  launch.description = ("resize, " + mode).str();
  return success();
}

} // namespace

LogicalResult emitResize(LoopBuilder &l, ResizeOp op, KernelFunction::Launch &launch) {
  return Resizer(l, op).run(launch);
}

} // namespace quaver::codegen
