#include "compiler/Capi/quaver_compiler.h"
#include "compiler/Codegen/Common/KernelEmission.h"
#include "compiler/Pipeline/Compare.h"
#include "compiler/Pipeline/Pipeline.h"
#include "compiler/Precision/Precision.h"
#include "llvm/Config/llvm-config.h"
#include <cstring>
#include <nlohmann/json.hpp>

using nlohmann::json;

namespace quaver {
namespace {

char *copyOut(const std::string &text) {
  char *out = static_cast<char *>(std::malloc(text.size() + 1));
  if (out)
    std::memcpy(out, text.c_str(), text.size() + 1);
  return out;
}

int codeOf(const Status &status) {
  if (status.ok())
    return QVC_OK;
  return status.code() == StatusCode::kInternal ? QVC_INTERNAL : QVC_ERROR;
}

/// Reads the options object; an unknown key or a wrong type is a usage error that names it. `what`: for a
/// comparison.
Status readOptions(const char *text, pipeline::CompileOptions &c, pipeline::CompareOptions *what = nullptr) {
  json j = json::parse(text ? text : "", nullptr, /*allow_exceptions=*/false);
  if (!j.is_object())
    return InvalidArgumentError("options are not a JSON object");
  for (auto &[key, value] : j.items()) {
    try {
      if (key == "model")
        c.model = value.get<std::string>();
      else if (key == "folder")
        c.folder = value.get<std::string>();
      else if (key == "weights")
        c.weights = value.get<std::string>();
      else if (key == "output")
        c.output = value.get<std::string>();
      else if (key == "targets")
        c.targets = value.get<std::vector<std::string>>();
      else if (key == "precision")
        c.precision = value.get<std::string>();
      else if (key == "dims")
        c.dims = value.get<std::map<std::string, std::pair<int64_t, int64_t>>>();
      else if (key == "strict")
        c.strict = value.get<bool>();
      else if (key == "emit_stages")
        c.emitStages = value.get<std::string>();
      else if (key == "report")
        c.report = value.get<std::string>();
      else if (what && key == "inputs")
        what->inputs = value.get<std::vector<std::string>>();
      else if (what && key == "seed")
        what->seed = value.get<uint64_t>();
      else if (what && key == "effects")
        what->effects = value.get<int>();
      else if (what && key == "csv")
        what->csv = value.get<std::string>();
      else if (what && key == "html")
        what->html = value.get<std::string>();
      else if (what && key == "bisect") {
        QUAVER_ASSIGN_OR_RETURN(what->bound, compare::parseBound(value.get<std::string>()));
      } else if (key == "weight_storage") {
        if (value != "embed")
          return InvalidArgumentError("weight_storage " + value.dump() +
                                      ": this version embeds weights: \"embed\"");
      } else
        return InvalidArgumentError("unknown option \"" + key + "\"");
    } catch (const json::exception &) {
      return InvalidArgumentError("option \"" + key + "\" has a value of the wrong type: " + value.dump());
    }
  }
  return OkStatus();
}

pipeline::Progress wrap(qvc_progress progress, void *user) {
  return [=](const char *stage, int done, int total) {
    if (progress)
      progress(user, stage, done, total);
  };
}

int report(const Status &status, char **message) {
  if (message)
    *message = status.ok() ? nullptr : copyOut(status.message());
  return codeOf(status);
}

// No exception leaves the library.
int guarded(char **message, const std::function<int()> &work) {
  if (message)
    *message = nullptr;
  try {
    return work();
  } catch (const std::exception &e) {
    return report(InternalError(std::string("unexpected: ") + e.what()), message);
  }
}

} // namespace
} // namespace quaver

using namespace quaver;

extern "C" {

int qvc_compile(const char *options, const void *model, size_t bytes, qvc_progress progress, void *user,
                char **message) {
  return guarded(message, [&]() -> int {
    pipeline::CompileOptions read;
    if (Status status = readOptions(options, read); !status.ok())
      return report(status, message), QVC_USAGE;
    if (model)
      read.bytes = llvm::StringRef(static_cast<const char *>(model), bytes);
    std::string warnings;
    Status status = pipeline::compile(read, wrap(progress, user), &warnings);
    if (!status.ok())
      return report(status, message);
    if (message && !warnings.empty())
      *message = copyOut(warnings);
    return QVC_OK;
  });
}

int qvc_compare(const char *options, qvc_progress progress, void *user, char **out, char **message) {
  *out = nullptr;
  return guarded(message, [&]() -> int {
    pipeline::CompileOptions read;
    pipeline::CompareOptions what;
    if (Status status = readOptions(options, read, &what); !status.ok())
      return report(status, message), QVC_USAGE;
    auto found = pipeline::compare(read, what, wrap(progress, user));
    if (!found.ok())
      return report(found.status(), message);
    *out = copyOut(found->dump(2) + "\n");
    return QVC_OK;
  });
}

char *qvc_about(void) {
  json about = {{"version", QUAVER_VERSION},
                {"llvm", LLVM_VERSION_STRING},
                {"host", pipeline::resolveTarget("host")},
                {"targets", codegen::targetNames()},
                {"precisions", precision::presetNames()}};
  return copyOut(about.dump(2));
}

void qvc_free(char *text) { std::free(text); }

} // extern "C"
