// The parts of pages and tables that names of a model could break.
#include "compiler/Report/CompareCsv.h"
#include "compiler/Report/CompileHtml.h"
#include "compiler/Report/Html.h"
#include <gtest/gtest.h>

using namespace quaver;
using nlohmann::json;

namespace {

TEST(Html, TextIsEscaped) {
  EXPECT_EQ(report::escaped("<a href='x'>&\"\x01"), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;\xEF\xBF\xBD");
  std::string page = report::page("</title><script>", "");
  EXPECT_EQ(page.find("<script"), std::string::npos);
}

TEST(Html, BarsStayInTheirCells) {
  EXPECT_NE(report::bar(0.25, "x").find("width:25.0%"), std::string::npos);
  EXPECT_NE(report::bar(7, "x").find("width:100.0%"), std::string::npos);
  EXPECT_NE(report::bar(-1, "x").find("width:0.0%"), std::string::npos);
}

TEST(Html, HistogramsShowLossInItsColour) {
  std::string svg = report::histogram(-11, {5, 0, 3}, -9, 8, "x");
  auto count = [&](const std::string &what) {
    int n = 0;
    for (size_t at = svg.find(what); at != std::string::npos; at = svg.find(what, at + 1))
      ++n;
    return n;
  };
  EXPECT_EQ(count("#b3261e"), 1); // 2^-11; 2^-10 is empty
  EXPECT_EQ(count("#3b73b9"), 1); // 2^-9
  EXPECT_EQ(report::histogram(0, {}, -9, 8, "x"), "");
}

TEST(CompileHtml, NamesWhatIsNotAsAsked) {
  json decision = {{"node", "<n>"},        {"weight", "w"},
                   {"op", "matmul"},       {"kind", "ffn"},
                   {"lhs", "e4m3"},        {"rhs", "e4m3"},
                   {"accumulate", "fp32"}, {"out", "fp32"},
                   {"recipe", "128x128"},  {"reason", "because & so"},
                   {"fallback", true}};
  json report = {
      {"precision", "fp8"},
      {"precision_decisions", json::array({decision})},
      {"targets", {{"x86-64-v3", {{"kernels", json::array({{{"symbol", "k"}, {"description", "d<"}}})}}}}}};
  std::string html = report::compileHtml(report, "model");
  for (const char *text : {"&lt;n&gt;", "e4m3 x e4m3 128x128", "because &amp; so", "not as asked", "d&lt;"})
    EXPECT_NE(html.find(text), std::string::npos) << text;
}

} // namespace
