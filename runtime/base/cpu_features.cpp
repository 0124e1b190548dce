#include "runtime/base/cpu_features.h"
#include <cpuid.h>
#include <cstdint>
#include <cstring>

namespace quaver {
namespace {

struct Leaves {
  uint32_t ecx1 = 0, ebx7 = 0, ecx7 = 0, eax7_1 = 0;
  bool saves_ymm = false, saves_zmm = false;

  Leaves() {
    uint32_t a, b, c, d;
    if (__get_cpuid(1, &a, &b, &c, &d))
      ecx1 = c;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
      ebx7 = b, ecx7 = c;
      if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d))
        eax7_1 = a; // `a` was the last subleaf there is
    }
    if (ecx1 & (1u << 27)) { // OSXSAVE: XCR0 says which registers the system saves
      uint32_t low, high;
      __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
      saves_ymm = (low & 0x6) == 0x6;
      saves_zmm = (low & 0xe6) == 0xe6;
    }
  }
};

const Leaves &leaves() {
  static const Leaves kLeaves;
  return kLeaves;
}

struct Feature {
  const char *name;
  uint32_t Leaves::*leaf;
  int bit;
  bool is_zmm;
};
constexpr Feature kFeatures[] = {
    {"fma", &Leaves::ecx1, 12, false},        {"f16c", &Leaves::ecx1, 29, false},
    {"bmi2", &Leaves::ebx7, 8, false},        {"avx2", &Leaves::ebx7, 5, false},
    {"avx512f", &Leaves::ebx7, 16, true},     {"avx512dq", &Leaves::ebx7, 17, true},
    {"avx512cd", &Leaves::ebx7, 28, true},    {"avx512bw", &Leaves::ebx7, 30, true},
    {"avx512vl", &Leaves::ebx7, 31, true},    {"avx512vbmi", &Leaves::ecx7, 1, true},
    {"avx512_vnni", &Leaves::ecx7, 11, true}, {"avx512_bf16", &Leaves::eax7_1, 5, true},
};

} // namespace

std::string cpu_name() {
  uint32_t words[12] = {};
  uint32_t max = __get_cpuid_max(0x80000000, nullptr);
  if (max < 0x80000004)
    return "unknown CPU";
  for (uint32_t i = 0; i < 3; ++i)
    __get_cpuid(0x80000002 + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2], &words[4 * i + 3]);
  char text[sizeof words + 1] = {};
  std::memcpy(text, words, sizeof words);
  std::string name(text);
  while (!name.empty() && name.back() == ' ')
    name.pop_back();
  return name;
}

bool cpu_has_feature(std::string_view name) {
  const Leaves &l = leaves();
  for (const Feature &f : kFeatures)
    if (name == f.name)
      return (l.*f.leaf >> f.bit & 1) && (f.is_zmm ? l.saves_zmm : l.saves_ymm);
  return false;
}

std::vector<std::string> missing_cpu_features(const std::vector<std::string> &names) {
  std::vector<std::string> missing;
  for (const std::string &name : names)
    if (!cpu_has_feature(name))
      missing.push_back(name);
  return missing;
}

const std::vector<std::string> &x86_targets() {
  static const std::vector<std::string> kTargets = {"x86-64-v3", "x86-64-v4", "x86-64-v4+bf16"};
  return kTargets;
}

std::vector<std::string> x86_target_features(std::string_view target) {
  std::vector<std::string> features = {"avx2", "bmi2", "f16c", "fma"};
  if (target == "x86-64-v3")
    return features;
  for (const char *f : {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"})
    features.push_back(f);
  if (target == "x86-64-v4")
    return features;
  for (const char *f : {"avx512_bf16", "avx512vbmi", "avx512_vnni"})
    features.push_back(f);
  if (target == "x86-64-v4+bf16")
    return features;
  return {};
}

std::string host_target() {
  std::string best;
  for (const std::string &target : x86_targets()) {
    bool all = true;
    for (const std::string &f : x86_target_features(target))
      all = all && cpu_has_feature(f);
    if (all)
      best = target;
  }
  return best;
}

} // namespace quaver
