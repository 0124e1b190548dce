#include "runtime/plan/lifetimes.h"
#include "runtime/plan/printer.h"
#include "test/runtime/plan/small_plan.h"
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace quaver::plan {
namespace {

using namespace test;

class PrinterTest : public testing::Test {
protected:
  PrinterTest() { build_small_model(model); }
  void expect_lines(const std::string &text, std::initializer_list<const char *> lines) {
    for (const char *line : lines)
      EXPECT_NE(text.find(line), std::string::npos) << "no \"" << line << "\" in\n" << text;
  }
  SmallModel model;
};

TEST_F(PrinterTest, overview) {
  expect_lines(print_plan(model.plan, false),
               {"dimension batch: 1..64\n", "dimension sequence: 8.., a multiple of 8\n",
                "dimension count: 0.., depends on data, at most batch * sequence\n",
                "3 weights in 3 blobs, 308 bytes\n", "state total: i64[1], room for 8 bytes\n",
                "target x86-64-v3: needs avx2; 1 kernels\n", "input  x: f32[batch, sequence]\n",
                "output found: i64[count]\n", "12 instructions, 6 launches\n",
                "peak memory ceildiv(batch * sequence * 4, 64) * 64 + 64 bytes\n"});
}

TEST_F(PrinterTest, program) {
  expect_lines(print_plan(model.plan, true),
               {"kernel generic_0: elementwise over batch x sequence\n",
                "%2 arena at 0, batch * sequence * 4 bytes of f32, used 1..11  // /layer/Mul\n",
                "%4 weight, 48 bytes of f32, used 1..1  // w\n",
                "0: check lt(sequence, 4096)  // sequence must be below 4096\n",
                "1: launch generic_0(%0:x, %4:w, out %2; sequence) x batch, scratch 64  // /layer/Mul\n",
                "3: read_back count <- %3[0]\n", "4: copy %3 -> %5:total, 8 bytes\n",
                "5: fill %6, 1 bytes of 1\n", "6: if %6\n", "9: loop\n", "while %6\n"});
}

TEST_F(PrinterTest, weights) {
  EXPECT_EQ(print_weights(model.plan), "w: f32[4, 3], dense, 48 bytes\n"
                                       "w8_scales: f32[1, 1], dense, 4 bytes\n"
                                       "w8: e4m3[2, 128], dense, scales 128x128 in w8_scales, 256 bytes  // "
                                       "quantize(128x128)\n");
}

TEST_F(PrinterTest, json_has_the_same_facts) {
  nlohmann::json j = nlohmann::json::parse(plan_json(model.plan));
  EXPECT_EQ(j["model"], "small");
  EXPECT_EQ(j["weights"][2]["scales"], "w8_scales");
  EXPECT_EQ(j["dims"][1]["multiple_of"], 8);
  EXPECT_TRUE(j["dims"][1]["max"].is_null());
  const nlohmann::json &entry = j["targets"][0]["entries"][0];
  EXPECT_EQ(entry["instructions"], 12);
  EXPECT_EQ(entry["launches"].size(), 6u);
  EXPECT_EQ(entry["buffers"][2]["last_use"], 11);
  EXPECT_EQ(entry["inputs"][0]["shape"][1], "sequence");
}

TEST_F(PrinterTest, names_that_are_no_utf8_are_printed) {
  model.plan.set_model_name("caf\xe9");
  EXPECT_FALSE(nlohmann::json::parse(plan_json(model.plan)).is_null());
}

TEST_F(PrinterTest, lifetimes_cover_loops) {
  std::vector<Lifetime> lives = buffer_lifetimes(model.plan.targets(0).entries(0));
  EXPECT_EQ(lives[2].first, 1); // read in the loop, so it lives to its end
  EXPECT_EQ(lives[2].last, 11);
  EXPECT_EQ(lives[3].first, 2);
  EXPECT_EQ(lives[3].last, 4);
  EXPECT_EQ(lives[6].last, 11);
}

} // namespace
} // namespace quaver::plan
