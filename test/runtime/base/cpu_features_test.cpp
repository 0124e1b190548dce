#include "runtime/base/cpu_features.h"
#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <sstream>

namespace quaver {
namespace {

const char *const kNames[] = {"avx2",     "fma",      "f16c",     "bmi2",        "avx512f",    "avx512bw",
                              "avx512dq", "avx512vl", "avx512cd", "avx512_bf16", "avx512vbmi", "avx512_vnni"};

TEST(CpuFeatures, agree_with_the_kernel) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line) && !line.starts_with("flags")) {
  }
  if (!line.starts_with("flags"))
    GTEST_SKIP() << "no flags in /proc/cpuinfo here";
  std::istringstream words(line);
  std::set<std::string> flags{std::istream_iterator<std::string>(words), {}};
  for (const char *name : kNames)
    EXPECT_EQ(cpu_has_feature(name), flags.count(name) == 1) << name;
}

TEST(CpuFeatures, unknown_names_are_missing) {
  EXPECT_FALSE(cpu_has_feature("avx1024"));
  EXPECT_FALSE(cpu_has_feature(""));
  EXPECT_EQ(missing_cpu_features({"avx1024", "sve"}), (std::vector<std::string>{"avx1024", "sve"}));
  EXPECT_TRUE(missing_cpu_features({}).empty());
}

TEST(CpuFeatures, targets_grow) {
  std::vector<std::string> before;
  for (const std::string &target : x86_targets()) {
    std::vector<std::string> features = x86_target_features(target);
    for (const std::string &f : before)
      EXPECT_TRUE(std::ranges::count(features, f)) << target << " lacks " << f;
    EXPECT_GT(features.size(), before.size());
    before = features;
  }
  EXPECT_TRUE(x86_target_features("x86-64-v9").empty());
}

TEST(CpuFeatures, host_target_is_one_that_runs) {
  std::string host = host_target();
  if (host.empty())
    GTEST_SKIP() << "this CPU runs no target";
  EXPECT_TRUE(std::ranges::count(x86_targets(), host));
  EXPECT_TRUE(missing_cpu_features(x86_target_features(host)).empty());
  EXPECT_FALSE(cpu_name().empty());
}

} // namespace
} // namespace quaver
