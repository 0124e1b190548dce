#include "compiler/Precision/Policy/Policy.h"
#include <algorithm>

namespace quaver::precision {

static constexpr Format kFormats[] = {Format::E4M3, Format::E5M2, Format::BF16, Format::F16, Format::F32};

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

std::optional<Format> formatFrom(const std::string &name) {
  for (Format f : kFormats)
    if (name == nameOf(f))
      return f;
  return std::nullopt;
}

bool matchesGlob(const std::string &pattern, const std::string &text) {
  // The last star seen is where to come back to.
  size_t p = 0, t = 0, star = std::string::npos, from = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t]) && pattern[p] != '*') {
      ++p, ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++, from = t;
    } else if (star != std::string::npos) {
      p = star + 1, t = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*')
    ++p;
  return p == pattern.size();
}

bool selects(const Rule &r, const OpFacts &f) {
  auto among = [](const std::vector<std::string> &list, const std::string &x) {
    return list.empty() || std::find(list.begin(), list.end(), x) != list.end();
  };
  if (!f.isProduct() && r.kinds.empty() && r.ops.empty())
    return false;
  if (!r.match.empty() && !matchesGlob(r.match, f.node) &&
      !(!f.weight.empty() && matchesGlob(r.match, f.weight)))
    return false;
  if (!among(r.ops, f.op) || !among(r.kinds, f.kind) || !among(r.roles, f.role) || f.size < r.minSize)
    return false;
  if (r.first && f.fromFirst != *r.first)
    return false;
  return (!r.atMostFromLast || f.fromLast <= *r.atMostFromLast) &&
         (!r.atLeastFromLast || f.fromLast >= *r.atLeastFromLast);
}

const Rule *findRule(const Policy &policy, const OpFacts &facts) {
  for (const Rule &r : policy.rules)
    if (selects(r, facts))
      return &r;
  return nullptr;
}

} // namespace quaver::precision
