#include "compiler/Compare/QuantizeFigures.h"
#include "compiler/Interpreter/Blocks.h"
#include "compiler/Precision/Values.h"
#include "dialects/Graph/IR/GraphDialect.h"
#include <cmath>

using namespace mlir;

namespace quaver::compare {

using interpreter::Tensor;

namespace {

/// Does a magnitude round beyond the format's largest? Half a step behind it is a tie, which goes to the even
/// code.
struct Overflow {
  explicit Overflow(const FormatInfo &format) {
    double step = std::ldexp(1.0, std::ilogb(format.max_value()) - format.mantissa_bits);
    limit = format.max_value() + step / 2;
    tieStays = format.max_code() % 2 == 0;
  }
  bool operator()(double magnitude) const { return tieStays ? magnitude > limit : magnitude >= limit; }
  double limit;
  bool tieStays;
};

/// Block sizes of a graph.quantize: see its description.
SmallVector<int64_t> blocksOf(graph::QuantizeOp op, const Tensor &x, const Tensor &scales) {
  if (!op.getBlocks().empty())
    return SmallVector<int64_t>(op.getBlocks());
  SmallVector<int64_t> blocks(size_t(x.rank()), 0);
  if (scales.size() == 1 && scales.rank() <= 1)
    return blocks;
  int64_t axis = op.getAxis() < 0 ? op.getAxis() + x.rank() : op.getAxis();
  if (op.getBlockSize() > 0)
    blocks.assign(size_t(x.rank()), 1), blocks[axis] = op.getBlockSize();
  else
    blocks[axis] = 1;
  return blocks;
}

bool isCounted(graph::CastOp op) {
  Type from = precision::elementOf(op.getInput()), to = precision::elementOf(op.getResult());
  return isa<FloatType>(from) && isa<FloatType>(to) && (to.isF16() || to.getIntOrFloatBitWidth() == 8) &&
         from.getIntOrFloatBitWidth() > to.getIntOrFloatBitWidth();
}

} // namespace

void QuantizeFigures::add(const Tensor &input, const Tensor &given, const Tensor &scales,
                          ArrayRef<int64_t> blockSizes, const Tensor &zeroPoints) {
  format = given.type();
  const FormatInfo &info = format_info(format);
  Tensor x = input.to(ElementType::F32), codes = given.to(ElementType::F32);
  Tensor s = scales.isNull() ? Tensor() : scales.to(ElementType::F32);
  Tensor zeros = zeroPoints.isNull() ? Tensor() : zeroPoints.to(ElementType::F32);
  for (int64_t i = 0; !s.isNull() && i < s.size(); ++i)
    if (double v = s.as<float>()[i]; std::isfinite(v))
      scaleMin = std::min(scaleMin, v), scaleMax = std::max(scaleMax, v);
  std::optional<Overflow> overflow;
  if (info.is_float())
    overflow.emplace(info);
  std::array<int64_t, 2 * kFarthest + 1> counts{};
  elements += x.size();
  SmallVector<int64_t> whole(size_t(x.rank()), 0);
  interpreter::Blocks(x.shape(), s.isNull() ? ArrayRef<int64_t>(whole) : blockSizes)
      .forEach([&](int64_t i, int64_t at) {
        float v = x.as<float>()[i], scale = s.isNull() ? 1 : s.as<float>()[at];
        float zero = zeros.isNull() ? 0 : zeros.as<float>()[at];
        if (!(scale > 0) || !std::isfinite(scale)) {
          ++lost;
          return;
        }
        if (!std::isfinite(v) || v == 0) {
          nan += std::isnan(v), inf += std::isinf(v);
          return;
        }
        ++values;
        float ratio = v / scale, rounded = std::nearbyint(ratio) + zero;
        saturated += overflow ? (*overflow)(std::fabs(ratio))
                              : rounded < info.min_value() || rounded > info.max_value();
        underflowed += codes.as<float>()[i] == zero;
        int exponent = ratio == 0 ? -kFarthest : std::ilogb(ratio);
        ++counts[std::clamp(exponent, -kFarthest, kFarthest) + kFarthest];
      });
  for (auto [i, n] : llvm::enumerate(counts))
    if (n)
      magnitudes[int(i) - kFarthest] += n;
}

nlohmann::json QuantizeFigures::describe() const {
  nlohmann::json counts = nlohmann::json::array();
  int low = magnitudes.empty() ? 0 : magnitudes.begin()->first;
  for (auto &[exponent, n] : magnitudes) {
    while (low + int(counts.size()) < exponent)
      counts.push_back(0);
    counts.push_back(n);
  }
  const FormatInfo &info = format_info(format);
  nlohmann::json j = {{"format", std::string(short_name(format))},
                      {"elements", elements},
                      {"values", values},
                      {"nan", nan},
                      {"inf", inf},
                      {"lost", lost},
                      {"saturated", saturatedShare()},
                      {"underflowed", underflowedShare()},
                      {"scale_min", nullptr},
                      {"scale_max", nullptr},
                      {"histogram", {{"low", low}, {"counts", std::move(counts)}}},
                      {"format_low", info.is_float() ? std::ilogb(info.min_subnormal()) : 0},
                      {"format_high", std::ilogb(info.max_value())}};
  if (scaleMax > 0)
    j["scale_min"] = scaleMin, j["scale_max"] = scaleMax;
  return j;
}

void QuantizeObserver::see(Operation *op, ArrayRef<Tensor> operands, ArrayRef<Tensor> results) {
  auto cast = dyn_cast<graph::CastOp>(op);
  if (!isa<graph::QuantizeOp, graph::DynamicQuantizeOp>(op) && !(cast && isCounted(cast)))
    return;
  auto [it, isNew] = figures.insert({op, {}});
  if (!isNew && precision::isConstant(op->getOperand(0)))
    return;
  QuantizeFigures &f = it->second;
  if (auto dynamic = dyn_cast<graph::DynamicQuantizeOp>(op))
    f.add(operands[0], results[0], results[1], dynamic.getBlocks());
  else if (auto given = dyn_cast<graph::QuantizeOp>(op))
    f.add(operands[0], results[0], operands[1], blocksOf(given, operands[0], operands[1]),
          given.getZeroPoint() ? operands[2] : Tensor());
  else
    f.add(operands[0], results[0], {}, {});
}

} // namespace quaver::compare
