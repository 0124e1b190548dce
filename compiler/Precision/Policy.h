// Which formats an op gets: pure functions from facts about it, without IR.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace quaver::precision {

enum class Format { F32, BF16, F16, E4M3, E5M2 };
/// "fp32", "bf16", "fp16", "e4m3", "e5m2": as policies and reports spell them.
const char *nameOf(Format f);
inline bool isFp8(Format f) { return f == Format::E4M3 || f == Format::E5M2; }

/// What a preset asks for. `source` and `fp32` have no entry here: they decide nothing per op.
struct Preset {
  std::string name;
  Format activations; // left operands of products with a constant right one
  Format weights;     // constant right operands
  Format products;    // operands of products of two computed values, and tables that are looked up
  std::string recipe; // of FP8 weights; the activations' follows from it (dialects/Scale/Spec.md)
};
/// Null for names that are not presets, and for source and fp32.
const Preset *findPreset(const std::string &name);
/// All names that `--precision` takes.
std::vector<std::string> presetNames();

/// What the choice for a product depends on.
struct ProductFacts {
  std::string op; // matmul, conv, conv_transpose
  bool isFloat = true, isF64 = false;
  bool lhsConstant = false, rhsConstant = false;
  bool isQuantizedByFile = false; // an operand comes from a DequantizeLinear
  int64_t contracted = -1;        // size of the summed dimension, -1 where it is not known
};

/// Formats of a product. `decided` false: it stays as the file has it, for `reason`.
struct Choice {
  bool decided = false;
  Format lhs = Format::F32, rhs = Format::F32;
  std::string recipe, reason;
  bool isFallback = false; // the preset wanted FP8 and cannot have it
};
Choice choose(const Preset &preset, const ProductFacts &facts);

} // namespace quaver::precision
