#include "tools/quaver/run_options.h"
#include "runtime/base/npy.h"
#include "runtime/numerics/npy_types.h"
#include "runtime/numerics/tensor_spec.h"
#include "tools/quaver/commands.h"
#include <map>

namespace quaver::cli {

void RunOptions::add_to(CLI::App *sub) {
  sub->add_option("model", model, "compiled model (.quaver)")->required();
  sub->add_option("--input", inputs, "NAME=@FILE.npy, or NAME=1x128xi64=rand(0,32000) | normal(0,1) | 0");
  sub->add_option("--device", device, "host");
  sub->add_option("--target", target, "one of the model's targets; the best one by default");
  sub->add_option("--threads", threads, "workers, 0 for all cores")->check(CLI::Range(0, 4096));
  sub->add_option("--seed", seed, "of random inputs and of the model's random generator");
  sub->add_option("--entry", entry, "entry to run; the first one by default");
}

std::string describe(const qv_tensor_info &info) {
  std::string text = std::string(qv_type_name(info.type)) + "[";
  for (int d = 0; d < info.rank; ++d)
    text += (d ? ", " : "") + std::string(info.dims[d].name);
  return text + "]";
}

int exit_code(const qv::Error &error) { return error.code() == QV_INTERNAL ? kInternal : kError; }

static qv::Error wrong(const std::string &message) { return qv::Error(QV_INVALID_ARGUMENT, message.c_str()); }

static SpelledTensor read_input(const qv_tensor_info &info, const std::string &spec, uint64_t seed) {
  auto type = *element_type_from_number(info.type);
  std::string where = "input '" + std::string(info.name) + "' is " + describe(info) + ": ";
  if (!spec.starts_with('@')) {
    auto made = parse_tensor_spec(spec, seed);
    if (!made.ok())
      throw wrong(where + made.status().message());
    if (made->type != type)
      throw wrong(where + "'" + spec + "' gives " + std::string(mlir_name(made->type)));
    return std::move(*made);
  }
  auto array = read_npy(spec.substr(1));
  if (!array.ok())
    throw wrong(where + array.status().message());
  if (!npy_holds(array->descr, type))
    throw wrong(where + spec.substr(1) + " holds elements of '" + array->descr +
                "'; convert it with numpy's astype");
  return {type, array->shape, std::move(array->bytes)};
}

PreparedRun prepare(const RunOptions &options) {
  PreparedRun run;
  qv::Model model(options.model);
  run.session = std::make_unique<qv::Session>(
      model, qv::SessionOptions{options.device, options.target, options.threads, options.seed});
  if (!options.entry.empty() && !qv_session_peak_formula(run.session->handle(), options.entry.c_str())) {
    std::string names;
    for (size_t i = 0; i < qv_session_entry_count(run.session->handle()); ++i)
      names += std::string(i ? ", " : "") + qv_session_entry_name(run.session->handle(), i);
    throw wrong("there is no entry '" + options.entry + "'; this model has " + names);
  }
  std::map<std::string, std::string> given;
  for (const std::string &text : options.inputs) {
    size_t equals = text.find('=');
    if (equals == text.npos || equals == 0)
      throw wrong("--input " + text + ": expected NAME=@FILE.npy or NAME=SHAPExTYPE=VALUE");
    given[text.substr(0, equals)] = text.substr(equals + 1);
  }
  std::string missing, known;
  uint64_t position = 0;
  for (const qv_tensor_info &info : run.session->inputs(options.entry)) {
    known += (known.empty() ? "" : ", ") + std::string(info.name) + " " + describe(info);
    auto spec = given.find(info.name);
    if (spec == given.end()) {
      missing += (missing.empty() ? "" : ", ") + std::string(info.name);
    } else {
      SpelledTensor t = read_input(info, spec->second, options.seed + position);
      run.memory.push_back(std::move(t.bytes));
      run.inputs.push_back(
          qv::raw_input(info.name, info.type, t.shape, run.memory.back().data(), run.memory.back().size()));
      given.erase(spec);
    }
    ++position;
  }
  if (!given.empty())
    throw wrong("there is no input '" + given.begin()->first + "'; the inputs are: " + known);
  if (!missing.empty())
    throw wrong("no value for input " + missing + "; give --input NAME=@FILE.npy. The inputs are: " + known);
  return run;
}

} // namespace quaver::cli
