// What `compile` and `compare` share on the command line.
#pragma once
#include "runtime/base/status.h"
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace quaver::cli {

struct CompileOptions {
  std::string model, weights, output, precision = "source", emit_stages, report;
  std::vector<std::string> targets = {"host"}, dims;
  bool strict = false;

  void add_to(CLI::App *sub, bool with_output);
  /// The options object of qvc_compile; an error names the option that cannot be read.
  StatusOr<nlohmann::json> to_json() const;
};

} // namespace quaver::cli
