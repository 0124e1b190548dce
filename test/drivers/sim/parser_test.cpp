// PTX text to syntax tree, and where errors are.
#include "runtime/drivers/sim/ptx/parser.h"
#include <gtest/gtest.h>

namespace quaver::sim::ptx {
namespace {

constexpr std::string_view kHead = ".version 8.0\n.target sm_90a\n.address_size 64\n";

std::string error_of(const std::string &body) {
  const std::string text = std::string(kHead) + body;
  StatusOr<Module> m = parse(text);
  return m.ok() ? "" : m.status().message();
}

TEST(Parser, reads_declarations) {
  const std::string text = std::string(kHead) + R"(
.extern .shared .align 16 .b8 dynamic[];
.global .align 4 .u32 table[2][3] = {{1, 2}, {4, 5, 6}};
.const .f32 half = 0f3F000000;
.visible .global .align 8 .u64 pointers[2] = {generic(table)+4, table};
.visible .entry k(.param .u64 .ptr .global .align 16 p, .param .align 8 .b8 s[24]) .maxntid 256, 1, 1 .minnctapersm 2
{
  .reg .pred %p<2>;
  .reg .b32 %r<100>;
  .loc 1 2 3
  @!%p1 bra $L;
  ld.global.v2.f32 {%r1, _}, [%r2+-8];
  mad.lo.s32 %r1, %r2, (1 << 4) | 3, -5;
$L:
  ret;
})";
  StatusOr<Module> m = parse(text);
  ASSERT_TRUE(m.ok()) << m.status().message();
  ASSERT_EQ(m->variables.size(), 4u);
  EXPECT_TRUE(m->variables[0].is_extern);
  EXPECT_EQ(m->variables[0].bytes(), 0u);
  const Variable &table = m->variables[1];
  ASSERT_EQ(table.initializer.size(), 5u);
  EXPECT_EQ(table.initializer[2].index, 3u) << "a short row is followed by zeros";
  EXPECT_EQ(table.bytes(), 24u);
  EXPECT_TRUE(m->variables[3].initializer[0].is_generic);
  EXPECT_EQ(m->variables[3].initializer[0].value.offset, 4);
  const Function &f = m->functions.at(0);
  EXPECT_EQ(f.max_threads[0], 256u);
  EXPECT_EQ(f.parameters[0].pointer_space, Space::kGlobal);
  EXPECT_EQ(f.parameters[1].bytes(), 24u);
  std::vector<const Instruction *> code;
  for (const Statement &s : f.body.statements)
    if (const auto *in = std::get_if<Instruction>(&s))
      code.push_back(in);
  ASSERT_EQ(code.size(), 4u);
  EXPECT_TRUE(code[0]->guard->negated);
  EXPECT_EQ(code[1]->operands[0].elements[1].kind, Operand::Kind::kSink);
  EXPECT_EQ(code[1]->operands[1].offset, -8);
  EXPECT_EQ(code[2]->operands[2].bits, 19u);
  EXPECT_EQ(int64_t(code[2]->operands[3].bits), -5);
  EXPECT_EQ(code[1]->text, "ld.global.v2.f32 {%r1, _}, [%r2+-8]");
  EXPECT_EQ(code[3]->at.line, 18u);
}

TEST(Parser, numbers) {
  const std::string text = std::string(kHead) + ".global .f64 d[3] = {1.5, 0d3FF0000000000000, -2.5e-3};\n"
                                                ".global .u64 u[4] = {0xFFFFFFFFFFFFFFFF, 0b101, 017, 10U};";
  StatusOr<Module> m = parse(text);
  ASSERT_TRUE(m.ok()) << m.status().message();
  EXPECT_EQ(m->variables[0].initializer[0].value.bits, 0x3ff8000000000000u);
  EXPECT_EQ(m->variables[0].initializer[2].value.bits, 0xbf647ae147ae147bu);
  EXPECT_EQ(m->variables[1].initializer[0].value.bits, ~uint64_t{0});
  EXPECT_EQ(m->variables[1].initializer[1].value.bits, 5u);
  EXPECT_EQ(m->variables[1].initializer[2].value.bits, 15u);
}

TEST(Parser, errors_name_the_place) {
  EXPECT_EQ(error_of(".visible .entry k() { add.s32 %r1 %r2, 1; }"), "4:35: expected ';', found '%r2'");
  EXPECT_EQ(error_of(".visible .entry k() {\n  ret\n}"), "6:1: expected ';', found '}'");
  EXPECT_EQ(error_of(".entry k() { ld.global.u32 %r1, [%rd1; }"), "4:38: expected ']', found ';'");
  EXPECT_EQ(error_of(".entry k() { mov.u32 %r1, 08; }"), "4:27: expected a number of base 8, found '08'");
  EXPECT_EQ(error_of(".entry k() { mov.f32 %f1, 0f3F80; }"),
            "4:27: expected 8 hexadecimal digits after 0f, found '0f3F80'");
  EXPECT_EQ(error_of(".global .q32 x;"), "4:9: expected a type, found '.q32'");
  EXPECT_EQ(error_of(".entry k() { .reg .b32 %r<>; }"),
            "4:27: expected a number of names of at most 16777216, found '>'");
  EXPECT_EQ(error_of(".global .u32 x[2] = {1, 2, 3};"), "4:28: variable 'x': more values than elements");
  EXPECT_EQ(error_of("/* no end"), "4:1: expected '*/' that ends this comment, found the end");
  EXPECT_EQ(error_of(".entry k() { \x01 }"), "4:14: expected a token of PTX, found byte 1");
  EXPECT_EQ(error_of(".entry k() { mov.u32 %r1, 1/0; }"), "4:28: a constant expression divides by zero");
}

TEST(Parser, refuses_what_would_use_the_stack_up) {
  EXPECT_NE(error_of(".entry k() { mov.u32 %r1, " + std::string(100000, '(')), "");
  EXPECT_NE(error_of(".entry k() { mov.u32 %r1, " + std::string(100000, '-')), "");
  EXPECT_NE(error_of(".entry k() { mov.u32 %r1, " + std::string(100000, '{')), "");
  EXPECT_NE(error_of(".entry k() " + std::string(100000, '{')), "");
  std::string ternary = ".entry k() { mov.u32 %r1, ";
  for (int i = 0; i < 100000; ++i)
    ternary += "1?1:";
  EXPECT_NE(error_of(ternary), "");
  std::string braces = ".global .u32 x[2] = ";
  EXPECT_NE(error_of(braces + std::string(100000, '{')), "");
  EXPECT_NE(error_of(".global .u8 x[0xFFFFFFFFFFFFFFFF][0xFFFFFFFFFFFFFFFF];"), "");
}

TEST(Parser, header_is_needed) {
  EXPECT_FALSE(parse("").ok());
  EXPECT_EQ(parse(".target sm_80").status().message(),
            "1:1: expected '.version', with which a PTX module begins, found '.target'");
  EXPECT_FALSE(parse(".version 8.0\n.target sm_80\n.address_size 32\n").ok());
}

} // namespace
} // namespace quaver::sim::ptx
