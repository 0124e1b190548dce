// quaver doctor: what this machine and this installation can do.
#include "runtime/api/quaver.h"
#include "runtime/base/cpu_features.h"
#include "runtime/base/env.h"
#include "tools/quaver/commands.h"
#include "tools/quaver/compiler_library.h"
#include <nlohmann/json.hpp>
#include <sched.h>
#include <unistd.h>

namespace quaver::cli {

static int usable_cpus() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

Command add_doctor(CLI::App &app, Globals *globals) {
  CLI::App *sub = app.add_subcommand("doctor", "say what this machine and installation can do");
  add_globals(sub, globals);
  return [=]() -> int {
    nlohmann::json report = {
        {"version", qv_version()},
        {"cpu", cpu_name()},
        {"cpus", usable_cpus()},
        {"memory_bytes", uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE))},
        {"host_target", host_target()}};
    for (const std::string &target : x86_targets())
      report["targets"][target] = {{"runs", missing_cpu_features(x86_target_features(target)).empty()},
                                   {"missing", missing_cpu_features(x86_target_features(target))}};
    for (const char *target : {"sm_89", "sm_90a"})
      report["gpu_targets"][target] = {{"runs_on", "sim"}, {"verified_on_silicon", false}};
    for (const EnvVariable &v : env_variables())
      report["environment"][v.name] = {{"value", env(v.id)}, {"meaning", v.meaning}};
    auto compiler = load_compiler();
    if (compiler.ok()) {
      char *about = (*compiler)->about();
      report["compiler"] = nlohmann::json::parse(about);
      (*compiler)->free(about);
    } else {
      report["compiler"] = {{"missing", compiler.status().message()}};
    }
    if (!globals->quiet) {
      std::printf("quaver %s\n%s, %d CPUs, %.1f GB\n", qv_version(), cpu_name().c_str(), usable_cpus(),
                  report["memory_bytes"].get<double>() / 1e9);
      for (const std::string &target : x86_targets()) {
        std::string missing;
        for (const std::string &f : missing_cpu_features(x86_target_features(target)))
          missing += " " + f;
        std::printf("  %-16s %s%s\n", target.c_str(),
                    missing.empty() ? "runs here" : "does not run here, the CPU lacks", missing.c_str());
      }
      std::printf("  %-16s run on device sim; not verified on silicon\n", "sm_89, sm_90a");
      if (compiler.ok())
        std::printf("compiler %s, LLVM %s; \"host\" means %s\n",
                    report["compiler"]["version"].get<std::string>().c_str(),
                    report["compiler"]["llvm"].get<std::string>().c_str(), host_target().c_str());
      else
        std::printf("no compiler (models can be run, not compiled): %s\n",
                    compiler.status().message().c_str());
      for (const EnvVariable &v : env_variables())
        std::printf("%s=%s  (%s)\n", v.name, env(v.id).c_str(), v.meaning);
    }
    return globals->json.empty() ? int(kOk) : write_text(globals->json, report.dump(2) + "\n");
  };
}

} // namespace quaver::cli
