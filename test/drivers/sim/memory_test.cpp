// Allocations, bounds, what was written.
#include "runtime/drivers/sim/machine/memory.h"
#include <gtest/gtest.h>

namespace quaver::sim {
namespace {

TEST(SimMemory, remembers_what_was_written) {
  Memory m;
  const uint64_t a = *m.allocate(16, "a");
  EXPECT_EQ(a % 256, 0u);
  EXPECT_FALSE(m.is_written(a, 1));
  const uint32_t seven = 7;
  ASSERT_TRUE(m.copy_in(a + 4, &seven, 4).ok());
  EXPECT_TRUE(m.is_written(a + 4, 4));
  EXPECT_FALSE(m.is_written(a + 4, 5));
  uint32_t out[4] = {9, 9, 9, 9};
  const Status s = m.copy_out(out, a, 16);
  EXPECT_EQ(s.message(), "'a': byte 0 of 16 was never written");
  ASSERT_TRUE(m.copy_out(out, a, 16, true).ok());
  EXPECT_EQ(out[0], 0u);
  EXPECT_EQ(out[1], 7u);
  const uint64_t b = *m.allocate(16, "b");
  ASSERT_TRUE(m.copy(b, a, 16).ok());
  EXPECT_TRUE(m.is_written(b + 4, 4));
  EXPECT_FALSE(m.is_written(b, 4)) << "a copy of what was never written stays so";
  const uint16_t pattern = 0x1234;
  ASSERT_TRUE(m.fill(b, 16, &pattern, 2).ok());
  ASSERT_TRUE(m.copy_out(out, b, 16).ok());
  EXPECT_EQ(out[3], 0x12341234u);
  ASSERT_TRUE(m.mark_unwritten(b, 1).ok());
  EXPECT_FALSE(m.is_written(b, 1));
}

TEST(SimMemory, sees_every_stray_access) {
  Memory m;
  const uint64_t a = *m.allocate(16, "a"), b = *m.allocate(16, "b");
  char byte = 0;
  EXPECT_NE(m.copy_in(a + 16, &byte, 1).message().find("0 bytes past the end of 'a' (16 bytes"),
            std::string::npos);
  EXPECT_FALSE(m.copy_in(a + 15, "xy", 2).ok());
  EXPECT_FALSE(m.copy_in(a, &byte, ~uint64_t{0}).ok());
  EXPECT_FALSE(m.copy_in(0, &byte, 1).ok());
  EXPECT_GE(b - a, 4096u) << "a gap that nothing may access";
  ASSERT_TRUE(m.free(a).ok());
  EXPECT_NE(m.copy_in(a, &byte, 1).message().find("which was freed"), std::string::npos);
  EXPECT_FALSE(m.free(a).ok());
  EXPECT_FALSE(m.free(b + 1).ok());
  EXPECT_NE(*m.allocate(16, "c"), a) << "addresses are never used twice";
}

TEST(SimMemory, has_a_limit) {
  Memory m(100);
  const uint64_t a = *m.allocate(60, "a");
  EXPECT_EQ(m.allocate(60, "b").status().code(), StatusCode::kResourceExhausted);
  ASSERT_TRUE(m.free(a).ok());
  EXPECT_TRUE(m.allocate(100, "b").ok());
  EXPECT_EQ(m.bytes_in_use(), 100u);
}

} // namespace
} // namespace quaver::sim
