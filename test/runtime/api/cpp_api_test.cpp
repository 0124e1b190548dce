//===- cpp_api_test.cpp - quaver.hpp ----------------------------------------===//
#include "runtime/api/quaver.hpp"
#include "test/lib/test_artifacts.h"

#include <gtest/gtest.h>

namespace quaver::test {
namespace {

TEST(CppApi, runs_a_model) {
  qv::Model model(matmul_plan().write());
  EXPECT_EQ(model.precision(), "fp32");
  qv::Session session(model, {.threads = 2});
  EXPECT_EQ(session.target(), "x86-64-v3");
  ASSERT_EQ(session.inputs().size(), 1u);
  EXPECT_STREQ(session.inputs()[0].name, "x");
  std::vector<float> x = {1, 1, 1, 1};
  std::vector<qv::Output> outputs = session.run({qv::input<float>("x", {1, 4}, x)});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0].shape(), (std::vector<int64_t>{1, 3}));
  std::span<const float> y = outputs[0].as<float>();
  EXPECT_EQ(std::vector<float>(y.begin(), y.end()), (std::vector<float>{36, 44, 52}));
  EXPECT_THROW(outputs[0].as<int64_t>(), qv::Error);
  EXPECT_NE(session.peak_formula().find("batch"), std::string::npos);
}

TEST(CppApi, outputs_outlive_their_session) {
  std::vector<qv::Output> outputs;
  {
    qv::Session session{qv::Model(matmul_plan().write())};
    std::vector<float> x(8, 1.f);
    outputs = session.run({qv::input<float>("x", {2, 4}, x)});
  }
  EXPECT_EQ(outputs[0].as<float>()[5], 52);
}

TEST(CppApi, runs_into_the_callers_memory_on_a_stream) {
  qv::Session session{qv::Model(matmul_plan().write())};
  qv::Stream stream = session.create_stream();
  qv::Event done = session.create_event();
  std::vector<float> x(4, 2.f), y(3);
  qv_output output{};
  output.name = "y";
  output.data = y.data();
  output.capacity = y.size() * sizeof(float);
  qv_run_options options{sizeof(options), stream.handle(), done.handle(), nullptr};
  session.run_into({qv::input<float>("x", {1, 4}, x)}, std::span(&output, 1), {}, &options);
  done.wait();
  EXPECT_EQ(y, (std::vector<float>{72, 88, 104}));
}

TEST(CppApi, states) {
  qv::Session session{qv::Model(counter_plan().write())};
  std::vector<int64_t> by = {5};
  session.run({qv::input<int64_t>("by", {1}, by)}, "step");
  qv::States states = session.states();
  std::vector<std::byte> saved = states.save("count");
  states.reset();
  EXPECT_EQ(session.run({}, "read")[0].as<int64_t>()[0], 100);
  states.load("count", saved);
  EXPECT_EQ(session.run({}, "read")[0].as<int64_t>()[0], 105);
}

TEST(CppApi, errors_are_exceptions_with_the_sentence) {
  try {
    qv::Model model("/no/such.quaver");
    FAIL();
  } catch (const qv::Error &error) {
    EXPECT_EQ(error.code(), QV_NOT_FOUND);
    EXPECT_NE(std::string(error.what()).find("/no/such.quaver"), std::string::npos);
  }
}

} // namespace
} // namespace quaver::test
