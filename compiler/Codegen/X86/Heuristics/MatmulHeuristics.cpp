#include "compiler/Codegen/X86/Heuristics/MatmulHeuristics.h"

#include <algorithm>

namespace quaver::x86 {
namespace {

constexpr std::string_view kSetNames[] = {"avx2", "avx512", "avx512_bf16"};

std::string symbolOf(FeatureSet features, std::string_view kernel) {
  return std::string(kSetNames[int(features)]) + "_" + std::string(kernel);
}

bool isWide(ElementType type) {
  return type == ElementType::F32 || type == ElementType::BF16 || type == ElementType::F16;
}

std::string typesOf(const MatmulDesc &d) {
  return std::string(short_name(d.lhs)) + " x " + std::string(short_name(d.rhs));
}

// The kernel for packed weights, or an empty name and the reason.
std::string_view packedKernel(const MatmulDesc &d, std::string &refusal) {
  const bool isMx =
      d.isMx && d.rhs == ElementType::F8E4M3FN && (isWide(d.lhs) || d.lhs == ElementType::F8E4M3FN);
  if (isMx)
    return "mx32_gemm";
  if (d.lhs == ElementType::F8E4M3FN) {
    if (d.rhs == ElementType::F8E4M3FN)
      return "e4m3_e4m3_gemm";
    refusal = "e4m3 activations are multiplied only by e4m3 weights, not " + typesOf(d);
    return {};
  }
  if (!isWide(d.lhs)) {
    refusal = "no x86 kernel multiplies " + typesOf(d);
    return {};
  }
  switch (d.rhs) {
  case ElementType::F32:
  case ElementType::F16:
    if (!d.inBf16)
      return d.rhs == ElementType::F32 ? "f32_gemm" : "f16_gemm";
    refusal =
        std::string(short_name(d.rhs)) + " weights cannot be multiplied in bf16: cast them to bf16 first";
    return {};
  case ElementType::BF16:
    return "bf16_gemm";
  case ElementType::F8E4M3FN:
    return d.inBf16 ? "bf16_e4m3_gemm" : "f32_e4m3_gemm";
  default:
    refusal = "no x86 kernel multiplies " + typesOf(d);
    return {};
  }
}

std::string_view boundOf(FeatureSet features, bool pairs) {
  if (!pairs)
    return "f32 multiply-add";
  return features == FeatureSet::Avx512Bf16 ? "bf16 pairs by vdpbf16ps" : "bf16 values by f32 multiply-add";
}

} // namespace

std::optional<FeatureSet> featureSetOfTarget(std::string_view target) {
  if (target == "x86-64-v3")
    return FeatureSet::Avx2;
  if (target == "x86-64-v4")
    return FeatureSet::Avx512;
  if (target == "x86-64-v4+bf16")
    return FeatureSet::Avx512Bf16;
  return std::nullopt;
}

std::optional<MatmulConfig> chooseMatmul(const MatmulDesc &d, std::string &refusal) {
  const Geometry g = geometry(d.features);
  MatmulConfig c{};
  c.rowsPerGroup = g.blockRows;
  if (d.source == RhsSource::Strided) {
    if (!isWide(d.lhs) || !isWide(d.rhs)) {
      refusal = "no x86 kernel multiplies activations " + typesOf(d) + ": dequantize them first";
      return std::nullopt;
    }
    c.symbol = symbolOf(d.features, d.inBf16 ? "batched_matmul_bf16" : "batched_matmul_f32");
    c.columnsPerGroup = g.mergedColumns;
    c.scratchBytes = batchedScratchBytes(g);
    c.grain = 1;
    c.why = "both sides are activations; " + std::string(boundOf(d.features, d.inBf16));
    return c;
  }
  if (d.n < 0 || d.k < 0) {
    refusal = "a packed weight has constant sizes";
    return std::nullopt;
  }
  const std::string_view kernel = packedKernel(d, refusal);
  if (kernel.empty())
    return std::nullopt;
  const bool pairs =
      kernel != "f32_gemm" && kernel != "f16_gemm" && kernel != "f32_e4m3_gemm" && kernel != "mx32_gemm";
  c.symbol = symbolOf(d.features, kernel);
  c.layout = packedLayout(d.features, d.rhs, !pairs);
  c.columnsPerGroup = g.groupColumns;
  c.scratchBytes = scratchBytes(g, ceilDiv(d.k, c.layout.pair));
  // Neighbouring groups share the packed rows of A; but leave enough pieces for a few workers.
  const int64_t groups = ceilDiv(d.n, g.groupColumns);
  c.grain = std::clamp<int64_t>(groups / 8, 1, g.mergedColumns / g.groupColumns);
  c.why = std::string(boundOf(d.features, pairs)) + ", weights in " + layoutName(c.layout);
  return c;
}

MatmulConfig chooseConv(FeatureSet features) {
  const Geometry g = geometry(features);
  MatmulConfig c{};
  c.symbol = symbolOf(features, "conv_f32");
  c.rowsPerGroup = g.blockRows;
  c.columnsPerGroup = g.mergedColumns;
  c.scratchBytes = batchedScratchBytes(g);
  c.grain = 1;
  c.why = "filters by windows; f32 multiply-add";
  return c;
}

QuantizeConfig chooseQuantize1x128(FeatureSet features, int64_t k) {
  // At least 16 KB of input a turn.
  const int64_t groups = std::max<int64_t>(ceilDiv(k, kQuantizeColumns), 1);
  return {symbolOf(features, "quantize_1x128"), kQuantizeColumns, ceilDiv(4, groups)};
}

std::string MatmulDesc::print() const {
  const auto size = [](int64_t x) { return x < 0 ? std::string("?") : std::to_string(x); };
  return "matmul " + typesOf(*this) + (inBf16 ? " in bf16" : "") + ", n = " + size(n) + ", k = " + size(k) +
         (source == RhsSource::Packed ? ", packed" : ", strided") + ", " +
         std::string(kSetNames[int(features)]);
}

std::string MatmulConfig::print() const {
  return symbol + ": groups of " + std::to_string(rowsPerGroup) + "x" + std::to_string(columnsPerGroup) +
         ", scratch " + std::to_string(scratchBytes) + " bytes, grain " + std::to_string(grain) + " (" + why +
         ")";
}

} // namespace quaver::x86
