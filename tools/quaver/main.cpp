// quaver: compile, run and examine models.
#include "runtime/api/quaver.h"
#include "runtime/base/atomic_file.h"
#include "tools/quaver/commands.h"
#include <cstdio>
#include <vector>

namespace quaver::cli {

void add_globals(CLI::App *sub, Globals *globals) {
  sub->add_flag("-q,--quiet", globals->quiet, "print nothing but errors");
  sub->add_flag("-v,--verbose", globals->verbose, "say more");
  sub->add_option("--json", globals->json, "write the result as JSON to this file (- for stdout)");
  sub->add_option("--progress", globals->progress, "auto, plain or none")
      ->check(CLI::IsMember({"auto", "plain", "none"}));
}

int fail(ExitCode code, const std::string &message) {
  std::fprintf(stderr, "quaver: error: %s\n", message.c_str());
  return code;
}

int write_text(const std::string &path, const std::string &text) {
  if (path == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return kOk;
  }
  Status status = write_file_atomically(path, text);
  return status.ok() ? kOk : fail(kError, status.message());
}

} // namespace quaver::cli

int main(int argc, char **argv) {
  using namespace quaver::cli;
  CLI::App app("quaver: compiles FP8 models ahead of time and runs them");
  app.footer(
      "exit codes: 0 done, 1 the model, artifact or inputs are at fault, 2 the command line is, 3 our fault");
  app.set_version_flag("--version", std::string("quaver ") + qv_version());
  app.require_subcommand(1);
  Globals globals;
  std::vector<std::pair<std::string, Command>> commands = {
      {"compile", add_compile(app, &globals)}, {"run", add_run(app, &globals)},
      {"inspect", add_inspect(app, &globals)}, {"compare", add_compare(app, &globals)},
      {"bench", add_bench(app, &globals)},     {"doctor", add_doctor(app, &globals)}};
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &e) {
    return app.exit(e) == 0 ? kOk : kUsage;
  }
  try {
    for (auto &[name, command] : commands)
      if (app.got_subcommand(name))
        return command();
  } catch (const std::exception &e) {
    return fail(kInternal, e.what());
  }
  return kUsage;
}
