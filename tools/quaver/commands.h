// The subcommands of `quaver`. Each registers its options with CLI11 and returns one of the exit codes.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace quaver::cli {

/// Exit codes, documented in `quaver --help`.
enum ExitCode {
  kOk = 0,
  kError = 1,    // the model, artifact, inputs or policy are at fault
  kUsage = 2,    // the command line is at fault
  kInternal = 3, // our fault
};

/// Options that every command takes.
struct Globals {
  bool quiet = false;
  bool verbose = false;
  std::string json;              // write the command's result as JSON here
  std::string progress = "auto"; // auto | plain | none
};

using Command = std::function<int()>;

/// Adds -q, -v, --json, --progress.
void add_globals(CLI::App *sub, Globals *globals);

Command add_compile(CLI::App &app, Globals *globals);
Command add_run(CLI::App &app, Globals *globals);
Command add_inspect(CLI::App &app, Globals *globals);
Command add_compare(CLI::App &app, Globals *globals);
Command add_bench(CLI::App &app, Globals *globals);
Command add_doctor(CLI::App &app, Globals *globals);

/// Prints "quaver: error: MESSAGE" on stderr and returns the code.
int fail(ExitCode code, const std::string &message);
/// Writes text to a file atomically ("-": stdout).
int write_text(const std::string &path, const std::string &text);

} // namespace quaver::cli
