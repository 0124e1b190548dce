#include "compiler/Report/CompareHtml.h"
#include "compiler/Report/Html.h"

using nlohmann::json;

namespace quaver::report {
namespace {

constexpr size_t kWorst = 40; // rows that are shown unfolded

std::string text(const json &value) { return escaped(value.get<std::string>()); }

std::string outputs(const json &report) {
  Table table({"output", "SQNR dB", "max error", "magnitude", "not finite"}, {false, true, true, true, true});
  for (const json &out : report.at("outputs"))
    table.row({text(out.at("name")), decibels(out.at("sqnr_db")), shortNumber(out.at("max_error")),
               shortNumber(out.at("magnitude")), std::to_string(out.at("not_finite").get<int64_t>())});
  return table.html();
}

void addRow(Table &table, const json &op) {
  std::string node = text(op.at("node"));
  if (op.at("not_finite") > 0)
    node +=
        " <span class=\"bad\">" + std::to_string(op.at("not_finite").get<int64_t>()) + " not finite</span>";
  std::string kind = op.at("kind");
  const json &share = op.at("share");
  table.row({node, text(kind.empty() ? op.at("op") : op.at("kind")), text(op.at("decision")),
             decibels(op.at("own_sqnr_db")), decibels(op.at("sqnr_db")),
             share.is_null() ? "" : decibels(op.at("effect_db")),
             share.is_null() ? "" : bar(share.get<double>(), percent(share)),
             shortNumber(op.at("own_max_error")), shortNumber(op.at("max_error")),
             percent(op.at("saturated")), percent(op.at("underflowed"))});
}

std::string nodes(const json &ops) {
  auto empty = [] {
    return Table({"node", "kind or op", "decision", "own dB", "all dB", "effect dB", "share", "own max error",
                  "max error", "saturated", "vanished"},
                 {false, false, false, true, true, true, false, true, true, true, true});
  };
  Table worst = empty(), rest = empty();
  for (size_t i = 0; i < ops.size(); ++i)
    addRow(i < kWorst ? worst : rest, ops[i]);
  std::string html = worst.html();
  if (ops.size() > kWorst)
    html += "<details><summary>" + std::to_string(ops.size() - kWorst) + " more</summary>\n" + rest.html() +
            "</details>\n";
  return html;
}

std::string inOrder(const json &ops) {
  std::vector<const json *> sorted;
  for (const json &op : ops)
    sorted.push_back(&op);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const json *a, const json *b) { return a->at("order") < b->at("order"); });
  std::vector<json> all, own;
  std::vector<std::string> names;
  for (const json *op : sorted) {
    all.push_back(op->at("sqnr_db"));
    own.push_back(op->at("own_sqnr_db"));
    names.push_back(op->at("node"));
  }
  return dots(all, own, names);
}

std::string quantizations(const json &list) {
  std::vector<const json *> sorted;
  for (const json &q : list)
    sorted.push_back(&q);
  auto loss = [](const json *q) {
    return q->at("saturated").get<double>() + q->at("underflowed").get<double>();
  };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const json *a, const json *b) { return loss(a) > loss(b); });
  Table table(
      {"tensor", "read by", "format", "saturated", "vanished", "NaN, Inf", "scales", "log2 of |x| / scale"},
      {false, false, false, true, true, true, true, false});
  for (const json *q : sorted) {
    std::string readers;
    for (const json &reader : q->at("read_by"))
      readers += (readers.empty() ? "" : "<br>") + text(reader);
    const json &h = q->at("histogram");
    int low = h.at("low");
    auto counts = h.at("counts").get<std::vector<int64_t>>();
    int64_t odd = q->at("nan").get<int64_t>() + q->at("inf").get<int64_t>() + q->at("lost").get<int64_t>();
    std::string scales = q->at("scale_min").is_null()
                             ? ""
                             : shortNumber(q->at("scale_min")) + " to " + shortNumber(q->at("scale_max"));
    table.row({text(q->at("tensor")) + (q->at("weight").get<std::string>().empty() ? "" : " (weight)"),
               readers, text(q->at("format")) + " " + text(q->at("recipe")), percent(q->at("saturated")),
               percent(q->at("underflowed")), std::to_string(odd), scales,
               histogram(low, counts, q->at("format_low"), q->at("format_high"),
                         "2^" + std::to_string(low) + " to 2^" + std::to_string(low + int(counts.size())))});
  }
  return table.html();
}

std::string bisected(const json &bisect) {
  const json &op = bisect.at("found");
  if (op.is_null())
    return "<p>No op exceeds " + text(bisect.at("bound")) + ".</p>\n";
  std::string html = "<p>The first op that exceeds " + text(bisect.at("bound")) + " is <b>" +
                     text(op.at("node")) + "</b>: SQNR " + decibels(op.at("sqnr_db")) +
                     " dB, with right inputs " + decibels(op.at("own_sqnr_db")) + " dB.";
  for (const json &input : op.at("inputs"))
    html += " It reads " + text(input.at("node")) + " (" + decibels(input.at("sqnr_db")) + " dB).";
  return html + "</p>\n";
}

} // namespace

std::string compareHtml(const json &report) {
  std::string title = "quaver compare: " + report.at("model").get<std::string>() + ", precision " +
                      report.at("precision").get<std::string>();
  std::string body =
      "<h1>" + escaped(title) + "</h1>\n<p>" + std::to_string(report.at("runs").get<int>()) +
      " run(s), against the model as its file says it. Own: with right inputs. All: with what it "
      "inherits. Effect: on the outputs, if only this node were computed so; share: of the noise of "
      "all such effects.</p>\n";
  body += "<h2>Worst nodes</h2>\n" + nodes(report.at("ops"));
  body += "<h2>Outputs</h2>\n" + outputs(report);
  if (report.contains("bisect"))
    body += "<h2>First beyond the bound</h2>\n" + bisected(report.at("bisect"));
  body +=
      "<h2>SQNR in the order of execution</h2>\n<p>Blue: all, red: own.</p>\n" + inOrder(report.at("ops"));
  body += "<h2>Quantizations, greatest loss first</h2>\n<p>Shares are of finite values that are not zero. "
          "Shaded: "
          "what the format can hold.</p>\n" +
          quantizations(report.at("quantizations"));
  return page(title, body);
}

} // namespace quaver::report
