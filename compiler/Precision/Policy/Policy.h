// A precision policy: rules that a person can read, and what they choose. Pure functions, without IR.
#pragma once
#include "runtime/base/status.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace quaver::precision {

enum class Format { F32, BF16, F16, E4M3, E5M2 };
/// "fp32", "bf16", "fp16", "e4m3", "e5m2": as policies and reports spell them.
const char *nameOf(Format f);
std::optional<Format> formatFrom(const std::string &name);
inline bool isFp8(Format f) { return f == Format::E4M3 || f == Format::E5M2; }

/// Layer kinds, as LayerKinds.h recognises them and policies spell them.
inline constexpr const char *kKinds[] = {
    "embedding",   "attention_qkv", "attention_product", "attention_output", "ffn", "expert", "router",
    "output_head", "conv",          "product",           "outer_product",    "norm"};
inline constexpr const char *kOps[] = {"matmul", "conv",       "conv_transpose",
                                       "gather", "layer_norm", "rms_norm"};
inline constexpr const char *kRecipes[] = {"128x128", "1x128", "per_tensor", "per_channel", "mx32"};

/// What a rule may look at.
struct OpFacts {
  std::string node, weight; // names in the source model; empty where there is none
  std::string op, kind, role = "fprop";
  int64_t size = 0;      // elements of the weight, 0 without one
  int64_t fromFirst = 0; // products before it, and behind it, in the order of the module
  int64_t fromLast = 0;
  /// Look-ups and norms are only chosen for by rules that name their kind or op.
  bool isProduct() const { return kind != "embedding" && kind != "norm"; }
};

/// One entry of `rules`. An absent selector selects everything; an absent format leaves that side as it is.
struct Rule {
  std::string match; // glob over node and weight names
  std::vector<std::string> ops, kinds, roles;
  int64_t minSize = 0;
  std::optional<int64_t> first; // the first of all products is 0
  std::optional<int64_t> atLeastFromLast, atMostFromLast;
  std::string position; // as written
  bool isOptional = false;
  std::optional<Format> lhs, rhs, out;
  std::string recipe; // 128x128 if a side is FP8 and none is written
  std::string reason;
  int line = 0; // counted from 1
};

/// Formats of what training keeps; read when a training step is compiled.
struct Training {
  std::optional<Format> weightGradients, moments, masterWeights;
};

struct Policy {
  std::string name; // of the preset, or the file's path
  bool isPreset = false;
  std::vector<Rule> rules;
  Training training;
  /// "FILE:LINE" of a rule.
  std::string placeOf(const Rule &rule) const {
    return (isPreset ? "preset " : "") + name + ":" + std::to_string(rule.line);
  }
};

/// Reads a policy from text. Errors are one clause `NAME:LINE: key: what, and what is allowed`.
StatusOr<Policy> parsePolicy(const std::string &text, const std::string &name);
/// A preset by its name, or a policy file by its path (anything with a dot or a slash). `source` is no
/// policy.
StatusOr<Policy> loadPolicy(const std::string &nameOrPath);
/// All names that `--precision` takes beside files: source, then the presets.
std::vector<std::string> presetNames();

bool selects(const Rule &rule, const OpFacts &facts);
/// The first rule that selects the op, or nothing.
const Rule *findRule(const Policy &policy, const OpFacts &facts);
/// `*` any text, `?` one character.
bool matchesGlob(const std::string &pattern, const std::string &text);

} // namespace quaver::precision
