//===- launch_bench.cpp - what a run costs beside its kernels ---------------===//
// quaver_runtime_bench: `per_launch` of a run of 1000 launches with 8 bindings and 6 constants of a kernel
// that does nothing, inline (one workgroup) and on the pool; `run` is what remains of an empty run.
#include "runtime/drivers/registration.h"
#include "runtime/executor/session.h"
#include "test/lib/test_artifacts.h"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>

namespace quaver::test {
namespace {

std::unique_ptr<Session> open(PlanBuilder plan, int threads) {
  auto model = Model::open(plan.write());
  auto session =
      model.ok() ? Session::create(*model, default_drivers(), {.threads = threads}) : model.status();
  if (!session.ok()) {
    std::fprintf(stderr, "%s\n", session.status().message().c_str());
    std::abort();
  }
  return std::move(*session);
}

PlanBuilder launches(int count, int64_t workgroups) {
  PlanBuilder p;
  E n = p.dim("n"), bytes = p.mul(n, 4);
  EntryBuilder main = p.entry("main");
  uint32_t x = main.input("x", plan::F32, {n});
  uint32_t y = main.output("y", plan::F32, {n});
  uint32_t t = main.arena(plan::F32, bytes, p.constant(0));
  main.arena_bytes(p.align(bytes));
  for (int i = 0; i < count; ++i)
    main.body.launch("nothing", {{x}, {x}, {x}, {t}, {t}, out(t), out(t), out(y)},
                     {n, bytes, n, p.constant(1), p.constant(2), n}, p.constant(workgroups));
  return p;
}

void run(benchmark::State &state, int count, int64_t workgroups, int threads) {
  auto session = open(launches(count, workgroups), threads);
  const EntryProgram *entry = *session->find_entry("");
  float x[64] = {}, y[64];
  int64_t shape[] = {64};
  RunInput input{"x", {plan::F32, shape, x, sizeof(x), MemorySpace::kHost}};
  RunOutput output;
  output.name = "y";
  output.data = y;
  output.capacity = sizeof(y);
  for (auto _ : state) {
    Status status = session->run(*entry, std::span(&input, 1), std::span(&output, 1));
    if (!status.ok())
      state.SkipWithError(status.message().c_str());
  }
  if (count)
    state.counters["per_launch"] = benchmark::Counter(count, benchmark::Counter::kIsIterationInvariantRate |
                                                                 benchmark::Counter::kInvert);
}

void BM_EmptyRun(benchmark::State &state) { run(state, 0, 1, 1); }
void BM_InlineLaunches(benchmark::State &state) { run(state, 1000, 1, 1); }
void BM_PooledLaunches(benchmark::State &state) { run(state, 1000, 16, static_cast<int>(state.range(0))); }

BENCHMARK(BM_EmptyRun);
BENCHMARK(BM_InlineLaunches)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_PooledLaunches)->Arg(1)->Arg(2)->Arg(4)->UseRealTime()->Unit(benchmark::kMicrosecond);

} // namespace
} // namespace quaver::test

BENCHMARK_MAIN();
