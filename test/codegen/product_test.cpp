// Products through the matrix kernels, with their epilogues, against the interpreter.
#include "test/codegen/judge.h"
#include <gtest/gtest.h>

namespace quaver::test {
namespace {

const std::vector<Case> &cases() {
  static const std::vector<Case> all = {
#include "test/codegen/product_cases.inc"
  };
  return all;
}

class Product : public testing::TestWithParam<int> {};
TEST_P(Product, Agrees) { judgeOnAllTargets(cases()[GetParam()]); }
INSTANTIATE_TEST_SUITE_P(Matrix, Product, testing::Range(0, int(cases().size())),
                         [](const auto &info) { return cases()[info.param].name; });

} // namespace
} // namespace quaver::test
