// The ordered stages from a model to an artifact.
#pragma once
#include "runtime/base/status.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace quaver::pipeline {

/// What a compilation is asked to do. Plain data: no option is read from anywhere else.
struct CompileOptions {
  std::string model;                    // path of the ONNX file; empty when `bytes` holds it
  std::optional<llvm::StringRef> bytes; // a serialized model, owned by the caller
  std::string folder;                   // where external data of `bytes` lies
  std::string weights; // safetensors checkpoint that initializers are bound to, by name; may be empty
  std::string output;  // the artifact
  std::vector<std::string> targets = {"host"};
  std::string precision = "source";
  std::map<std::string, std::pair<int64_t, int64_t>> dims; // inclusive ranges of dimension symbols
  bool strict = false;
  std::string emitStages; // folder for the module after every stage
  std::string report;     // the report: a page where the name ends in .html, else JSON
};

/// Called as work goes on: stage, done, total.
using Progress = std::function<void(const char *stage, int done, int total)>;

/// Compiles and writes the artifact atomically. An error's message holds every diagnostic, first the most
/// telling one; nothing is written then. `warnings` receives what the user should know on success.
Status compile(const CompileOptions &options, const Progress &progress, std::string *warnings);

/// The target names `host` stands for here: what this CPU is.
std::string resolveTarget(const std::string &name);

} // namespace quaver::pipeline
