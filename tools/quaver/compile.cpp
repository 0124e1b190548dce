#include "tools/quaver/commands.h"
#include "tools/quaver/compile_options.h"
#include "tools/quaver/compiler_library.h"
#include <chrono>
#include <filesystem>

namespace quaver::cli {

void CompileOptions::add_to(CLI::App *sub, bool with_output) {
  sub->add_option("model", model, "ONNX model")->required();
  if (with_output) {
    sub->add_option("-o,--output", output, "the artifact to write")->required();
    sub->add_option("--target", targets,
                    "host, x86-64-v3, x86-64-v4, x86-64-v4+bf16, sm_89, sm_90a; several by commas")
        ->delimiter(',');
    sub->add_option("--report", report,
                    "write the compilation report to this file: a page if it ends in .html, else JSON");
  }
  sub->add_option(
      "--precision", precision,
      "source, fp32, bf16, fp16, fp8, fp8-weights, fp8-mx, deepseek-v3, deepseek-671b, or a policy file");
  sub->add_option(
      "--weights", weights,
      "safetensors folder or file: initializers take the bytes of the tensors that have their names");
  sub->add_option("--dim", dims, "range of a dimension symbol: seq=1:4096 or batch=8");
  sub->add_flag("--strict", strict, "an operation that is not computed as decided is an error");
  sub->add_option("--emit-stages", emit_stages, "write the module after every stage into this folder");
}

StatusOr<nlohmann::json> CompileOptions::to_json() const {
  nlohmann::json j = {{"model", model}, {"targets", targets}, {"precision", precision}, {"strict", strict}};
  if (!output.empty())
    j["output"] = output;
  if (!weights.empty())
    j["weights"] = weights;
  if (!emit_stages.empty())
    j["emit_stages"] = emit_stages;
  if (!report.empty())
    j["report"] = report;
  for (const std::string &d : dims) {
    size_t eq = d.find('='), colon = d.find(':', eq == std::string::npos ? 0 : eq);
    auto bad = [&] { return InvalidArgumentError("--dim " + d + ": expected NAME=MIN:MAX or NAME=SIZE"); };
    if (eq == std::string::npos || eq == 0)
      return bad();
    try {
      size_t used = 0;
      std::string low = d.substr(eq + 1, colon == std::string::npos ? colon : colon - eq - 1);
      int64_t min = std::stoll(low, &used);
      if (used != low.size())
        return bad();
      int64_t max = min;
      if (colon != std::string::npos) {
        max = std::stoll(d.substr(colon + 1), &used);
        if (used != d.size() - colon - 1)
          return bad();
      }
      if (min < 0 || max < min)
        return bad();
      j["dims"][d.substr(0, eq)] = {min, max};
    } catch (const std::exception &) {
      return bad();
    }
  }
  return j;
}

Command add_compile(CLI::App &app, Globals *globals) {
  auto options = std::make_shared<CompileOptions>();
  CLI::App *sub = app.add_subcommand("compile", "compile an ONNX model into one artifact");
  add_globals(sub, globals);
  options->add_to(sub, /*with_output=*/true);
  return [=] {
    auto json = options->to_json();
    if (!json.ok())
      return fail(kUsage, json.status().message());
    auto compiler = load_compiler();
    if (!compiler.ok())
      return fail(kError, compiler.status().message());
    auto start = std::chrono::steady_clock::now();
    char *message = nullptr;
    int code = (*compiler)->compile(json->dump().c_str(), nullptr, 0, print_progress, globals, &message);
    std::string text = message ? message : "";
    (*compiler)->free(message);
    if (code != QVC_OK)
      return fail(ExitCode(code), text);
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!text.empty() && !globals->quiet)
      std::fprintf(stderr, "%s\n", text.c_str());
    auto bytes = std::filesystem::file_size(options->output);
    if (!globals->quiet)
      std::printf("%s: %.1f MB, %.1f s\n", options->output.c_str(), double(bytes) / 1e6, seconds);
    if (globals->json.empty())
      return int(kOk);
    nlohmann::json result = {{"output", options->output}, {"bytes", bytes}, {"seconds", seconds}};
    return write_text(globals->json, result.dump(2) + "\n");
  };
}

} // namespace quaver::cli
