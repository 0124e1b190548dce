//===- main.cpp - quaver-sim: runs PTX on the CPU and checks it -------------===//
//
//   quaver-sim kernel.ptx --entry NAME --grid 8,1,1 --block 128 --arg @x.npy --arg i32:7 --arg
//   out:f32x1024@y.npy
//
// Exit code 0: ran, nothing found. 1: the PTX or the kernel is at fault, stderr says how. 2: unusable
// arguments.
//
#include "runtime/base/mapped_file.h"
#include "tools/quaver-sim/arguments.h"

#include <CLI/CLI.hpp>
#include <cstdio>

using namespace quaver;

namespace {

struct Options {
  std::string file, entry, grid = "1", block = "1";
  std::vector<std::string> arguments;
  uint32_t shared = 0;
  uint64_t seed = 0, max_steps = sim::LaunchOptions().max_steps;
  bool races = false, counters = false, quiet = false;
};

int fail(int code, const Status &status) {
  std::fprintf(stderr, "quaver-sim: %s\n", status.message().c_str());
  return code;
}

int run(const Options &options) {
  ThreadPool pool; // first, so that its threads are up when blocks are ready
  StatusOr<MappedFile> file = MappedFile::open(options.file);
  if (!file.ok())
    return fail(2, file.status());
  StatusOr<sim::Dim3> grid = sim::parse_dimensions(options.grid),
                      block = sim::parse_dimensions(options.block);
  if (!grid.ok())
    return fail(2, InvalidArgumentError("--grid ", grid.status().message()));
  if (!block.ok())
    return fail(2, InvalidArgumentError("--block ", block.status().message()));
  std::vector<sim::KernelArgument> arguments;
  for (const std::string &text : options.arguments) {
    StatusOr<sim::KernelArgument> argument = sim::parse_argument(text);
    if (!argument.ok())
      return fail(2, argument.status());
    arguments.push_back(std::move(*argument));
  }

  const std::string name = options.file.substr(options.file.rfind('/') + 1);
  const auto *text = reinterpret_cast<const char *>(file->bytes().data());
  StatusOr<std::shared_ptr<sim::Module>> module =
      sim::Module::parse(std::string(text, file->bytes().size()), name);
  if (!module.ok())
    return fail(1, module.status());
  std::string entry = options.entry;
  if (entry.empty() && (*module)->kernels().size() == 1)
    entry = (*module)->kernels()[0].name;
  const auto program = (*module)->program(entry);
  if (!program.ok())
    return fail(program.status().code() == StatusCode::kNotFound ? 2 : 1, program.status());

  sim::Memory memory;
  StatusOr<std::shared_ptr<sim::LoadedModule>> loaded = sim::LoadedModule::load(*module, memory);
  if (!loaded.ok())
    return fail(1, loaded.status());
  StatusOr<std::vector<std::byte>> params = sim::pass_arguments(*(*module)->find(entry), arguments, memory);
  if (!params.ok())
    return fail(2, params.status());

  std::vector<std::string> notes;
  sim::LaunchOptions launch_options;
  launch_options.seed = options.seed;
  launch_options.races = options.races;
  launch_options.counters = options.counters;
  launch_options.max_steps = options.max_steps;
  launch_options.pool = &pool;
  launch_options.notes = &notes;
  StatusOr<sim::Counters> counters =
      sim::launch(**loaded, entry, *grid, *block, options.shared, *params, launch_options);
  Status saved = OkStatus();
  if (counters.ok())
    saved = sim::save_outputs(arguments, memory, notes);
  if (!options.quiet)
    for (const std::string &note : notes)
      std::fprintf(stderr, "note: %s\n", note.c_str());
  if (!counters.ok())
    return fail(counters.status().code() == StatusCode::kInvalidArgument ? 2 : 1, counters.status());
  if (!saved.ok())
    return fail(2, saved);
  if (options.counters)
    std::fputs(to_string(*counters).c_str(), stdout);
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Runs a kernel of a PTX file on the CPU by the rules of the PTX ISA and reports its faults.");
  Options options;
  app.add_option("file", options.file, "PTX text")->required();
  app.add_option("--entry", options.entry, "the kernel; may be left out when there is one");
  app.add_option("--grid", options.grid, "blocks, such as 8,1,1");
  app.add_option("--block", options.block, "threads of a block, such as 128");
  app.add_option("--shared", options.shared, "bytes of dynamic shared memory");
  app.add_option("--arg", options.arguments,
                 "in the order of the parameters: @x.npy, i32:7, f32:0.5, out:f32x4x8@y.npy, "
                 "inout:x.npy@y.npy, value:x.npy")
      ->expected(1)
      ->take_all();
  app.add_option("--seed", options.seed, "not 0: draws the order and turns of warps");
  app.add_option("--max-steps", options.max_steps, "instructions that a warp may execute");
  app.add_flag("--races", options.races, "finds data races too");
  app.add_flag("--counters", options.counters, "prints what was counted");
  app.add_flag("-q", options.quiet, "no notes");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  return run(options);
}
