#include "compiler/Report/CompileHtml.h"
#include "compiler/Report/Html.h"
#include <map>

using nlohmann::json;

namespace quaver::report {
namespace {

std::string text(const json &value) { return escaped(value.get<std::string>()); }

std::string formatsOf(const json &d) {
  std::string lhs = d.at("lhs"), rhs = d.at("rhs"), recipe = d.at("recipe");
  return lhs + (lhs.empty() || rhs.empty() ? "" : " x ") + rhs + (recipe.empty() ? "" : " " + recipe);
}

/// How many ops got which formats, per layer kind.
std::string summary(const json &decisions) {
  std::map<std::pair<std::string, std::string>, int> counts;
  for (const json &d : decisions)
    ++counts[{d.at("kind").get<std::string>(), formatsOf(d)}];
  Table table({"layer kind", "formats", "ops"}, {false, false, false});
  for (auto &[key, n] : counts)
    table.row({escaped(key.first), escaped(key.second),
               bar(double(n) / double(decisions.size()), std::to_string(n))});
  return table.html();
}

std::string perOp(const json &decisions) {
  Table table({"node", "weight", "op", "kind", "operands", "sums", "result", "reason"},
              {false, false, false, false, false, false, false, false});
  for (const json &d : decisions)
    table.row({text(d.at("node")), text(d.at("weight")), text(d.at("op")), text(d.at("kind")),
               escaped(formatsOf(d)), text(d.at("accumulate")), text(d.at("out")),
               (d.at("fallback").get<bool>() ? "<span class=\"bad\">not as asked</span> " : "") +
                   text(d.at("reason"))});
  return table.html();
}

} // namespace

std::string compileHtml(const json &report, const std::string &model) {
  const json &decisions = report.at("precision_decisions");
  std::string title = "quaver compile: " + model + ", precision " + report.at("precision").get<std::string>();
  std::string body = "<h1>" + escaped(title) + "</h1>\n<h2>Precision by layer kind</h2>\n" +
                     summary(decisions) + "<h2>Every decision</h2>\n" + perOp(decisions);
  if (report.contains("targets"))
    for (auto &[name, target] : report.at("targets").items()) {
      Table table({"kernel", "what it computes"}, {false, false});
      for (const json &kernel : target.at("kernels"))
        table.row({text(kernel.at("symbol")), text(kernel.at("description"))});
      body += "<h2>Kernels of " + escaped(name) + "</h2>\n<details><summary>" +
              std::to_string(target.at("kernels").size()) + " kernels</summary>\n" + table.html() +
              "</details>\n";
    }
  return page(title, body);
}

} // namespace quaver::report
