// Policies as people write them: what they say, and what is wrong with them.
#include "compiler/Precision/Policy/Policy.h"
#include <gtest/gtest.h>

using namespace quaver;
using namespace quaver::precision;

namespace {

std::string errorOf(const std::string &text) {
  auto p = parsePolicy(text, "p.yaml");
  return p.ok() ? "no error" : std::string(p.status().message());
}

TEST(Policy, ReadsWhatIsWritten) {
  auto p = parsePolicy(R"(# A comment.
rules:
  - match: "*gate*"
    op: [matmul, conv]
    kind: router
    role: fprop
    min_size: 1000
    position: first
    optional: true
    lhs: e5m2
    rhs: bf16
    accumulate: fp32
    out: fp16
    recipe: per_channel
    reason: because
  - lhs: e4m3
    rhs: e4m3
training:
  weight_gradients: e5m2
  moments: fp32
)",
                       "p.yaml");
  ASSERT_TRUE(p.ok()) << p.status().message();
  ASSERT_EQ(p->rules.size(), 2u);
  const Rule &r = p->rules[0];
  EXPECT_EQ(r.match, "*gate*");
  EXPECT_EQ(r.ops, (std::vector<std::string>{"matmul", "conv"}));
  EXPECT_EQ(r.kinds, std::vector<std::string>{"router"});
  EXPECT_EQ(r.minSize, 1000);
  EXPECT_EQ(r.first, 0);
  EXPECT_TRUE(r.isOptional);
  EXPECT_EQ(r.lhs, Format::E5M2);
  EXPECT_EQ(r.rhs, Format::BF16);
  EXPECT_EQ(r.out, Format::F16);
  EXPECT_EQ(r.recipe, "per_channel");
  EXPECT_EQ(r.line, 3);
  EXPECT_EQ(p->rules[1].recipe, "128x128"); // the default where a side is FP8
  EXPECT_EQ(p->rules[1].line, 16);
  EXPECT_EQ(p->placeOf(p->rules[1]), "p.yaml:16");
  EXPECT_EQ(p->training.weightGradients, Format::E5M2);
  EXPECT_EQ(p->training.moments, Format::F32);
  EXPECT_FALSE(p->training.masterWeights);
}

TEST(Policy, SaysWhereAndWhatIsAllowed) {
  EXPECT_EQ(errorOf(""), "p.yaml:1: the policy is empty; it needs rules, a list of maps");
  EXPECT_EQ(errorOf("# nothing\n"), "p.yaml:1: the policy is empty; it needs rules, a list of maps");
  EXPECT_EQ(errorOf("rules: 7"), "p.yaml:1: rules: must be a list of maps with at least one rule");
  EXPECT_EQ(errorOf("rules: []"), "p.yaml:1: rules: must be a list of maps with at least one rule");
  EXPECT_EQ(errorOf("rulez: []"), "p.yaml:1: rulez: is unknown; allowed: rules, training");
  EXPECT_EQ(errorOf("training: {moments: bf16}"),
            "p.yaml:1: rules: is missing; a policy needs a list of maps");
  EXPECT_EQ(errorOf("rules:\n  - match: '*'\n    lhs: e9m9"),
            "p.yaml:3: lhs: \"e9m9\" is unknown; allowed: e4m3, e5m2, bf16, fp16, fp32");
  EXPECT_EQ(errorOf("rules:\n  - match: '*'\n    recipe: 7x7"),
            "p.yaml:3: recipe: \"7x7\" is unknown; allowed: 128x128, 1x128, per_tensor, per_channel, mx32");
  EXPECT_EQ(
      errorOf("rules:\n  - match: '*'\n"),
      "p.yaml:2: rules: the rule chooses nothing; give lhs, rhs or out one of e4m3, e5m2, bf16, fp16, fp32");
  EXPECT_EQ(errorOf("rules:\n  - lhs: bf16\n    recipe: mx32"),
            "p.yaml:2: recipe: neither lhs nor rhs is e4m3 or e5m2, so nothing is scaled");
  EXPECT_EQ(errorOf("rules:\n  - lhs: bf16\n    accumulate: bf16"),
            "p.yaml:3: accumulate: \"bf16\" is not supported; allowed: fp32");
  EXPECT_EQ(errorOf("rules:\n  - lhs: bf16\n    out: e4m3"),
            "p.yaml:3: out: \"e4m3\" is unknown; allowed: bf16, fp16, fp32");
  EXPECT_EQ(errorOf("rules:\n  - lhs: bf16\n    min_size: many"),
            "p.yaml:3: min_size: \"many\" is no number; allowed: a whole number, at least 0");
  EXPECT_EQ(errorOf("rules:\n  - lhs: bf16\n    lhs: fp32"), "p.yaml:3: lhs: is written twice in one rule");
  EXPECT_EQ(errorOf("rules:\n  - kind: ffn\n    lhs: bf16\n  - kind: ffn\n    lhs: fp32"),
            "p.yaml:4: rules: selects the same as the rule of line 2; the first match wins, so this one "
            "would never apply: remove one of them");
  EXPECT_NE(errorOf("rules: [").find("p.yaml:1: is not YAML: "), std::string::npos) << errorOf("rules: [");
  EXPECT_EQ(errorOf(std::string("\0\1", 2)), "p.yaml:1: is not text, but a policy is a YAML file");
  EXPECT_LT(errorOf("rules:\n  - lhs: " + std::string(5000, 'x')).size(), 300u);
  EXPECT_LT(errorOf(std::string(5000, 'x') + ": 1").size(), 300u);
}

