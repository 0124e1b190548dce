#include "runtime/base/status.h"
#include <gtest/gtest.h>
#include <memory>

namespace quaver {
namespace {

Status fail_if(bool fails) { return fails ? OutOfRangeError("index ", 7, " of ", 3.5) : OkStatus(); }

StatusOr<std::unique_ptr<int>> make(int value) {
  if (value < 0)
    return InvalidArgumentError("negative: ", value);
  return std::make_unique<int>(value);
}

Status chain(int value, int *out) {
  QUAVER_RETURN_IF_ERROR(fail_if(value > 100));
  QUAVER_ASSIGN_OR_RETURN(std::unique_ptr<int> a, make(value));
  QUAVER_ASSIGN_OR_RETURN(auto b, make(*a - 1));
  *out = *b;
  return OkStatus();
}

TEST(Status, ok_has_no_message) {
  Status s = OkStatus();
  EXPECT_TRUE(s.ok());
  EXPECT_EQ(s.code(), StatusCode::kOk);
  EXPECT_EQ(s.message(), "");
  EXPECT_TRUE(Status(StatusCode::kOk, "dropped").ok());
}

TEST(Status, error_joins_its_parts) {
  Status s = fail_if(true);
  EXPECT_EQ(s.code(), StatusCode::kOutOfRange);
  EXPECT_EQ(s.message(), "index 7 of 3.5");
  Status copy = s;
  EXPECT_EQ(copy.message(), s.message());
}

TEST(Status, macros_return_the_first_error) {
  int out = 0;
  EXPECT_TRUE(chain(5, &out).ok());
  EXPECT_EQ(out, 4);
  EXPECT_EQ(chain(0, &out).message(), "negative: -1");
  EXPECT_EQ(chain(101, &out).code(), StatusCode::kOutOfRange);
}

TEST(Status, status_or_converts_its_value) {
  auto f = [](bool ok) -> StatusOr<std::string> {
    if (ok)
      return "text";
    return NotFoundError("none");
  };
  EXPECT_EQ(*f(true), "text");
  EXPECT_FALSE(f(false).ok());
  EXPECT_EQ(f(false).status().code(), StatusCode::kNotFound);
}

} // namespace
} // namespace quaver
