// .npz files: what is written is read; what is damaged is an error, never a wrong array.
#include "runtime/base/npz.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace quaver {
namespace {

std::string written() {
  const std::string path = testing::TempDir() + "/written.npz";
  const int64_t shape[] = {2, 3};
  const char data[] = "abcdef";
  EXPECT_TRUE(
      write_npz(path, {{"x", npy_bytes("|u1", shape, {data, 6})}, {"y", npy_bytes("|i1", shape, {data, 6})}})
          .ok());
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(NpzTest, ReadsWhatIsWritten) {
  auto arrays = parse_npz(written(), "w.npz");
  ASSERT_TRUE(arrays.ok()) << arrays.status().message();
  ASSERT_EQ(arrays->size(), 2u);
  EXPECT_EQ(arrays->at("x").descr, "|u1");
  EXPECT_EQ(arrays->at("y").shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(std::string(arrays->at("y").bytes.data(), 6), "abcdef");
}

TEST(NpzTest, DamageIsAnError) {
  const std::string whole = written();
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(parse_npz({whole.data(), size}, "cut.npz").ok()) << size;
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] ^= 0x40;
    auto arrays =
        parse_npz(damaged, "damaged.npz"); // fields that nobody reads may differ, the arrays may not
    if (!arrays.ok())
      continue;
    for (auto &[name, array] : *arrays)
      EXPECT_EQ(std::string(array.bytes.data(), array.bytes.size()), "abcdef") << "byte " << at;
  }
}

} // namespace
} // namespace quaver
