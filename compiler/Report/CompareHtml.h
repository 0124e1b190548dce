#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace quaver::report {

/// The page of a comparison's JSON (compiler/Compare/CompareReport.h): outputs, the worst nodes first, errors
/// in the order of execution, and what every quantization saturates and loses.
std::string compareHtml(const nlohmann::json &report);

} // namespace quaver::report
