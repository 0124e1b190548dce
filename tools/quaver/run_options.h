// What `run` and `bench` share: a session from the command line, and its inputs.
#pragma once
#include "runtime/api/quaver.hpp"
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

namespace quaver::cli {

struct RunOptions {
  std::string model, device = "host", target, entry;
  int threads = 0;
  uint64_t seed = 0;
  std::vector<std::string> inputs;

  void add_to(CLI::App *sub);
};

/// An opened session with the memory of its inputs.
struct PreparedRun {
  std::unique_ptr<qv::Session> session;
  std::vector<qv::Input> inputs;
  std::vector<std::vector<char>> memory;
};

/// Opens the model and reads or makes all inputs. Throws qv::Error; a wrong input's error names it and what
/// it should be.
PreparedRun prepare(const RunOptions &options);

/// "f32[batch, 64]" of an input or output.
std::string describe(const qv_tensor_info &info);
/// The exit code for an error of the runtime.
int exit_code(const qv::Error &error);

} // namespace quaver::cli
