#include "compiler/Report/CompareCsv.h"

using nlohmann::json;

namespace quaver::report {
namespace {

std::string field(const json &value) {
  if (value.is_null())
    return "";
  std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  if (text.find_first_of(",\"\r\n") == std::string::npos)
    return text;
  std::string quoted = "\"";
  for (char c : text)
    quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

constexpr const char *kColumns[] = {"node",      "op",         "kind",        "decision",      "order",
                                    "type",      "elements",   "own_sqnr_db", "own_max_error", "sqnr_db",
                                    "max_error", "magnitude",  "not_finite",  "effect_db",     "share",
                                    "saturated", "underflowed"};

} // namespace

std::string compareCsv(const json &report) {
  std::string csv;
  for (const char *column : kColumns)
    csv += std::string(column) + ",";
  csv += "inputs\r\n";
  for (const json &op : report.at("ops")) {
    for (const char *column : kColumns)
      csv += field(op.at(column)) + ",";
    std::string inputs;
    for (const json &input : op.at("inputs"))
      inputs += (inputs.empty() ? "" : "; ") + input.at("node").get<std::string>();
    csv += field(inputs) + "\r\n";
  }
  return csv;
}

} // namespace quaver::report
