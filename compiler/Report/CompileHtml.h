#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace quaver::report {

/// The page of a compilation's report.json: what every op is computed in and why, and the kernels of each
/// target.
std::string compileHtml(const nlohmann::json &report, const std::string &model);

} // namespace quaver::report
