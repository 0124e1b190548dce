// Clusters compiled by the generic path against the interpreter, over many shapes.
#include "test/codegen/judge.h"
#include <gtest/gtest.h>

namespace quaver::test {
namespace {

std::vector<Sizes> mn() {
  return {{{"m", 1}, {"n", 1}},   {{"m", 3}, {"n", 7}}, {{"m", 4}, {"n", 16}},
          {{"m", 5}, {"n", 131}}, {{"m", 0}, {"n", 3}}, {{"m", 2}, {"n", 0}}};
}

const std::vector<Case> &cases() {
  static const std::vector<Case> all = {
#include "test/codegen/judge_cases.inc"
  };
  return all;
}

class Judge : public testing::TestWithParam<int> {};
TEST_P(Judge, Agrees) {
  const Case &c = cases()[GetParam()];
  judgeOnAllTargets(c);
}
INSTANTIATE_TEST_SUITE_P(Generic, Judge, testing::Range(0, int(cases().size())),
                         [](const auto &info) { return cases()[info.param].name; });

} // namespace
} // namespace quaver::test
