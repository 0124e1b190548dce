// quaver compare: where a precision loses accuracy.
#include "tools/quaver/commands.h"
#include "tools/quaver/compile_options.h"
#include "tools/quaver/compiler_library.h"

namespace quaver::cli {

static std::string decibels(const nlohmann::json &row) {
  if (row.at("sqnr_db").is_null())
    return "exact";
  char text[16];
  std::snprintf(text, sizeof text, "%.1f", row.at("sqnr_db").get<double>());
  return text;
}

static void print_table(const nlohmann::json &report, int top) {
  std::printf("%-48s %-20s %-8s %9s %11s %11s\n", "node (worst first)", "op", "type", "SQNR dB", "max error",
              "magnitude");
  int shown = 0;
  for (const auto &op : report.at("ops")) {
    if (top > 0 && shown++ == top)
      break;
    std::string node = op.at("node");
    if (node.size() > 48)
      node = "..." + node.substr(node.size() - 45);
    std::printf("%-48s %-20s %-8s %9s %11.3e %11.3e\n", node.c_str(), op.at("op").get<std::string>().c_str(),
                op.at("type").get<std::string>().c_str(), decibels(op).c_str(),
                op.at("max_error").get<double>(), op.at("magnitude").get<double>());
  }
  if (top > 0 && report.at("ops").size() > size_t(top))
    std::printf("(%zu more; --top 0 shows all)\n", report.at("ops").size() - size_t(top));
  for (const auto &out : report.at("outputs"))
    std::printf("output %s: SQNR %s dB, max error %.3e of magnitude %.3e\n",
                out.at("name").get<std::string>().c_str(), decibels(out).c_str(),
                out.at("max_error").get<double>(), out.at("magnitude").get<double>());
}

Command add_compare(CLI::App &app, Globals *globals) {
  auto options = std::make_shared<CompileOptions>();
  auto inputs = std::make_shared<std::vector<std::string>>();
  auto top = std::make_shared<int>(20);
  auto seed = std::make_shared<uint64_t>(0);
  CLI::App *sub =
      app.add_subcommand("compare", "error of a precision against the model as its file says it, op by op");
  add_globals(sub, globals);
  options->precision = "fp8";
  options->add_to(sub, /*with_output=*/false);
  sub->add_option("--input", *inputs, "NAME=@FILE.npy or NAME=1x128xi64=rand(0,32000); made up where absent");
  sub->add_option("--top", *top, "ops shown, 0 for all")->check(CLI::NonNegativeNumber);
  sub->add_option("--seed", *seed, "of made-up inputs");
  return [=]() -> int {
    auto json = options->to_json();
    if (!json.ok())
      return fail(kUsage, json.status().message());
    (*json)["inputs"] = *inputs;
    (*json)["seed"] = *seed;
    auto compiler = load_compiler();
    if (!compiler.ok())
      return fail(kError, compiler.status().message());
    char *report = nullptr, *message = nullptr;
    int code = (*compiler)->compare(json->dump().c_str(), print_progress, globals, &report, &message);
    std::string text = message ? message : "", result = report ? report : "";
    (*compiler)->free(message);
    (*compiler)->free(report);
    if (code != QVC_OK)
      return fail(ExitCode(code), text);
    if (!globals->quiet && globals->json != "-")
      print_table(nlohmann::json::parse(result), *top);
    return globals->json.empty() ? int(kOk) : write_text(globals->json, result);
  };
}

} // namespace quaver::cli
