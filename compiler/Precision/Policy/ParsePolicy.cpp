// YAML to rules, with the line of every complaint.
#include "compiler/Precision/Policy/Policy.h"
#include "compiler/Precision/Policy/Yaml.h"
#include "compiler/Precision/Policy/presets.inc"
#include <set>

namespace quaver::precision {
namespace {

using namespace yaml;

constexpr const char *kFormatNames[] = {"e4m3", "e5m2", "bf16", "fp16", "fp32"};
constexpr const char *kWideNames[] = {"bf16", "fp16", "fp32"};
constexpr const char *kRuleKeys[] = {"match", "op",  "kind",       "role", "min_size", "position", "optional",
                                     "lhs",   "rhs", "accumulate", "out",  "recipe",   "reason"};
constexpr const char *kRoles[] = {"fprop", "dgrad", "wgrad"};

// first, last, N (N products behind it), or "within N" of the last.
void position(Rule &r, const YAML::Node &n) {
  std::string text = scalar("position", n);
  r.position = text;
  if (text == "first") {
    r.first = 0;
  } else if (text == "last") {
    r.atMostFromLast = 0;
  } else if (text.rfind("within ", 0) == 0) {
    r.atMostFromLast = number("position", YAML::Node(text.substr(7)));
  } else if (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos) {
    r.atLeastFromLast = r.atMostFromLast = number("position", n);
  } else {
    throw Complaint{
        lineOf(n),
        "position: \"" + shortened(text) +
            "\" is unknown; allowed: first, last, a number (of products behind it), within N (of the last)"};
  }
}

Rule rule(const YAML::Node &n) {
  if (!n.IsMap())
    throw Complaint{lineOf(n), "rules: each rule is a map; allowed keys: " + joined(kRuleKeys)};
  Rule r;
  r.line = lineOf(n);
  std::set<std::string> seen;
  for (const auto &entry : n) {
    std::string key = scalar("rules", entry.first);
    const YAML::Node &value = entry.second;
    if (!seen.insert(key).second)
      throw Complaint{lineOf(entry.first), shortened(key) + ": is written twice in one rule"};
    auto format = [&] { return *formatFrom(oneOf(key, value, kFormatNames)); };
    if (key == "match") {
      r.match = scalar(key, value);
      if (r.match.empty())
        throw Complaint{lineOf(value), "match: is empty; allowed: a name of a node or weight, with * and ?"};
    } else if (key == "op") {
      r.ops = someOf(key, value, kOps);
    } else if (key == "kind") {
      r.kinds = someOf(key, value, kKinds);
    } else if (key == "role") {
      r.roles = someOf(key, value, kRoles);
    } else if (key == "min_size") {
      r.minSize = number(key, value);
    } else if (key == "position") {
      position(r, value);
    } else if (key == "optional") {
      static constexpr const char *kBools[] = {"true", "false"};
      r.isOptional = oneOf(key, value, kBools) == "true";
    } else if (key == "lhs") {
      r.lhs = format();
    } else if (key == "rhs") {
      r.rhs = format();
    } else if (key == "accumulate") {
      if (format() != Format::F32)
        throw Complaint{lineOf(value),
                        "accumulate: \"" + scalar(key, value) + "\" is not supported; allowed: fp32"};
    } else if (key == "out") {
      r.out = formatFrom(oneOf(key, value, kWideNames));
    } else if (key == "recipe") {
      r.recipe = oneOf(key, value, kRecipes);
    } else if (key == "reason") {
      r.reason = scalar(key, value);
    } else {
      throw Complaint{lineOf(entry.first), shortened(key) + ": is unknown; allowed: " + joined(kRuleKeys)};
    }
  }
  if (!r.lhs && !r.rhs && !r.out)
    throw Complaint{r.line,
                    "rules: the rule chooses nothing; give lhs, rhs or out one of " + joined(kFormatNames)};
  bool hasFp8 = (r.lhs && isFp8(*r.lhs)) || (r.rhs && isFp8(*r.rhs));
  if (!r.recipe.empty() && !hasFp8)
    throw Complaint{r.line, "recipe: neither lhs nor rhs is e4m3 or e5m2, so nothing is scaled"};
  if (r.recipe.empty() && hasFp8)
    r.recipe = "128x128";
  return r;
}

Training training(const YAML::Node &n) {
  static constexpr const char *kKeys[] = {"weight_gradients", "moments", "master_weights"};
  if (!n.IsMap())
    throw Complaint{lineOf(n), "training: must be a map; allowed keys: " + joined(kKeys)};
  Training t;
  for (const auto &entry : n) {
    std::string key = oneOf("training", entry.first, kKeys);
    auto format = formatFrom(oneOf(key, entry.second, kFormatNames));
    (key == "moments" ? t.moments : key == "master_weights" ? t.masterWeights : t.weightGradients) = format;
  }
  return t;
}

// Two rules of the same selectors: the second can never be meant.
void refuseTwins(const std::vector<Rule> &rules) {
  for (size_t i = 0; i < rules.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      const Rule &a = rules[j], &b = rules[i];
      if (a.match == b.match && a.ops == b.ops && a.kinds == b.kinds && a.roles == b.roles &&
          a.minSize == b.minSize && a.position == b.position)
        throw Complaint{b.line,
                        "rules: selects the same as the rule of line " + std::to_string(a.line) +
                            "; the first match wins, so this one would never apply: remove one of them"};
    }
}

Policy policyFrom(const YAML::Node &root) {
  static constexpr const char *kKeys[] = {"rules", "training"};
  if (!root.IsDefined() || root.IsNull())
    throw Complaint{1, "the policy is empty; it needs rules, a list of maps"};
  if (!root.IsMap())
    throw Complaint{lineOf(root), "a policy is a map; allowed keys: " + joined(kKeys)};
  Policy p;
  bool hasRules = false;
  for (const auto &entry : root) {
    std::string key = scalar("policy", entry.first);
    if (key == "training") {
      p.training = training(entry.second);
    } else if (key == "rules") {
      hasRules = true;
      if (!entry.second.IsSequence() || entry.second.size() == 0)
        throw Complaint{lineOf(entry.second), "rules: must be a list of maps with at least one rule"};
      for (const YAML::Node &n : entry.second)
        p.rules.push_back(rule(n));
    } else {
      throw Complaint{lineOf(entry.first), shortened(key) + ": is unknown; allowed: " + joined(kKeys)};
    }
  }
  if (!hasRules)
    throw Complaint{1, "rules: is missing; a policy needs a list of maps"};
  refuseTwins(p.rules);
  return p;
}

} // namespace

StatusOr<Policy> parsePolicy(const std::string &text, const std::string &name) {
  auto p = yaml::read(text, name, "a policy", policyFrom);
  if (p.ok())
    p->name = name;
  return p;
}

std::vector<std::string> presetNames() {
  std::vector<std::string> names = {"source"};
  for (const auto &[name, text] : kPresetFiles)
    names.push_back(name);
  return names;
}

StatusOr<Policy> loadPolicy(const std::string &nameOrPath) {
  for (const auto &[name, text] : kPresetFiles)
    if (nameOrPath == name) {
      auto p = parsePolicy(text, name);
      if (p.ok())
        p->isPreset = true;
      return p;
    }
  if (nameOrPath.find_first_of("./\\") == std::string::npos)
    return InvalidArgumentError("precision \"", shortened(nameOrPath), "\" is unknown; there is ",
                                joined(presetNames()), ", or a policy file (name.yaml)");
  QUAVER_ASSIGN_OR_RETURN(
      std::string text,
      fileText(nameOrPath, "the policy file cannot be read; presets are " + joined(presetNames())));
  return parsePolicy(text, nameOrPath);
}

} // namespace quaver::precision
