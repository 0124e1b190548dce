// Which kernel computes a matrix product, and with what launch: pure functions from a description to a
// configuration.
//
// No LLVM, no hardware: the same answer everywhere, table-tested. Counts that depend on the number of rows
// are given as the constants of a formula, so that a plan can state them as expressions of its dimensions.
#pragma once

#include "compiler/Codegen/X86/Kernels/pack.h"

#include <optional>
#include <string>
#include <string_view>

namespace quaver::x86 {

// "x86-64-v3", "x86-64-v4", "x86-64-v4+bf16": the feature set whose kernels run on a target; nothing for
// other names.
std::optional<FeatureSet> featureSetOfTarget(std::string_view target);

// How the right side of a product reaches the kernel.
enum class RhsSource {
  Packed,  // a weight, packed ahead
  Strided, // an activation, with any strides; batched
};

// A product as asked for. Sums are always f32.
struct MatmulDesc {
  FeatureSet features = FeatureSet::Avx2;
  ElementType lhs = ElementType::F32; // F32, BF16, F16, or F8E4M3FN with 1x128 scales
  ElementType rhs =
      ElementType::F32; // F32, F16, BF16, or F8E4M3FN with 128x128 scales (scales may also be one for all)
  RhsSource source = RhsSource::Packed;
  // Products computed in bf16 (operands rounded to it) rather than f32. Implied by BF16 weights.
  bool inBf16 = false;
  int64_t n = -1, k = -1; // -1: known only at run time (Strided only)
  bool isMx = false; // F8E4M3FN weights with E8M0 scales of 32x1 blocks; an F8E4M3FN lhs with such of 1x32

  std::string print() const;
};

struct MatmulConfig {
  std::string symbol;   // of the kernel in kernelBitcode(features)
  PackedLayout layout;  // Packed only: how the weight must lie
  int64_t rowsPerGroup; // workgroups = [batches *] ceil(m / rowsPerGroup) * ceil(n / columnsPerGroup)
  int64_t columnsPerGroup;
  int64_t scratchBytes; // of one worker
  int64_t grain;        // workgroups that a worker should take at once
  std::string why;      // one clause, for the report

  std::string print() const;
};

// The choice, or nothing and the reason in `refusal`: one clause naming types, for the message to the user.
std::optional<MatmulConfig> chooseMatmul(const MatmulDesc &desc, std::string &refusal);

// A 2-D convolution of f32, bf16 or f16 by filters of such. Workgroups = images * groups * ceil(m /
// rowsPerGroup) * ceil(positions / columnsPerGroup). `layout` is not set: filters are read as they lie.
MatmulConfig chooseConv(FeatureSet features);

// quantize_1x128 of rows of `k` values. Workgroups = rows * ceil(k / columnsPerGroup).
struct QuantizeConfig {
  std::string symbol;
  int64_t columnsPerGroup;
  int64_t grain;
};
QuantizeConfig chooseQuantize1x128(FeatureSet features, int64_t k);

} // namespace quaver::x86
