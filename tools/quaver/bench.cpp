// quaver bench: how long a run takes here.
#include "tools/quaver/commands.h"
#include "tools/quaver/run_options.h"
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

namespace quaver::cli {

static double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

Command add_bench(CLI::App &app, Globals *globals) {
  auto options = std::make_shared<RunOptions>();
  auto warm_up = std::make_shared<int>(3), least = std::make_shared<int>(10);
  auto seconds = std::make_shared<double>(2);
  CLI::App *sub = app.add_subcommand("bench", "time runs of a compiled model");
  add_globals(sub, globals);
  options->add_to(sub);
  sub->add_option("--warm-up", *warm_up, "runs before the first that counts")->check(CLI::Range(0, 1000000));
  sub->add_option("--runs", *least, "runs at least")->check(CLI::Range(1, 100000000));
  sub->add_option("--seconds", *seconds, "time to spend at least")->check(CLI::Range(0.0, 86400.0));
  return [=]() -> int {
    try {
      auto start = std::chrono::steady_clock::now();
      PreparedRun run = prepare(*options);
      double load = milliseconds_since(start);
      start = std::chrono::steady_clock::now();
      run.session->run(run.inputs, options->entry);
      double first = milliseconds_since(start);
      for (int i = 1; i < *warm_up; ++i)
        run.session->run(run.inputs, options->entry);
      std::vector<double> times;
      for (start = std::chrono::steady_clock::now();
           int(times.size()) < *least || milliseconds_since(start) < 1e3 * *seconds;) {
        auto from = std::chrono::steady_clock::now();
        run.session->run(run.inputs, options->entry);
        times.push_back(milliseconds_since(from));
      }
      std::sort(times.begin(), times.end());
      auto quantile = [&](double q) {
        return times[std::min(times.size() - 1, size_t(q * double(times.size())))];
      };
      qv_memory_use memory = run.session->memory();
      nlohmann::json result = {{"model", options->model},
                               {"target", run.session->target()},
                               {"threads", run.session->threads()},
                               {"load_ms", load},
                               {"first_ms", first},
                               {"runs", times.size()},
                               {"min_ms", times.front()},
                               {"median_ms", quantile(0.5)},
                               {"p90_ms", quantile(0.9)},
                               {"max_ms", times.back()},
                               {"weight_bytes", memory.weights},
                               {"arena_bytes", memory.arenas_high_water}};
      if (!globals->quiet)
        std::printf("%s, %d threads, %zu runs: median %.3f ms, min %.3f, p90 %.3f, max %.3f; load %.1f ms, "
                    "first run %.1f ms; "
                    "weights %.1f MB, arena %.1f MB\n",
                    run.session->target().c_str(), run.session->threads(), times.size(), quantile(0.5),
                    times.front(), quantile(0.9), times.back(), load, first, double(memory.weights) / 1e6,
                    double(memory.arenas_high_water) / 1e6);
      return globals->json.empty() ? int(kOk) : write_text(globals->json, result.dump(2) + "\n");
    } catch (const qv::Error &e) {
      return fail(ExitCode(exit_code(e)), e.what());
    }
  };
}

} // namespace quaver::cli