TEST(Policy, FindsFilesAndPresets) {
  EXPECT_EQ(loadPolicy("fp33").status().message(),
            "precision \"fp33\" is unknown; there is source, fp32, bf16, fp16, fp8, fp8-weights, fp8-mx, "
            "deepseek-v3, deepseek-671b, or a policy file (name.yaml)");
  EXPECT_EQ(loadPolicy("nofile.yaml").status().message(),
            "nofile.yaml: the policy file cannot be read; presets are source, fp32, bf16, fp16, fp8, "
            "fp8-weights, fp8-mx, deepseek-v3, deepseek-671b");
  for (const std::string &name : presetNames())
    if (name != "source")
      EXPECT_TRUE(loadPolicy(name).ok()) << loadPolicy(name).status().message();
}

TEST(Policy, TakesTheFirstRuleThatSelects) {
  auto p = parsePolicy("rules:\n  - {position: last, lhs: fp32}\n  - {position: within 2, lhs: fp16}\n  - "
                       "{match: 'layer.?.*', lhs: bf16}\n"
                       "  - {match: 'w*', min_size: 10, lhs: e4m3}\n  - {kind: embedding, rhs: bf16}\n",
                       "p.yaml");
  ASSERT_TRUE(p.ok()) << p.status().message();
  auto lineOf = [&](OpFacts f) {
    const Rule *r = findRule(*p, f);
    return r ? r->line : 0;
  };
  OpFacts f;
  f.node = "layer.3.q", f.weight = "wq", f.op = "matmul", f.kind = "ffn", f.fromFirst = 2, f.fromLast = 0,
  f.size = 64;
  EXPECT_EQ(lineOf(f), 2);
  f.fromLast = 2;
  EXPECT_EQ(lineOf(f), 3);
  f.fromLast = 3;
  EXPECT_EQ(lineOf(f), 4);
  f.node = "layer.13.q";
  EXPECT_EQ(lineOf(f), 5);
  f.size = 9;
  EXPECT_EQ(lineOf(f), 0);
  f.kind = "embedding", f.fromLast = 0;
  EXPECT_EQ(lineOf(f), 6); // rules without a kind are about products
}

TEST(Policy, Globs) {
  EXPECT_TRUE(matchesGlob("*", ""));
  EXPECT_TRUE(matchesGlob("a*b*c", "a-b-b-c"));
  EXPECT_FALSE(matchesGlob("a*b*c", "a-b-b"));
  EXPECT_TRUE(matchesGlob("?x", "*x"));
  EXPECT_FALSE(matchesGlob("", "a"));
  EXPECT_TRUE(matchesGlob("*/MatMul", "/layer/MatMul"));
}

} // namespace
