#include "compiler/Report/Html.h"
#include <algorithm>
#include <cassert>
#include <cstdio>

namespace quaver::report {
namespace {

constexpr const char *kStyle = R"(
body{font:14px/1.45 system-ui,sans-serif;margin:2em auto;max-width:90em;padding:0 1em;color:#1b1f24;background:#fff}
h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}
table{border-collapse:collapse;width:100%}
th,td{padding:.25em .6em;border-bottom:1px solid #d8dee4;text-align:left;vertical-align:top}
th{background:#f3f5f7;position:sticky;top:0}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td{overflow-wrap:anywhere}
.bar{position:relative;min-width:5em}
.bar i{position:absolute;inset:0 auto 0 0;background:#c9dcf5}
.bar b{position:relative;font-weight:normal;padding:0 .3em}
summary{cursor:pointer;margin:.6em 0}
.bad{color:#b3261e;font-weight:600}
)";

std::string formatted(const char *format, double value) {
  char text[48];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

} // namespace

std::string escaped(const std::string &text) {
  std::string out;
  out.reserve(text.size());
  for (char c : text)
    switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    case '\'':
      out += "&#39;";
      break;
    default:
      if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t')
        out += "\xEF\xBF\xBD"; // control characters are not allowed in a page
      else
        out += c;
    }
  return out;
}

std::string page(const std::string &title, const std::string &body) {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>" + escaped(title) +
         "</title>\n<style>" + kStyle + "</style>\n</head>\n<body>\n" + body + "</body>\n</html>\n";
}

Table::Table(std::vector<std::string> headers, std::vector<bool> isNumeric)
    : numeric(std::move(isNumeric)), columns(headers.size()) {
  assert(numeric.size() == columns);
  for (size_t i = 0; i < columns; ++i)
    head += std::string(numeric[i] ? "<th class=\"n\">" : "<th>") + escaped(headers[i]) + "</th>";
}

void Table::row(const std::vector<std::string> &cells) {
  assert(cells.size() == columns);
  body += "<tr>";
  for (size_t i = 0; i < columns; ++i)
    body += std::string(numeric[i] ? "<td class=\"n\">" : "<td>") + cells[i] + "</td>";
  body += "</tr>\n";
}

std::string Table::html() const {
  return "<table>\n<thead><tr>" + head + "</tr></thead>\n<tbody>\n" + body + "</tbody>\n</table>\n";
}

std::string bar(double share, const std::string &text) {
  return "<div class=\"bar\"><i style=\"width:" + formatted("%.1f", 100 * std::clamp(share, 0.0, 1.0)) +
         "%\"></i><b>" + escaped(text) + "</b></div>";
}

std::string decibels(const nlohmann::json &ratio) {
  return ratio.is_null() ? "exact" : formatted("%.1f", ratio.get<double>());
}

std::string percent(const nlohmann::json &share) {
  return share.is_null() ? "" : formatted("%.2f", 100 * share.get<double>()) + " %";
}

std::string shortNumber(const nlohmann::json &number) {
  return number.is_null() ? "" : formatted("%.3g", number.get<double>());
}

std::string histogram(int low, const std::vector<int64_t> &counts, int formatLow, int formatHigh,
                      const std::string &label) {
  if (counts.empty())
    return "";
  constexpr int kWidth = 6, kHeight = 36;
  int first = std::min(low, formatLow), last = std::max(low + int(counts.size()) - 1, formatHigh);
  int64_t most = std::max<int64_t>(1, *std::max_element(counts.begin(), counts.end()));
  int width = (last - first + 1) * kWidth;
  std::string svg = "<svg width=\"" + std::to_string(width) + "\" height=\"" + std::to_string(kHeight + 2) +
                    "\" role=\"img\"><title>" + escaped(label) + "</title><rect x=\"" +
                    std::to_string((formatLow - first) * kWidth) + "\" y=\"0\" width=\"" +
                    std::to_string((formatHigh - formatLow + 1) * kWidth) + "\" height=\"" +
                    std::to_string(kHeight + 2) + "\" fill=\"#eef3ee\"/>";
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0)
      continue;
    int exponent = low + int(i);
    bool isInside = exponent >= formatLow && exponent <= formatHigh;
    double height = std::max(1.0, double(kHeight) * double(counts[i]) / double(most));
    svg += "<rect x=\"" + std::to_string((exponent - first) * kWidth) + "\" y=\"" +
           formatted("%.1f", kHeight + 2 - height) + "\" width=\"" + std::to_string(kWidth - 1) +
           "\" height=\"" + formatted("%.1f", height) + "\" fill=\"" + (isInside ? "#3b73b9" : "#b3261e") +
           "\"><title>2^" + std::to_string(exponent) + ": " + std::to_string(counts[i]) + "</title></rect>";
  }
  return svg + "</svg>";
}

std::string dots(const std::vector<nlohmann::json> &first, const std::vector<nlohmann::json> &second,
                 const std::vector<std::string> &names) {
  constexpr double kWidth = 1000, kHeight = 160;
  double most = 1;
  for (const auto *series : {&first, &second})
    for (const nlohmann::json &v : *series)
      if (!v.is_null())
        most = std::max(most, v.get<double>());
  std::string svg = "<svg viewBox=\"0 -8 1000 176\" width=\"100%\" role=\"img\"><rect x=\"0\" y=\"0\" "
                    "width=\"1000\" height=\"160\" fill=\"#f7f8fa\"/>";
  for (double db = 10; db < most; db += most > 120 ? 40 : 10) {
    std::string y = formatted("%.1f", kHeight * (1 - db / most));
    svg += "<line x1=\"0\" x2=\"1000\" y1=\"" + y + "\" y2=\"" + y +
           "\" stroke=\"#d8dee4\"/><text x=\"2\" y=\"" + y + "\" font-size=\"9\" fill=\"#57606a\">" +
           formatted("%.0f", db) + " dB</text>";
  }
  auto draw = [&](const std::vector<nlohmann::json> &series, const char *color, const char *what) {
    for (size_t i = 0; i < series.size(); ++i) {
      if (series[i].is_null())
        continue;
      double x = kWidth * (double(i) + 0.5) / double(series.size());
      double y = kHeight * (1 - std::clamp(series[i].get<double>() / most, 0.0, 1.0));
      svg += "<circle cx=\"" + formatted("%.1f", x) + "\" cy=\"" + formatted("%.1f", y) +
             "\" r=\"3\" fill=\"" + color + "\"><title>" + escaped(names[i]) + ": " + what + " " +
             decibels(series[i]) + " dB</title></circle>";
    }
  };
  draw(first, "#3b73b9", "with what it inherits");
  draw(second, "#b3261e", "its own");
  return svg + "</svg>\n";
}

} // namespace quaver::report
