#include "tools/quaver/commands.h"
#include "tools/quaver/compile_options.h"
#include "tools/quaver/compiler_library.h"

namespace quaver::cli {

static void print_table(const nlohmann::json &report, int top) {
  std::printf("%-44s %-14s %10s %12s  %s\n", "node", "op", "SQNR dB", "max error", "decision");
  int shown = 0;
  for (const auto &op : report.at("ops")) {
    if (top > 0 && shown++ == top) break;
    std::string node = op.value("node", "");
    if (node.size() > 44) node = "..." + node.substr(node.size() - 41);
    std::string sqnr = op.at("sqnr_db").is_null() ? "exact" : std::to_string(op.at("sqnr_db").get<double>()).substr(0, 6);
    std::printf("%-44s %-14s %10s %12.3e  %s\n", node.c_str(), op.value("op", "").c_str(), sqnr.c_str(),
                op.value("max_error", 0.0), op.value("reason", "").c_str());
  }
  for (const auto &out : report.at("outputs")) {
    std::string sqnr = out.at("sqnr_db").is_null() ? "exact" : std::to_string(out.at("sqnr_db").get<double>()).substr(0, 6);
    std::printf("output %s: SQNR %s dB, max error %.3e\n", out.value("name", "").c_str(), sqnr.c_str(),
                out.value("max_error", 0.0));
  }
}

Command add_compare(CLI::App &app, Globals *globals) {
  auto options = std::make_shared<CompileOptions>();
  auto inputs = std::make_shared<std::vector<std::string>>();
  auto top = std::make_shared<int>(20);
  auto seed = std::make_shared<uint64_t>(0);
  CLI::App *sub = app.add_subcommand("compare", "error of a precision against FP32, op by op, worst first");
  add_globals(sub, globals);
  options->precision = "fp8";
  options->add_to(sub, /*with_output=*/false);
  sub->add_option("--input", *inputs, "name=@file.npy or name=1x128xi64=rand(0,32000); absent: random");
  sub->add_option("--top", *top, "ops shown, 0 for all");
  sub->add_option("--seed", *seed, "of random inputs");
  return [=] {
    auto json = options->to_json();
    if (!json.ok()) return fail(kUsage, json.status().message());
    for (const std::string &i : *inputs) {
      size_t eq = i.find('=');
      if (eq == std::string::npos || eq == 0) return fail(kUsage, "--input " + i + ": expected NAME=VALUE");
      (*json)["inputs"][i.substr(0, eq)] = i.substr(eq + 1);
    }
    (*json)["seed"] = *seed;
    auto compiler = load_compiler();
    if (!compiler.ok()) return fail(kError, compiler.status().message());
    char *report = nullptr, *message = nullptr;
    int code = (*compiler)->compare(json->dump().c_str(), print_progress, globals, &report, &message);
    std::string text = message ? message : "", result = report ? report : "";
    (*compiler)->free(message);
    (*compiler)->free(report);
    if (code != QVC_OK) return fail(ExitCode(code), text);
    if (!globals->quiet) print_table(nlohmann::json::parse(result), *top);
    return globals->json.empty() ? int(kOk) : write_text(globals->json, result);
  };
}

} // namespace quaver::cli
