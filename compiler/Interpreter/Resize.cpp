// resize, as ONNX Resize-19 says it: one dimension after the other, each output a weighted sum of neighbours.
#include "compiler/Interpreter/Eval.h"
#include <cmath>

using namespace mlir;

namespace quaver::interpreter {
namespace {

// Where one output position reads along one dimension.
struct Sample {
  SmallVector<std::pair<int64_t, double>, 4> taps; // input position (clamped to the edge), weight
  bool outside = false;                            // tf_crop_and_resize: the extrapolation value
};

double cubic(double x, double a) {
  x = std::fabs(x);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2)
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

class AxisSampler {
public:
  AxisSampler(graph::ResizeOp op, int64_t inputSize, int64_t outputSize, double scale, double roiStart,
              double roiEnd)
      : op(op), in(inputSize), out(outputSize), scale(scale), roiStart(roiStart), roiEnd(roiEnd) {}

  /// Position in the input of output position `x`; nullopt for a coordinate mode that does not exist.
  std::optional<double> coordinate(int64_t x) const {
    StringRef mode = op.getCoordinates();
    double width = scale * double(in);
    if (mode == "half_pixel")
      return (x + 0.5) / scale - 0.5;
    if (mode == "pytorch_half_pixel")
      return width == 1 ? -0.5 : (x + 0.5) / scale - 0.5;
    if (mode == "align_corners")
      return width == 1 ? 0.0 : double(x) * double(in - 1) / (width - 1);
    if (mode == "asymmetric")
      return x / scale;
    if (mode == "tf_half_pixel_for_nn")
      return (x + 0.5) / scale;
    if (mode == "half_pixel_symmetric")
      return double(in) / 2 * (1 - double(out) / width) + (x + 0.5) / scale - 0.5;
    if (mode == "tf_crop_and_resize") {
      double span = roiEnd - roiStart;
      return roiStart * double(in - 1) +
             (width == 1 ? span * double(in - 1) / 2 : double(x) * span * double(in - 1) / (width - 1));
    }
    return std::nullopt;
  }

  Sample sample(double at) const {
    Sample s;
    if (op.getCoordinates() == "tf_crop_and_resize" && (at < 0 || at > double(in - 1)))
      return s.outside = true, s;
    double left = std::floor(at), ratio = at - left;
    // Exactly on a position: it is the right neighbour of the one before, at a distance of 1.
    if (ratio == 0)
      left -= 1, ratio = 1;
    int64_t first;
    SmallVector<double> weights;
    double reach = op.getAntialias() ? std::min(scale, 1.0) : 1.0; // the filter widens when sizes shrink
    double a = op.getCubicCoefficient().convertToDouble();
    if (op.getMode() == "nearest") {
      first = 0;
      weights = {1 - double(takesRight(ratio)), double(takesRight(ratio))};
    } else {
      bool isCubic = op.getMode() == "cubic";
      int64_t radius = int64_t(std::floor(-(isCubic ? 2.0 : 1.0) / reach)) + 1; // <= 0: leftmost tap
      first = radius;
      double sum = 0;
      for (int64_t i = radius; i < 2 - radius; ++i) {
        double distance = reach * (double(i) - ratio);
        weights.push_back(isCubic ? cubic(distance, a) : std::max(0.0, 1 - std::fabs(distance)));
        sum += weights.back();
      }
      if (op.getAntialias())
        for (double &w : weights)
          w /= sum;
    }
    if (op.getExcludeOutside()) {
      double sum = 0;
      for (auto [i, w] : llvm::enumerate(weights)) {
        int64_t p = int64_t(left) + first + int64_t(i);
        if (p < 0 || p >= in)
          w = 0;
        sum += w;
      }
      for (double &w : weights)
        w /= sum;
    }
    for (auto [i, w] : llvm::enumerate(weights))
      if (w != 0)
        s.taps.emplace_back(std::clamp<int64_t>(int64_t(left) + first + int64_t(i), 0, in - 1), w);
    return s;
  }

private:
  bool takesRight(double ratio) const {
    if (ratio == 1)
      return true;
    StringRef mode = op.getNearestMode();
    if (mode == "round_prefer_floor")
      return ratio > 0.5;
    if (mode == "round_prefer_ceil")
      return ratio >= 0.5;
    return mode == "ceil";
  }
  mutable graph::ResizeOp op;
  int64_t in, out;
  double scale, roiStart, roiEnd;
};

LogicalResult evalResize(Eval &e) {
  auto op = cast<graph::ResizeOp>(e.op);
  const Tensor &x = e.in[0];
  int64_t rank = x.rank();
  bool bySizes = e.in[2].size() == 0;
  if ((bySizes ? e.in[3] : e.in[2]).size() != rank)
    return e.error() << "needs one scale or size per dimension of " << x.typeString();
  bool crops = op.getCoordinates() == "tf_crop_and_resize";
  if (crops && e.in[1].size() != 2 * rank)
    return e.error() << "needs a roi of two values per dimension of " << x.typeString();
  // f64 throughout, rounded once at the end.
  Tensor now = x.to(ElementType::F64);
  std::vector<uint8_t> outside; // per element of `now`, empty: none
  double extrapolation = op.getExtrapolation().convertToDouble();
  for (int64_t d = 0; d < rank; ++d) {
    int64_t size = bySizes ? e.in[3].integer(d) : int64_t(std::floor(double(x.dim(d)) * e.in[2].number(d)));
    double scale = bySizes ? double(size) / double(x.dim(d)) : e.in[2].number(d);
    double roiStart = crops ? e.in[1].number(d) : 0, roiEnd = crops ? e.in[1].number(d + rank) : 1;
    if (size < 0 || (size > 0 && x.dim(d) == 0))
      return e.error() << "cannot make " << size << " elements of dimension " << d << " of "
                       << x.typeString();
    if (size == x.dim(d) && scale == 1 && !crops)
      continue;
    AxisSampler sampler(op, x.dim(d), size, scale, roiStart, roiEnd);
    AxisView view(now.shape(), d);
    Shape shape(now.shape());
    shape[d] = size;
    Tensor next = Tensor::make(ElementType::F64, shape);
    for (int64_t p = 0; p < size; ++p) {
      auto at = sampler.coordinate(p);
      if (!at)
        return e.error() << "has the coordinate mode '" << op.getCoordinates() << "', which does not exist";
      Sample s = sampler.sample(*at);
      for (int64_t o = 0; o < view.outer; ++o)
        for (int64_t i = 0; i < view.inner; ++i) {
          double sum = 0;
          for (auto [position, weight] : s.taps)
            sum += weight * now.as<double>()[(o * view.size + position) * view.inner + i];
          next.mutableAs<double>()[(o * size + p) * view.inner + i] = s.outside ? extrapolation : sum;
        }
    }
    now = next;
  }
  if (!is_float(x.type())) { // integers are rounded, not cut
    Tensor rounded = Tensor::make(ElementType::F64, now.shape());
    for (int64_t i = 0; i < now.size(); ++i)
      rounded.mutableAs<double>()[i] = std::nearbyint(now.as<double>()[i]);
    now = rounded;
  }
  return e.give(now.to(x.type()));
}

} // namespace

void addResize(EvalTable &t) { add<graph::ResizeOp>(t, evalResize); }

} // namespace quaver::interpreter
