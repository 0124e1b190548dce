// How quantizing ops render what they are given: what saturates, what vanishes, where magnitudes lie.
#pragma once
#include "compiler/Interpreter/Interpreter.h"
#include "compiler/Interpreter/Tensor.h"
#include "llvm/ADT/MapVector.h"
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

namespace quaver::compare {

/// Counts of elements, accumulated over tensors and runs. `values` are the finite ones that are not zero;
/// shares are relative to them.
struct QuantizeFigures {
  ElementType format = ElementType::Invalid; // of the codes
  int64_t elements = 0, values = 0, nan = 0, inf = 0;
  int64_t saturated = 0;   // values that round beyond the format's largest
  int64_t underflowed = 0; // values whose code stands for zero
  int64_t lost = 0;        // elements under a scale that is 0, negative, NaN or Inf: counted in nothing else
  double scaleMin = std::numeric_limits<double>::infinity(), scaleMax = 0;
  std::map<int, int64_t> magnitudes; // floor(log2(|x| / scale)) -> values; clamped to +-kFarthest

  static constexpr int kFarthest = 64;

  /// `codes` of x's shape, float or integer. `scales`: one for each block of `blocks` (0: the whole
  /// dimension), or null for a scale of 1. `zeroPoints`: null, or of scales' shape.
  void add(const interpreter::Tensor &x, const interpreter::Tensor &codes, const interpreter::Tensor &scales,
           llvm::ArrayRef<int64_t> blocks, const interpreter::Tensor &zeroPoints = {});
  double saturatedShare() const { return values ? double(saturated) / double(values) : 0; }
  double underflowedShare() const { return values ? double(underflowed) / double(values) : 0; }
  /// {"format", "elements", "values", "nan", "inf", "lost", "saturated", "underflowed" (shares), "scale_min",
  /// "scale_max" (null without a scale), "histogram": {"low", "counts"} (values with |x| / scale in [2^(low +
  /// i), 2^(low + i + 1))), "format_low", "format_high" (exponents of the format's smallest and largest
  /// magnitude)}.
  nlohmann::json describe() const;
};

/// Of all ops of a module that make FP8, FP16 or integer codes: quantize, dynamic_quantize, and casts to FP8
/// and FP16.
class QuantizeObserver {
public:
  /// A hook of an interpreter (Measurement::setObserver): what weights become is counted once, not each run.
  void see(mlir::Operation *op, llvm::ArrayRef<interpreter::Tensor> operands,
           llvm::ArrayRef<interpreter::Tensor> results);
  /// In the order of first execution.
  const llvm::MapVector<mlir::Operation *, QuantizeFigures> &all() const { return figures; }

private:
  llvm::MapVector<mlir::Operation *, QuantizeFigures> figures;
};

} // namespace quaver::compare
