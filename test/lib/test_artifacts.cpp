//===- test_artifacts.cpp - artifacts made by hand --------------------------===//
#include "test/lib/test_artifacts.h"

#include <numeric>
#include <string>

namespace quaver::test {
namespace {

template <typename T> std::span<const std::byte> bytes_of(const std::vector<T> &values) {
  return std::as_bytes(std::span(values));
}

} // namespace

PlanBuilder matmul_plan() {
  PlanBuilder p;
  E batch = p.dim("batch", 1, 64), four = p.constant(4), three = p.constant(3);
  std::vector<float> w(12);
  std::iota(w.begin(), w.end(), 0.f);
  uint32_t weight = p.weight("w", plan::F32, {4, 3}, bytes_of(w));
  EntryBuilder main = p.entry("main");
  uint32_t x = main.input("x", plan::F32, {batch, four});
  uint32_t y = main.output("y", plan::F32, {batch, three});
  E bytes = p.mul(batch, 12), aligned = p.align(bytes);
  uint32_t product = main.arena(plan::F32, bytes, p.constant(0));
  uint32_t again = main.arena(plan::F32, bytes, aligned);
  uint32_t w_buffer = main.weight(weight, p.constant(48));
  main.arena_bytes(p.mul(aligned, 2));
  main.body.launch("matmul_f32", {{x}, {w_buffer}, out(product)}, {batch, three, four}, batch);
  main.body.copy({product}, {again}, bytes);
  main.body.launch("add_f32", {{product}, {again}, out(y)}, {p.mul(batch, 3)},
                   p.ceil_div(p.mul(batch, 3), 16));
  return p;
}

PlanBuilder nonzero_plan() {
  PlanBuilder p;
  uint32_t count_dim;
  E n = p.dim("n", 0, 1000), eight = p.constant(8), one = p.constant(1);
  E count = p.late_dim("count", n, &count_dim);
  EntryBuilder main = p.entry("main");
  uint32_t x = main.input("x", plan::F32, {n});
  uint32_t indices = main.output("indices", plan::I64, {count});
  uint32_t doubled = main.output("doubled", plan::I64, {count});
  E aligned = p.align(p.mul(n, 8));
  uint32_t all = main.arena(plan::I64, p.mul(n, 8), p.constant(0));
  uint32_t number = main.arena(plan::I64, eight, aligned);
  main.arena_bytes(p.add(aligned, p.constant(64)));
  main.body.launch("nonzero_f32", {{x}, out(all), out(number)}, {n}, one);
  main.body.read_back(count_dim, {number});
  main.body.copy({all}, {indices}, p.mul(count, 8));
  main.body.launch("double_i64", {{all}, out(doubled)}, {}, count);
  return p;
}

PlanBuilder counter_plan() {
  PlanBuilder p;
  E one = p.constant(1), eight = p.constant(8);
  uint32_t start = p.weight("start", plan::I64, {1}, bytes_of(std::vector<int64_t>{100}));
  uint32_t count = p.state("count", plan::I64, {one}, eight, static_cast<int>(start));
  p.state("quaver.random", plan::U64, {p.constant(2)}, p.constant(16));
  for (const char *name : {"step", "read"}) {
    EntryBuilder entry = p.entry(name);
    uint32_t state = entry.state(count, plan::I64, eight);
    if (std::string(name) == "step") {
      uint32_t by = entry.input("by", plan::I64, {one});
      entry.body.launch("accumulate_i64", {out(state), {by}}, {}, one);
    }
    uint32_t total = entry.output("total", plan::I64, {one});
    entry.body.copy({state}, {total}, eight);
    entry.arena_bytes(p.constant(0));
  }
  return p;
}

PlanBuilder control_plan() {
  PlanBuilder p;
  E one = p.constant(1), eight = p.constant(8), rows = p.dim("rows");
  std::vector<int64_t> initial = {1};
  uint32_t first = p.weight("first", plan::I64, {1}, bytes_of(initial));
  EntryBuilder main = p.entry("main");
  uint32_t flag = main.input("flag", plan::BOOL, {one});
  uint32_t limit = main.input("limit", plan::I64, {rows});
  uint32_t power = main.output("power", plan::I64, {one});
  uint32_t now = main.arena(plan::I64, eight, p.constant(0));
  uint32_t next = main.arena(plan::I64, eight, p.constant(64));
  uint32_t goes_on = main.arena(plan::BOOL, one, p.constant(128));
  uint32_t first_buffer = main.weight(first, eight);
  main.arena_bytes(p.constant(192));
  main.body.check(p.binary(plan::Expr::EQ, rows, one), "limit must have one row");
  auto [then, otherwise] = main.body.branch({flag});
  then.copy({first_buffer}, {now}, eight);
  auto [before, body] = then.loop({goes_on});
  before.launch("less_i64", {{now}, {limit}, out(goes_on)}, {}, one);
  body.launch("double_i64", {{now}, out(next)}, {}, one);
  body.copy({next}, {now}, eight);
  then.copy({now}, {power}, eight);
  otherwise.fill({power}, eight, 0xff);
  return p;
}

PlanBuilder range_plan(bool from_input) {
  PlanBuilder p;
  uint32_t count_dim;
  E one = p.constant(1), four = p.constant(4);
  E count = p.unbounded_dim("count", &count_dim), bytes = p.mul(count, 8);
  EntryBuilder main = p.entry("main");
  uint32_t number = main.input("count", plan::I32, {one});
  uint32_t result = main.output("out", plan::I64, {count});
  uint32_t again = main.arena(plan::I32, four, p.constant(0));
  uint32_t indices =
      from_input ? main.arena(plan::I64, bytes, p.constant(64)) : main.dynamic(plan::I64, bytes);
  main.arena_bytes(from_input ? p.add(p.align(bytes), p.constant(64)) : p.constant(64));
  if (from_input)
    main.body.read_back(count_dim, {number});
  main.body.copy({number}, out(again), four);
  if (!from_input)
    main.body.read_back(count_dim, {again});
  main.body.launch("iota_i64", {out(indices)}, {}, count);
  main.body.launch("double_i64", {{indices}, out(result)}, {}, count);
  return p;
}

PlanBuilder copy_plan() {
  PlanBuilder p;
  E n = p.dim("n");
  EntryBuilder main = p.entry("main");
  uint32_t a = main.input("a", plan::BF16, {n}), x = main.output("x", plan::BF16, {n});
  uint32_t b = main.input("b", plan::F8E4M3FN, {n}), y = main.output("y", plan::F8E4M3FN, {n});
  uint32_t c = main.input("c", plan::BOOL, {}), z = main.output("z", plan::BOOL, {});
  main.body.copy({a}, out(x), p.mul(n, 2));
  main.body.copy({b}, out(y), n);
  main.body.copy({c}, out(z), p.constant(1));
  return p;
}

} // namespace quaver::test
