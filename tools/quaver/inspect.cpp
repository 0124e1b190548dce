// quaver inspect: what an artifact holds.
#include "compiler/Codegen/X86/Kernels/pack.h"
#include "runtime/base/npy.h"
#include "runtime/base/npz.h"
#include "runtime/numerics/npy_types.h"
#include "runtime/plan/printer.h"
#include "tools/quaver/commands.h"
#include <nlohmann/json.hpp>

namespace quaver::cli {
namespace {

/// The weight's elements, row-major, whatever packing a kernel wanted.
StatusOr<std::vector<char>> dense_bytes(const plan::Artifact &artifact, const plan::Weight &w) {
  QUAVER_ASSIGN_OR_RETURN(std::span<const std::byte> blob, artifact.blob(int(w.blob())));
  if (w.storage() == "dense") {
    auto *from = reinterpret_cast<const char *>(blob.data());
    return std::vector<char>(from, from + blob.size());
  }
  auto layout = x86::layoutFromName(w.storage());
  if (!layout || w.packing_size() != 4)
    return UnimplementedError("weight '", w.name(), "' is stored as \"", w.storage(),
                              "\", which this version cannot unpack");
  x86::DenseView view{w.packing(0), w.packing(1), w.packing(2), w.packing(3)};
  int64_t elements = 1;
  for (int64_t d : w.shape())
    elements *= d;
  int64_t last = (view.k - 1) * view.kStride + (view.n - 1) * view.nStride;
  if (view.k < 1 || view.n < 1 || view.kStride < 0 || view.nStride < 0 || last >= elements ||
      view.k * view.n != elements || x86::packedBytes(*layout, view.k, view.n) != int64_t(blob.size()))
    return DataLossError("weight '", w.name(), "': its packing does not fit its shape or its bytes");
  std::vector<char> dense(size_t(elements) * size_t(bytes_of(*element_type_from_number(w.type()))));
  x86::unpack(*layout, view, blob.data(), dense.data());
  return dense;
}

/// FP8 codes are written as bytes, which every numpy can compare; all else as numpy with ml_dtypes writes it.
StatusOr<std::string> npy_of(const plan::Artifact &artifact, const plan::Weight &w) {
  QUAVER_ASSIGN_OR_RETURN(std::vector<char> dense, dense_bytes(artifact, w));
  ElementType type = *element_type_from_number(w.type());
  std::vector<int64_t> shape(w.shape().begin(), w.shape().end());
  return npy_bytes(is_float8(type) ? "|u1" : std::string(npy_descr(type)), shape, dense);
}

int write_weight(const plan::Artifact &artifact, const std::string &name, const std::string &output) {
  const plan::Plan &plan = artifact.plan();
  const plan::Weight *found = nullptr;
  for (const plan::Weight &w : plan.weights())
    if (w.name() == name && (!found || (!found->scales_plus_1() && w.scales_plus_1())))
      found = &w;
  if (!found) {
    std::string names;
    for (const plan::Weight &w : plan.weights())
      names += "\n  " + w.name();
    return fail(kError, artifact.path() + " has no weight '" + name + "'; it has:" + names);
  }
  bool isScaled = found->scales_plus_1() != 0;
  std::vector<std::pair<std::string, std::string>> arrays;
  auto add = [&](const char *key, const plan::Weight &w) -> Status {
    QUAVER_ASSIGN_OR_RETURN(std::string npy, npy_of(artifact, w));
    arrays.emplace_back(key, std::move(npy));
    return OkStatus();
  };
  Status status = add(isScaled ? "codes" : "values", *found);
  if (status.ok() && isScaled)
    status = add("scales", plan.weights(int(found->scales_plus_1() - 1)));
  if (status.ok())
    status = write_npz(output, arrays);
  return status.ok() ? int(kOk) : fail(kError, status.message());
}

StatusOr<nlohmann::json> report_of(const plan::Artifact &artifact) {
  QUAVER_ASSIGN_OR_RETURN(std::span<const std::byte> bytes, artifact.entry("report.json"));
  auto *text = reinterpret_cast<const char *>(bytes.data());
  auto report = nlohmann::json::parse(text, text + bytes.size(), nullptr, /*allow_exceptions=*/false);
  if (!report.is_object())
    return DataLossError(artifact.path(), ": its report.json is not a JSON object");
  return report;
}

std::string text_of(const nlohmann::json &row, const char *key) {
  auto it = row.find(key);
  return it != row.end() && it->is_string() ? it->get<std::string>() : "";
}

int print_precision(const plan::Artifact &artifact) {
  auto report = report_of(artifact);
  if (!report.ok())
    return fail(kError, report.status().message());
  static const char *const kColumns[] = {"node",       "op",  "kind",   "lhs",   "rhs",
                                         "accumulate", "out", "recipe", "reason"};
  std::vector<std::vector<std::string>> rows = {{std::begin(kColumns), std::end(kColumns)}};
  if (auto decisions = report->find("precision_decisions");
      decisions != report->end() && decisions->is_array())
    for (const auto &d : *decisions) {
      rows.emplace_back();
      for (const char *c : kColumns)
        rows.back().push_back(d.is_object() ? text_of(d, c) : "");
    }
  std::vector<size_t> widths(std::size(kColumns), 0);
  for (const auto &row : rows)
    for (size_t c = 0; c < row.size(); ++c)
      widths[c] = std::max(widths[c], row[c].size());
  for (const auto &row : rows) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c)
      line += row[c] + std::string(c + 1 < row.size() ? widths[c] - row[c].size() + 2 : 0, ' ');
    std::printf("%s\n", line.c_str());
  }
  return kOk;
}

} // namespace

Command add_inspect(CLI::App &app, Globals *globals) {
  struct Options {
    std::string model, weight, output;
    bool plan = false, weights = false, precision = false, verify = false;
  };
  auto o = std::make_shared<Options>();
  CLI::App *sub = app.add_subcommand("inspect", "say what a compiled model holds");
  add_globals(sub, globals);
  sub->add_option("model", o->model, "compiled model (.quaver)")->required();
  sub->add_flag("--plan", o->plan, "kernels, buffers and every instruction");
  sub->add_flag("--weights", o->weights, "every weight: type, shape, storage, scales");
  sub->add_flag("--precision", o->precision, "each operation's precision and its reason");
  sub->add_flag("--verify", o->verify, "check the bytes of large weights too");
  auto *weight =
      sub->add_option("--weight", o->weight, "write this weight to -o: codes and scales, or values");
  sub->add_option("-o,--output", o->output, "the .npz file for --weight")->needs(weight);
  return [=]() -> int {
    if (!o->weight.empty() && o->output.empty())
      return fail(kUsage, "--weight needs -o FILE.npz");
    auto artifact = plan::Artifact::open(o->model, o->verify ? plan::Verify::kAll : plan::Verify::kDefault);
    if (!artifact.ok())
      return fail(kError, artifact.status().message());
    if (!globals->json.empty())
      if (int code = write_text(globals->json, plan::print_json(**artifact)); code != kOk)
        return code;
    if (!o->weight.empty())
      return write_weight(**artifact, o->weight, o->output);
    if (o->precision)
      return print_precision(**artifact);
    if (globals->quiet || globals->json == "-")
      return kOk;
    std::printf("%s", (o->weights ? plan::print_weights((*artifact)->plan())
                                  : plan::print_artifact(**artifact, o->plan))
                          .c_str());
    return kOk;
  };
}

} // namespace quaver::cli
