// Bounds as people write them, and the first op beyond one.
#include "compiler/Compare/Bound.h"
#include <gtest/gtest.h>

using namespace quaver;
using nlohmann::json;

namespace {

json op(int order, json sqnr, double error, json own, int notFinite = 0) {
  return {{"order", order},     {"sqnr_db", sqnr},        {"max_error", error}, {"not_finite", notFinite},
          {"own_sqnr_db", own}, {"own_max_error", error}, {"own_not_finite", 0}};
}

TEST(Bound, Reads) {
  EXPECT_EQ(*compare::parseBound("sqnr=30dB")->sqnr, 30);
  EXPECT_EQ(*compare::parseBound("sqnr=-2.5")->sqnr, -2.5);
  EXPECT_EQ(*compare::parseBound("max=1e-2")->maxError, 1e-2);
  for (const char *text :
       {"", "30dB", "sqnr", "sqnr=", "sqnr=x", "max=1dB", "max=-1", "rms=3", "sqnr=nan", "sqnr=3 dB"}) {
    auto bound = compare::parseBound(text);
    ASSERT_FALSE(bound.ok()) << text;
    EXPECT_NE(bound.status().message().find("sqnr=30dB"), std::string::npos);
  }
}

TEST(Bound, FirstInExecutionNotInTheList) {
  json ops = {op(7, 10.0, 1, 10.0), op(3, 20.0, 0.5, nullptr), op(5, 12.0, 2, 12.0), op(1, 50.0, 0.1, 50.0)};
  json found = compare::bisect(ops, *compare::parseBound("sqnr=30dB"));
  EXPECT_EQ(found["found"]["order"], 3);
  EXPECT_EQ(found["found"]["own_exceeds"], false); // it inherits
  EXPECT_EQ(found["bound"], "sqnr=30dB");
  found = compare::bisect(ops, *compare::parseBound("max=0.9"));
  EXPECT_EQ(found["found"]["order"], 5);
  EXPECT_EQ(found["found"]["own_exceeds"], true);
  EXPECT_TRUE(compare::bisect(ops, *compare::parseBound("sqnr=5dB"))["found"].is_null());
}

TEST(Bound, ExactNeverExceedsAndNotFiniteAlways) {
  json ops = {op(1, nullptr, 0, nullptr), op(2, nullptr, 0, nullptr, 3)};
  EXPECT_EQ(compare::bisect(ops, *compare::parseBound("sqnr=300dB"))["found"]["order"], 2);
  EXPECT_EQ(compare::bisect(ops, *compare::parseBound("max=1e30"))["found"]["order"], 2);
}

} // namespace
