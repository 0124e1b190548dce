// quaver run: one run of an entry, outputs to files or, shortened, to the terminal.
#include "runtime/base/npy.h"
#include "runtime/numerics/codec.h"
#include "runtime/numerics/npy_types.h"
#include "tools/quaver/commands.h"
#include "tools/quaver/run_options.h"
#include <chrono>
#include <nlohmann/json.hpp>
#include <span>

namespace quaver::cli {
namespace {

constexpr size_t kShown = 8; // elements printed of an output

std::string element_text(ElementType type, const char *at) {
  if (!is_float(type)) {
    int64_t v = 0;
    std::memcpy(&v, at, size_t(bytes_of(type)));
    int unused = 64 - 8 * bytes_of(type);
    if (format_info(type).is_signed())
      return std::to_string(int64_t(uint64_t(v) << unused) >> unused);
    return std::to_string(uint64_t(v));
  }
  uint64_t bits = 0;
  std::memcpy(&bits, at, size_t(bytes_of(type)));
  double v = type == ElementType::F64   ? std::bit_cast<double>(bits)
             : type == ElementType::F32 ? double(std::bit_cast<float>(uint32_t(bits)))
                                        : double(decode(type, uint32_t(bits)));
  char text[40];
  std::snprintf(text, sizeof text, "%.7g", v);
  return text;
}

std::string summary(const qv::Output &out, std::span<const char> bytes) {
  ElementType type = *element_type_from_number(out.type());
  std::string text = out.name() + ": ";
  for (int64_t d : out.shape())
    text += std::to_string(d) + "x";
  text += std::string(mlir_name(type)) + " = [";
  size_t width = size_t(bytes_of(type)), n = bytes.size() / width;
  for (size_t i = 0; i < std::min(n, kShown); ++i)
    text += (i ? " " : "") + element_text(type, bytes.data() + i * width);
  return text + (n > kShown ? " ...]" : "]");
}

/// Outputs that the run allocated lie on the host.
std::span<const char> bytes_of_output(const qv::Output &out) {
  return {static_cast<const char *>(out.data()), out.bytes()};
}

} // namespace

Command add_run(CLI::App &app, Globals *globals) {
  auto options = std::make_shared<RunOptions>();
  auto wanted = std::make_shared<std::vector<std::string>>();
  CLI::App *sub = app.add_subcommand("run", "run a compiled model once");
  add_globals(sub, globals);
  options->add_to(sub);
  sub->add_option("--output", *wanted,
                  "NAME=@FILE.npy: write this output; without any, all are printed, shortened");
  return [=]() -> int {
    std::map<std::string, std::string> files;
    for (const std::string &text : *wanted) {
      size_t equals = text.find("=@");
      if (equals == text.npos || equals == 0)
        return fail(kUsage, "--output " + text + ": expected NAME=@FILE.npy");
      files[text.substr(0, equals)] = text.substr(equals + 2);
    }
    try {
      PreparedRun run = prepare(*options);
      std::string known;
      for (const qv_tensor_info &o : run.session->outputs(options->entry))
        known += (known.empty() ? "" : ", ") + std::string(o.name);
      for (auto &[name, file] : files)
        if (std::string all = ", " + known + ","; all.find(", " + name + ",") == all.npos)
          return fail(kError, "there is no output '" + name + "'; the outputs are: " + known);
      auto start = std::chrono::steady_clock::now();
      std::vector<qv::Output> outputs = run.session->run(run.inputs, options->entry);
      double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
      nlohmann::json result = {
          {"milliseconds", ms}, {"target", run.session->target()}, {"outputs", nlohmann::json::array()}};
      for (const qv::Output &out : outputs) {
        std::span<const char> bytes = bytes_of_output(out);
        ElementType type = *element_type_from_number(out.type());
        result["outputs"].push_back(
            {{"name", out.name()}, {"shape", out.shape()}, {"type", std::string(mlir_name(type))}});
        if (auto file = files.find(out.name()); file != files.end()) {
          Status written = write_npy(file->second, std::string(npy_descr(type)), out.shape(), bytes);
          if (!written.ok())
            return fail(kError, written.message());
        }
        if (files.empty() && !globals->quiet)
          std::printf("%s\n", summary(out, bytes).c_str());
      }
      if (globals->verbose)
        std::fprintf(stderr, "%s, %d threads: %.3f ms\n", run.session->target().c_str(),
                     run.session->threads(), ms);
      return globals->json.empty() ? int(kOk) : write_text(globals->json, result.dump(2) + "\n");
    } catch (const qv::Error &e) {
      return fail(ExitCode(exit_code(e)), e.what());
    }
  };
}

} // namespace quaver::cli
