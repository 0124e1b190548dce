#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace quaver::report {

/// The ops of a comparison's JSON (compiler/Compare/CompareReport.h) as comma-separated values, RFC 4180, one
/// header line. A ratio that is null is an empty field; inputs are names joined by "; ".
std::string compareCsv(const nlohmann::json &report);

} // namespace quaver::report
