#include "runtime/base/npy.h"
#include <cstring>
#include <gtest/gtest.h>

namespace quaver {
namespace {

std::string file_of(const std::string &dict, const std::string &data) {
  std::string f("\x93NUMPY\x01\x00", 8);
  f += char(dict.size() & 0xff);
  f += char(dict.size() >> 8);
  return f + dict + data;
}

TEST(Npy, WritesWhatItReads) {
  const float values[6] = {1, 2, 3, 4, 5, 6};
  const int64_t shape[2] = {2, 3};
  std::string file = npy_bytes("<f4", shape, {reinterpret_cast<const char *>(values), sizeof values});
  EXPECT_EQ((file.size() - sizeof values) % 64, 0u);
  auto array = parse_npy(file);
  ASSERT_TRUE(array.ok()) << array.status().message();
  EXPECT_EQ(array->descr, "<f4");
  EXPECT_EQ(array->shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(std::memcmp(array->bytes.data(), values, sizeof values), 0);
}

TEST(Npy, RankZeroAndOne) {
  for (std::vector<int64_t> shape : {std::vector<int64_t>{}, {4}, {0}, {2, 0, 3}}) {
    int64_t n = 1;
    for (int64_t d : shape)
      n *= d;
    auto array = parse_npy(npy_bytes("|u1", shape, std::string(size_t(n), 'x')));
    ASSERT_TRUE(array.ok()) << array.status().message();
    EXPECT_EQ(array->shape, shape);
  }
}

TEST(Npy, FortranOrderAndBigEndianAreConverted) {
  auto fortran = parse_npy(file_of("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", "abcdef"));
  ASSERT_TRUE(fortran.ok());
  EXPECT_EQ(std::string(fortran->bytes.begin(), fortran->bytes.end()), "acebdf");
  auto big = parse_npy(file_of("{'descr': '>u2', 'fortran_order': False, 'shape': (2,), }", "abcd"));
  ASSERT_TRUE(big.ok());
  EXPECT_EQ(std::string(big->bytes.begin(), big->bytes.end()), "badc");
  EXPECT_EQ(big->descr, "<u2");
}

TEST(Npy, EveryCutIsAnError) {
  const std::string whole = npy_bytes("<i8", std::vector<int64_t>{3}, std::string(24, 'x'));
  for (size_t n = 0; n < whole.size(); ++n)
    EXPECT_FALSE(parse_npy({whole.data(), n}).ok()) << n;
  EXPECT_TRUE(parse_npy(whole).ok());
}

TEST(Npy, HostileHeadersAreErrors) {
  for (const char *dict :
       {"", "{", "{}", "{'descr': '<f4'}", "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '|O8', 'fortran_order': False, 'shape': (0,)}",
        "{'descr': '<f3', 'fortran_order': False, 'shape': (0,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 8)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}"})
    EXPECT_FALSE(parse_npy(file_of(dict, "xxxxxxxx")).ok()) << dict;
}

TEST(Npy, MissingFileIsNamed) {
  auto array = read_npy("/nonexistent/x.npy");
  ASSERT_FALSE(array.ok());
  EXPECT_NE(array.status().message().find("/nonexistent/x.npy"), std::string::npos);
}

} // namespace
} // namespace quaver
