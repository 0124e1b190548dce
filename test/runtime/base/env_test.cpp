#include "runtime/base/env.h"
#include <cstdlib>
#include <gtest/gtest.h>
#include <string_view>

namespace quaver {
namespace {

TEST(Env, variables_are_declared_in_order_with_a_meaning) {
  int index = 0;
  for (const EnvVariable &v : env_variables()) {
    EXPECT_EQ(int(v.id), index++);
    EXPECT_TRUE(std::string_view(v.name).starts_with("QUAVER_")) << v.name;
    EXPECT_TRUE(std::string_view(v.meaning).ends_with(".")) << v.name;
  }
}

TEST(Env, reads_the_value) {
  unsetenv("QUAVER_TRACE");
  EXPECT_EQ(env(Env::kTrace), "");
  setenv("QUAVER_TRACE", "t.json", 1);
  EXPECT_EQ(env(Env::kTrace), "t.json");
  unsetenv("QUAVER_TRACE");
}

} // namespace
} // namespace quaver
