// Range files: what is written is read again, what is wrong is named with its line, what is suspicious is
// said.
#include "compiler/Precision/Calibrate/Ranges.h"
#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>

using namespace quaver;
using namespace quaver::precision;

namespace {

std::string errorOf(const std::string &text) {
  auto r = parseRanges(text, "r.yaml");
  return r.ok() ? "no error" : r.status().message();
}
const std::string kHead = "format: e4m3\ntensors:\n";

Ranges one(double range, double typical, double largest) {
  Ranges r;
  r.runs = 4;
  TensorRange t;
  t.name = "node:lhs", t.range = range, t.typical = typical, t.largest = largest;
  r.tensors = {t};
  return r;
}

TEST(RangeFile, WhatIsWrittenIsReadAgain) {
  Ranges r;
  r.format = Format::E5M2;
  r.method = *parseMethod("percentile:99.9");
  r.runs = 12;
  std::vector<Magnitudes> channels(3);
  channels[1].add(2);
  channels[2].add(0.1f);
  Magnitudes all;
  for (int i = 0; i < 10000; ++i)
    all.add(1.0f / float(i + 1));
  all.add(NAN);
  r.tensors.push_back(rangeFrom("/a \"b\":\n\xC3\xA4#:rhs", all, channels, r.method, r.format));
  r.tensors.push_back(rangeFrom("z:lhs", Magnitudes(), {}, r.method, r.format));
  std::string path = ::testing::TempDir() + "/r.yaml";
  ASSERT_TRUE(saveRanges(r, path).ok());
  auto back = loadRanges(path);
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(back->file, path);
  EXPECT_EQ(back->format, Format::E5M2);
  EXPECT_EQ(nameOf(back->method), "percentile:99.9");
  EXPECT_EQ(back->runs, 12);
  ASSERT_EQ(back->tensors.size(), 2u);
  const TensorRange *found = back->find(r.tensors[0].name);
  ASSERT_TRUE(found);
  EXPECT_EQ(float(found->range), float(r.tensors[0].range));
  EXPECT_EQ(float(found->largest), 1.0f);
  EXPECT_EQ(found->notFinite, 1u);
  EXPECT_NEAR(found->outlying, 0.001, 0.0005);
  ASSERT_EQ(found->channels.size(), 3u);
  EXPECT_EQ(found->channels[0], 0);
  EXPECT_EQ(found->channels[1], 2);
  EXPECT_EQ(float(found->channels[2]), 0.1f);
  EXPECT_EQ(back->find("z:lhs")->range, 0);
  EXPECT_EQ(back->find("z:rhs"), nullptr);
  EXPECT_EQ(textOf(*back), textOf(r));
}

TEST(RangeFile, ComplaintsNameTheLine) {
  const std::pair<std::string, const char *> cases[] = {
      {"", "r.yaml:1: the range file is empty"},
      {"- 1", "r.yaml:1: a range file is a map"},
      {"format: e4m3\n", "r.yaml:1: tensors: is missing"},
      {"tensors: []\n", "r.yaml:1: format: is missing"},
      {"format: bf16\n", "r.yaml:1: format: \"bf16\" is unknown; allowed: e4m3, e5m2"},
      {kHead + "  - name: a\n    rang: 1", "r.yaml:4: tensors: \"rang\" is unknown; allowed: name, range"},
      {kHead + "  - name: a\n", "r.yaml:3: range: is missing"},
      {kHead + "  - range: 1\n", "r.yaml:3: name: is missing"},
      {kHead + "  - name: a\n    range: nan", "r.yaml:4: range: \"nan\" is no number"},
      {kHead + "  - name: a\n    range: -1", "r.yaml:4: range: \"-1\" is no number"},
      {kHead + "  - name: a\n    range: 1e39", "r.yaml:4: range: 1e+39 is no value of fp32"},
      {kHead + "  - name: a\n    range: 1\n    range: 2", "r.yaml:5: range: is written twice"},
      {kHead + "  - {name: a, range: 1}\n  - {name: a, range: 1}", "r.yaml:4: name: \"a\" is there twice"},
      {kHead + "  - {name: a, range: 1, outlying: 2}", "r.yaml:3: outlying: 2 is no share"},
      {kHead + "  - {name: a, range: 1, channels: 3}", "r.yaml:3: channels: must be a list"},
      {kHead + "  - {name: a, range: 1, channels: [1, x]}", "r.yaml:3: channels: \"x\" is no number"},
      {"method: best\n" + kHead, "r.yaml:1: method \"best\" is unknown; there is absmax"},
      {"format: [", "r.yaml:1: is not YAML"},
      {std::string("a\0b", 3), "r.yaml:1: is not text"}};
  for (const auto &[text, want] : cases)
    EXPECT_EQ(errorOf(text).rfind(want, 0), 0u) << errorOf(text) << "\nwanted " << want;
  EXPECT_NE(loadRanges("/no/such/file.yaml").status().message().find("cannot be read"), std::string::npos);
}

TEST(RangeFile, ScalesFollowTheRecipe) {
  EXPECT_EQ(scaleOf(896, Format::E4M3), 2.0f);
  EXPECT_EQ(scaleOf(57344, Format::E5M2), 1.0f);
  EXPECT_EQ(scaleOf(0, Format::E4M3), 1.0f);
  EXPECT_EQ(scaleOf(1e-44, Format::E4M3), 0x1p-126f);
}

TEST(RangeFile, LintNamesTensorValueAndRemedy) {
  EXPECT_TRUE(lintRanges(one(4, 3, 4)).empty());
  auto said = [](const Ranges &r) {
    auto all = lintRanges(r);
    EXPECT_EQ(all.size(), 1u);
    EXPECT_TRUE(!all.empty() && all[0].starts_with("range of \"node:lhs\": ")) << (all.empty() ? "" : all[0]);
    return all.empty() ? std::string() : all[0];
  };
  std::string dead = said(one(0, 0, 0));
  EXPECT_NE(dead.find("is 0, nothing but zeros was seen in 4 runs"), std::string::npos);
  EXPECT_NE(dead.find("{match: \"node\", scaling: dynamic"), std::string::npos);
  EXPECT_NE(said(one(1e-37, 1e-37, 1e-37)).find("subnormal scale 2.2"), std::string::npos);
  EXPECT_NE(said(one(1000, 1, 1000)).find("1000 is 1000 times what 99.9 %"), std::string::npos);
  EXPECT_TRUE(lintRanges(one(2, 1, 1000)).empty()); // cut off already
  Ranges odd = one(1, 1, 1);
  odd.tensors[0].notFinite = 3;
  EXPECT_NE(said(odd).find("3 values were NaN or Inf"), std::string::npos);
  odd.tensors[0].notFinite = 0;
  odd.tensors[0].channels = {1, 0, 0};
  EXPECT_NE(said(odd).find("2 of its 3 channels"), std::string::npos);
}

} // namespace
