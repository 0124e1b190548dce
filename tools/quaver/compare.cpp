// quaver compare: where a precision loses accuracy.
#include "tools/quaver/commands.h"
#include "tools/quaver/compile_options.h"
#include "tools/quaver/compiler_library.h"

namespace quaver::cli {
namespace {

std::string decibels(const nlohmann::json &ratio) {
  if (ratio.is_null())
    return "exact";
  char text[16];
  std::snprintf(text, sizeof text, "%.1f", ratio.get<double>());
  return text;
}

std::string percent(const nlohmann::json &share) {
  if (share.is_null())
    return "";
  char text[16];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share.get<double>());
  return text;
}

/// The end of a long name says more than its beginning.
std::string shortened(std::string name, size_t width) {
  return name.size() > width ? "..." + name.substr(name.size() - (width - 3)) : name;
}

void print_table(const nlohmann::json &report, int top) {
  const char *row = "%-40s %-16s %-28s %7s %7s %9s %8s %10s %8s %8s\n";
  std::printf(row, "node (worst first)", "kind or op", "decision", "own dB", "all dB", "effect dB", "share",
              "max error", "saturate", "vanish");
  int shown = 0;
  for (const auto &op : report.at("ops")) {
    if (top > 0 && shown++ == top)
      break;
    std::string kind = op.at("kind");
    char error[16];
    std::snprintf(error, sizeof error, "%.3e", op.at("max_error").get<double>());
    std::printf(row, shortened(op.at("node"), 40).c_str(),
                shortened(kind.empty() ? op.at("op").get<std::string>() : kind, 16).c_str(),
                shortened(op.at("decision"), 28).c_str(), decibels(op.at("own_sqnr_db")).c_str(),
                decibels(op.at("sqnr_db")).c_str(),
                op.at("share").is_null() ? "" : decibels(op.at("effect_db")).c_str(),
                percent(op.at("share")).c_str(), error, percent(op.at("saturated")).c_str(),
                percent(op.at("underflowed")).c_str());
  }
  if (top > 0 && report.at("ops").size() > size_t(top))
    std::printf("(%zu more; --top 0 shows all)\n", report.at("ops").size() - size_t(top));
  for (const auto &out : report.at("outputs"))
    std::printf("output %s: SQNR %s dB, max error %.3e of magnitude %.3e\n",
                out.at("name").get<std::string>().c_str(), decibels(out.at("sqnr_db")).c_str(),
                out.at("max_error").get<double>(), out.at("magnitude").get<double>());
}

void print_bisect(const nlohmann::json &bisect) {
  const auto &op = bisect.at("found");
  std::string bound = bisect.at("bound");
  if (op.is_null()) {
    std::printf("no op exceeds %s\n", bound.c_str());
    return;
  }
  std::string kind = op.at("kind"), decision = op.at("decision");
  std::printf("the first op that exceeds %s is \"%s\" (%s%s%s): SQNR %s dB, max error %.3e; with right "
              "inputs %s dB, %.3e\n",
              bound.c_str(), op.at("node").get<std::string>().c_str(),
              kind.empty() ? op.at("op").get<std::string>().c_str() : kind.c_str(),
              decision.empty() ? "" : ", ", decision.c_str(), decibels(op.at("sqnr_db")).c_str(),
              op.at("max_error").get<double>(), decibels(op.at("own_sqnr_db")).c_str(),
              op.at("own_max_error").get<double>());
  for (const auto &input : op.at("inputs"))
    std::printf("  it reads \"%s\": SQNR %s dB\n", input.at("node").get<std::string>().c_str(),
                decibels(input.at("sqnr_db")).c_str());
  std::printf("  %s\n", op.at("own_exceeds")
                            ? "its own error exceeds the bound"
                            : "its own error is within the bound: the rest comes with its inputs");
}

struct CompareFlags {
  CompileOptions options;
  std::vector<std::string> inputs;
  int top = 20, effects = 64;
  uint64_t seed = 0;
  std::string bisect, csv, html;
};

int compare(const CompareFlags &flags, Globals *globals) {
  auto json = flags.options.to_json();
  if (!json.ok())
    return fail(kUsage, json.status().message());
  (*json)["inputs"] = flags.inputs;
  (*json)["seed"] = flags.seed;
  (*json)["effects"] = flags.effects;
  if (!flags.bisect.empty())
    (*json)["bisect"] = flags.bisect;
  if (!flags.csv.empty())
    (*json)["csv"] = flags.csv;
  if (!flags.html.empty())
    (*json)["html"] = flags.html;
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
  auto parsed = nlohmann::json::parse(result);
  bool exceeds = parsed.contains("bisect") && !parsed["bisect"].at("found").is_null();
  if (!globals->quiet && globals->json != "-") {
    print_table(parsed, flags.top);
    if (parsed.contains("bisect"))
      print_bisect(parsed["bisect"]);
  }
  if (!globals->json.empty())
    if (int failed = write_text(globals->json, result))
      return failed;
  return exceeds ? kError : kOk;
}

} // namespace

Command add_compare(CLI::App &app, Globals *globals) {
  auto flags = std::make_shared<CompareFlags>();
  CLI::App *sub =
      app.add_subcommand("compare", "error of a precision against the model as its file says it, op by op");
  add_globals(sub, globals);
  flags->options.precision = "fp8";
  flags->options.add_to(sub, /*with_output=*/false);
  sub->add_option("--input", flags->inputs,
                  "NAME=@FILE.npy or NAME=1x128xi64=rand(0,32000); made up where absent");
  sub->add_option("--top", flags->top, "ops shown, 0 for all")->check(CLI::NonNegativeNumber);
  sub->add_option("--effects", flags->effects, "nodes whose effect on the outputs is measured, 0 for none")
      ->check(CLI::NonNegativeNumber);
  sub->add_option("--bisect", flags->bisect,
                  "sqnr=30dB or max=1e-2: name the first op that exceeds it; then the exit code is 1");
  sub->add_option("--csv", flags->csv, "write the ops as comma-separated values to this file");
  sub->add_option("--html", flags->html, "write a self-contained page to this file");
  sub->add_option("--seed", flags->seed, "of made-up inputs");
  return [=] { return compare(*flags, globals); };
}

} // namespace quaver::cli
