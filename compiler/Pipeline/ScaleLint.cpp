#include "compiler/Pipeline/ScaleLint.h"
#include "compiler/Interpreter/Eval.h"
#include "compiler/Precision/LayerKinds.h"
#include <cmath>

using namespace mlir;

namespace quaver::pipeline {
namespace {

constexpr double kVanishing = 0.5; // share of a block's values that may round to zero
constexpr int64_t kFew = 16;       // blocks of fewer values say nothing

struct BlockCount {
  int64_t values = 0, odd = 0, vanished = 0;
  float largest = 0;
};

std::string listed(ArrayRef<int64_t> numbers, StringRef separator, int64_t unknown = -1) {
  std::string s;
  for (int64_t n : numbers)
    s += (s.empty() ? "" : separator.str()) + (n == unknown ? "?" : std::to_string(n));
  return s;
}

} // namespace

void lintQuantizedWeight(Operation *op, StringRef weight, const interpreter::Tensor &values,
                         const interpreter::Tensor &codes, ArrayRef<int64_t> blocks) {
  interpreter::Tensor x = values.to(ElementType::F32);
  interpreter::Shape counts;
  for (auto [size, block] : llvm::zip(x.shape(), blocks))
    counts.push_back(block == 0 ? 1 : (size + block - 1) / block);
  interpreter::Strides strides = interpreter::stridesOf(counts);
  std::vector<BlockCount> found(size_t(interpreter::countOf(counts)));
  int64_t last = x.rank() - 1, length = x.dim(last), rows = length ? x.size() / length : 0;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t at = 0, rest = row;
    for (int64_t d = last - 1; d >= 0; --d) {
      at += blocks[d] == 0 ? 0 : rest % x.dim(d) / blocks[d] * strides[d];
      rest /= x.dim(d);
    }
    int64_t run = blocks[last] == 0 ? length : blocks[last];
    for (int64_t first = 0; first < length; first += run, at += strides[last]) {
      BlockCount &b = found[at];
      for (int64_t i = row * length + first, end = row * length + std::min(first + run, length); i < end;
           ++i) {
        float v = std::fabs(x.as<float>()[i]);
        if (!std::isfinite(v))
          ++b.odd;
        else if (v != 0)
          ++b.values, b.vanished += (codes.as<uint8_t>()[i] & 0x7F) == 0, b.largest = std::max(b.largest, v);
      }
    }
  }
  auto nameOf = [&](size_t block) {
    SmallVector<int64_t> position;
    for (size_t d = 0; d < counts.size(); ++d)
      position.push_back(int64_t(block) / strides[d] % counts[d]);
    return "weight \"" + weight.str() + "\", block [" + listed(position, ", ") + "] of " +
           listed(blocks, "x", 0);
  };
  std::string keep = "keep it wide by a rule {match: \"" + weight.str() + "\", lhs: bf16, rhs: bf16}";
  auto worst = [&](auto measure, double limit) {
    int64_t many = 0;
    std::optional<size_t> at;
    for (size_t i = 0; i < found.size(); ++i)
      if (double m = measure(found[i]); m > limit) {
        ++many;
        if (!at || m > measure(found[*at]))
          at = i;
      }
    return std::pair(at, many);
  };
  auto others = [](int64_t many) {
    return many > 1 ? " (and " + std::to_string(many - 1) + " more blocks)" : std::string();
  };
  if (auto [at, many] = worst([](const BlockCount &b) { return double(b.odd); }, 0); at)
    op->emitWarning() << nameOf(*at) << ": " << found[*at].odd << " of its values are NaN or Inf"
                      << others(many) << ", so its scale says nothing: repair the weight, or " << keep;
  auto share = [](const BlockCount &b) {
    return b.values < kFew ? 0.0 : double(b.vanished) / double(b.values);
  };
  if (auto [at, many] = worst(share, kVanishing); at)
    op->emitWarning() << nameOf(*at) << ": " << found[*at].vanished << " of " << found[*at].values
                      << " values round to zero beside one of " << found[*at].largest << others(many)
                      << ": choose a recipe of smaller blocks (1x128, per_channel), or " << keep;
}

void lintGivenScales(ModuleOp module, const WeightStore &weights) {
  module.walk([&](Operation *op) {
    if (!isa<graph::QuantizeOp, graph::DequantizeOp>(op))
      return;
    Operation *def = op->getOperand(1).getDefiningOp();
    interpreter::Tensor scales;
    if (auto get = dyn_cast_or_null<graph::GetWeightOp>(def)) {
      if (const WeightData *w = weights.find(get.getWeight()))
        scales = interpreter::Tensor::of(*w);
    } else if (auto constant = dyn_cast_or_null<graph::ConstantOp>(def)) {
      scales = interpreter::Tensor::of(constant.getValue());
    }
    if (scales.isNull() || !is_float(scales.type()))
      return;
    std::string name = precision::weightNameOf(op->getOperand(1));
    std::string tensor = precision::weightNameOf(op->getOperand(0));
    for (int64_t i = 0; i < scales.size(); ++i) {
      double s = scales.number(i);
      bool isTiny = scales.type() == ElementType::F32 && std::fpclassify(float(s)) == FP_SUBNORMAL;
      if (s > 0 && std::isfinite(s) && !isTiny)
        continue;
      InFlightDiagnostic warning = op->emitWarning() << "scale ";
      if (!name.empty())
        warning << "\"" << name << "\" ";
      if (!tensor.empty())
        warning << "of \"" << tensor << "\" ";
      warning << "is " << s << " at element " << i << (isTiny ? ", a subnormal" : "")
              << ": such a scale gives zeros, NaN or Inf; calibrate again and export the model anew";
      return;
    }
  });
}

} // namespace quaver::pipeline
