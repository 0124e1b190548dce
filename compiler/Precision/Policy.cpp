#include "compiler/Precision/Policy.h"

namespace quaver::precision {

const char *nameOf(Format f) {
  switch (f) {
  case Format::F32:
    return "fp32";
  case Format::BF16:
    return "bf16";
  case Format::F16:
    return "fp16";
  case Format::E4M3:
    return "e4m3";
  case Format::E5M2:
    return "e5m2";
  }
  return "";
}

// One line a preset.
static const Preset kPresets[] = {
    {"bf16", Format::BF16, Format::BF16, Format::BF16, ""},
    {"fp8", Format::E4M3, Format::E4M3, Format::BF16, "128x128"},
    {"fp8-weights", Format::BF16, Format::E4M3, Format::BF16, "128x128"},
};

const Preset *findPreset(const std::string &name) {
  for (const Preset &p : kPresets)
    if (p.name == name)
      return &p;
  return nullptr;
}

std::vector<std::string> presetNames() {
  std::vector<std::string> names = {"source", "fp32"};
  for (const Preset &p : kPresets)
    names.push_back(p.name);
  return names;
}

Choice choose(const Preset &preset, const ProductFacts &facts) {
  Choice c;
  auto asInFile = [&](const char *why) {
    c.reason = why;
    return c;
  };
  if (!facts.isFloat)
    return asInFile("a product of integers");
  if (facts.isF64)
    return asInFile("the file computes it in fp64");
  if (facts.isQuantizedByFile)
    return asInFile("the file quantizes its operands itself");
  c.decided = true;
  std::string says = "preset " + preset.name + ": ";
  // Positions times frequencies of a rotary embedding: BF16 cannot count beyond 256.
  if (facts.op == "matmul" && facts.contracted == 1) {
    c.reason = says + "an outer product, not a sum: fp32";
    return c;
  }
  if (facts.rhsConstant && facts.op != "conv_transpose") {
    c.lhs = preset.activations, c.rhs = preset.weights;
    c.recipe = isFp8(c.lhs) || isFp8(c.rhs) ? preset.recipe : "";
    c.reason = says + "the right operand is a weight";
    return c;
  }
  c.lhs = c.rhs = preset.products;
  bool wantsFp8 = isFp8(preset.activations) || isFp8(preset.weights);
  if (wantsFp8 && facts.rhsConstant) { // conv_transpose
    c.isFallback = true;
    c.reason = says + "no FP8 form of " + facts.op + ": " + nameOf(c.lhs);
  } else if (wantsFp8 && facts.lhsConstant) {
    c.isFallback = true;
    c.reason = says + "the weight is the left operand, FP8 products have it on the right: " + nameOf(c.lhs);
  } else {
    c.reason = says + (facts.lhsConstant ? "the left operand is a weight" : "both operands are computed");
  }
  return c;
}

} // namespace quaver::precision
