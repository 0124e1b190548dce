#include "test/runtime/plan/small_plan.h"
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace quaver::plan::test {

uint32_t add_expr(Plan &plan, Expr::Kind kind, int64_t value, uint32_t a, uint32_t b, uint32_t c) {
  Expr &e = *plan.add_exprs();
  e.set_kind(kind);
  e.set_value(value);
  e.set_a(a), e.set_b(b), e.set_c(c);
  return uint32_t(plan.exprs_size() - 1);
}

namespace {

Dim &add_dim(Plan &plan, const std::string &name, int64_t min, int64_t max) {
  Dim &d = *plan.add_dims();
  d.set_name(name);
  d.set_min(min);
  d.set_max(max);
  return d;
}

void set_tensor(TensorType &t, const std::string &name, ElementType type,
                std::vector<std::pair<uint32_t, std::string>> dims) {
  t.set_name(name);
  t.set_type(type);
  for (auto &[expr, text] : dims)
    t.add_shape(expr), t.add_dim_names(text);
}

uint32_t add_buffer(Entry &e, Buffer::Memory memory, uint32_t index, uint32_t offset, uint32_t bytes,
                    ElementType type, const std::string &label) {
  Buffer &b = *e.add_buffers();
  b.set_memory(memory);
  b.set_index(index);
  b.set_offset(offset);
  b.set_bytes(bytes);
  b.set_type(type);
  b.set_label(label);
  return uint32_t(e.buffers_size() - 1);
}

void bind(Binding &b, uint32_t buffer, bool written = false) {
  b.set_buffer(buffer);
  b.set_written(written);
}

} // namespace

void build_small_model(SmallModel &m) {
  Plan &p = m.plan;
  p.set_producer("test");
  p.set_model_name("small");
  p.set_precision("fp32");
  for (int i = 0; i < 48; ++i)
    m.weight.push_back(std::byte(i));
  for (int i = 0; i < 256; ++i)
    m.codes.push_back(std::byte(i * 7));
  m.scales.resize(4, std::byte(0x3f));
  m.code = "not really code, but the artifact does not mind";

  add_dim(p, "batch", 1, 64);
  add_dim(p, "sequence", 8, 0).set_multiple_of(8);
  add_dim(p, "count", 0, 0).set_data_dependent(true);
  const uint32_t zero = add_expr(p, Expr::CONSTANT, 0), one = add_expr(p, Expr::CONSTANT, 1);
  const uint32_t four = add_expr(p, Expr::CONSTANT, 4), c64 = add_expr(p, Expr::CONSTANT, 64);
  const uint32_t batch = add_expr(p, Expr::DIM, 0), sequence = add_expr(p, Expr::DIM, 1);
  const uint32_t elements = add_expr(p, Expr::MUL, 0, batch, sequence);
  const uint32_t bytes = add_expr(p, Expr::MUL, 0, elements, four);
  const uint32_t lines = add_expr(p, Expr::CEIL_DIV, 0, bytes, c64);
  const uint32_t place = add_expr(p, Expr::MUL, 0, lines, c64);
  const uint32_t peak = add_expr(p, Expr::ADD, 0, place, c64);
  const uint32_t count = add_expr(p, Expr::DIM, 2);
  const uint32_t fits = add_expr(p, Expr::LT, 0, sequence, add_expr(p, Expr::CONSTANT, 4096));
  const uint32_t c48 = add_expr(p, Expr::CONSTANT, 48), eight = add_expr(p, Expr::CONSTANT, 8);
  p.mutable_dims(2)->set_upper_bound_plus_1(elements + 1);

  auto weight = [&](const std::string &name, ElementType type, std::vector<int64_t> shape,
                    std::span<const std::byte> data) {
    Weight &w = *p.add_weights();
    w.set_name(name);
    w.set_type(type);
    for (int64_t d : shape)
      w.add_shape(d);
    w.set_blob(m.writer.add_blob(&p, data));
    w.set_storage("dense");
    return &w;
  };
  weight("w", F32, {4, 3}, m.weight);
  weight("w8_scales", F32, {1, 1}, m.scales);
  Weight *w8 = weight("w8", F8E4M3FN, {2, 128}, m.codes);
  w8->set_recipe("128x128");
  w8->set_scales_plus_1(2);
  w8->set_program("quantize(128x128)");
  State &state = *p.add_states();
  set_tensor(*state.mutable_type(), "total", I64, {{one, "1"}});
  state.set_capacity(eight);

  Target &t = *p.add_targets();
  t.set_name("x86-64-v3");
  t.add_features("avx2");
  m.writer.add_module(t.add_modules(), "targets/x86-64-v3/kernels.so",
                      std::as_bytes(std::span(m.code.data(), m.code.size())));
  Kernel &k = *t.add_kernels();
  k.set_symbol("generic_0");
  k.set_description("elementwise over batch x sequence");

  Entry &e = *t.add_entries();
  e.set_name("main");
  set_tensor(*e.add_inputs(), "x", F32, {{batch, "batch"}, {sequence, "sequence"}});
  set_tensor(*e.add_outputs(), "y", F32, {{batch, "batch"}, {sequence, "sequence"}});
  set_tensor(*e.add_outputs(), "found", I64, {{count, "count"}});
  e.set_arena_bytes(peak);
  const uint32_t x = add_buffer(e, Buffer::INPUT, 0, zero, bytes, F32, "x");
  const uint32_t y = add_buffer(e, Buffer::OUTPUT, 0, zero, bytes, F32, "y");
  const uint32_t a = add_buffer(e, Buffer::ARENA, 0, zero, bytes, F32, "/layer/Mul");
  const uint32_t n = add_buffer(e, Buffer::ARENA, 0, place, eight, I64, "/layer/NonZero");
  const uint32_t w = add_buffer(e, Buffer::WEIGHT, 0, zero, c48, F32, "w");
  const uint32_t s = add_buffer(e, Buffer::STATE, 0, zero, eight, I64, "total");
  const uint32_t flag = add_buffer(e, Buffer::ARENA, 0, place, one, BOOL, "flag");
  const uint32_t found =
      add_buffer(e, Buffer::OUTPUT, 1, zero, add_expr(p, Expr::MUL, 0, elements, eight), I64, "found");

  auto launch = [&](Block &b, std::vector<uint32_t> reads, std::vector<uint32_t> writes,
                    const std::string &label) {
    Launch &l = *b.add_instructions()->mutable_launch();
    l.set_kernel(0);
    l.set_workgroups(batch);
    for (uint32_t r : reads)
      bind(*l.add_bindings(), r);
    for (uint32_t r : writes)
      bind(*l.add_bindings(), r, true);
    l.add_constants(sequence);
    l.set_scratch_bytes(c64);
    l.set_grain(one);
    l.set_label(label);
  };
  Block &body = *e.mutable_body();
  Check &check = *body.add_instructions()->mutable_check();
  check.set_condition(fits);
  check.set_message("sequence must be below 4096");
  launch(body, {x, w}, {a}, "/layer/Mul");
  launch(body, {a}, {n, found}, "/layer/NonZero");
  ReadBack &back = *body.add_instructions()->mutable_read_back();
  back.set_dim(2);
  bind(*back.mutable_from(), n);
  Copy &copy = *body.add_instructions()->mutable_copy();
  bind(*copy.mutable_from(), n);
  bind(*copy.mutable_to(), s, true);
  copy.set_bytes(eight);
  Fill &fill = *body.add_instructions()->mutable_fill();
  bind(*fill.mutable_to(), flag, true);
  fill.set_bytes(one);
  fill.set_byte(1);
  If &branch = *body.add_instructions()->mutable_if_();
  bind(*branch.mutable_condition(), flag);
  launch(*branch.mutable_then_block(), {a}, {y}, "/then");
  launch(*branch.mutable_else_block(), {x}, {y}, "/else");
  While &loop = *body.add_instructions()->mutable_while_();
  launch(*loop.mutable_before(), {y}, {flag}, "/condition");
  bind(*loop.mutable_condition(), flag);
  launch(*loop.mutable_body(), {a}, {y}, "/body");
  m.writer.add_entry("report.json", "{}\n");
}

std::vector<std::byte> small_artifact() {
  SmallModel model;
  build_small_model(model);
  std::string path = temporary_path("small");
  if (Status s = model.writer.write(path, &model.plan); !s.ok()) {
    std::fprintf(stderr, "%s\n", s.message().c_str());
    std::abort();
  }
  std::vector<std::byte> bytes = read_bytes(path);
  std::filesystem::remove(path);
  return bytes;
}

std::vector<std::byte> read_bytes(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}

void write_bytes(const std::string &path, std::span<const std::byte> bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char *>(bytes.data()), std::streamsize(bytes.size()));
}

std::string temporary_path(const std::string &name) {
  static std::atomic<int> next{0};
  return (std::filesystem::temp_directory_path() /
          ("quaver-" + name + "-" + std::to_string(getpid()) + "-" + std::to_string(next++) + ".quaver"))
      .string();
}

} // namespace quaver::plan::test
