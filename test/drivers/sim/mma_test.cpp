// mma.sync of every dense shape on small integers, where each sum is exact; ldmatrix, cp.async and their
// faults.
#include "runtime/numerics/codec.h"
#include "test/drivers/sim/kernel_fixture.h"
#include <bit>
#include <random>

namespace quaver::sim {
namespace {

struct Case {
  int m, n, k, bits;
  std::string types; // d.a.b.c
  std::string a, d;  // element type of a and b, of d
  std::string operation;
};

// A value's code in the element type.
uint64_t code_of(const std::string &type, int value) {
  if (type == "f64")
    return std::bit_cast<uint64_t>(double(value));
  if (type == "f32" || type == "tf32")
    return std::bit_cast<uint32_t>(float(value));
  if (type == "f16")
    return encode_f16(value);
  if (type == "bf16")
    return encode_bf16(value);
  if (type == "e4m3")
    return encode_e4m3(value);
  if (type == "e5m2")
    return encode_e5m2(value);
  return uint64_t(uint32_t(value));
}

class MmaCase {
public:
  explicit MmaCase(const Case &c)
      : c_(c), a_(size_t(c.m * c.k)), b_(size_t(c.k * c.n)), acc_(size_t(c.m * c.n)) {
    std::mt19937 random(unsigned(c.m * 1000 + c.k));
    const bool is_unsigned = c.a[0] == 'u' || c.bits == 1;
    auto draw = [&] {
      return c.bits == 1 ? int(random() % 2) : is_unsigned ? int(random() % 8) : int(random() % 9) - 4;
    };
    for (int &x : a_)
      x = draw();
    for (int &x : b_)
      x = draw();
    for (int &x : acc_)
      x = int(random() % 9) - 4;
  }

  void run() {
    const int e = c_.bits == 64 ? 1 : 32 / c_.bits;
    const int na = c_.m * c_.k / 32 / e, nb = c_.k * c_.n / 32 / e, pair = c_.d == "f16" ? 2 : 1,
              nd = c_.m * c_.n / 32 / pair;
    std::vector<uint64_t> registers(size_t(32 * (na + nb + nd)));
    for (int lane = 0; lane < 32; ++lane) {
      const int g = lane / 4, t = lane % 4;
      uint64_t *of = &registers[size_t(lane * (na + nb + nd))];
      // ISA 9.7.14.5: row of a_i is g or g + 8, its column and the row of b_i grow with i by groups of a
      // register.
      for (int i = 0; i < na * e; ++i) {
        const int row = c_.m == 16 && i / e % 2 ? g + 8 : g,
                  column = t * e + i % e + 4 * e * (i / (c_.m == 16 ? 2 * e : e));
        put(of[i / e], i % e, c_.a, a_[size_t(row * c_.k + column)]);
      }
      for (int i = 0; i < nb * e; ++i)
        put(of[na + i / e], i % e, c_.a, b_[size_t((t * e + i % e + 4 * e * (i / e)) * c_.n + g)]);
      for (int i = 0; i < nd * pair; ++i)
        of[na + nb + i / pair] |= code_of(c_.d, acc_[size_t(at(lane, i))]) << 16 * (i % pair);
    }
    KernelRun k;
    std::vector<uint32_t> words(registers.size() * 2);
    std::memcpy(words.data(), registers.data(), words.size() * 4);
    k.add(words);
    k.add(size_t(32 * nd * 2));
    const auto result = k.run(kernel_text(body(na, nb, nd), 2), {1}, {32});
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_EQ(result->tensor_core_flops, uint64_t(2 * c_.m * c_.n * c_.k));
    const auto out = k.words(1, size_t(32 * nd * 2));
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < nd * pair; ++i) {
        uint64_t got;
        std::memcpy(&got, &out[size_t((lane * nd + i / pair) * 2)], 8);
        got = pair == 2 ? got >> 16 * (i % 2) & 0xffff : c_.bits == 64 ? got : got & 0xffffffff;
        ASSERT_EQ(got, code_of(c_.d, expected(at(lane, i))))
            << c_.types << " m" << c_.m << "k" << c_.k << " lane " << lane << " element " << i;
      }
  }

private:
  int at(int lane, int i) const { return (lane / 4 + (i >= 2 ? 8 : 0)) * c_.n + lane % 4 * 2 + i % 2; }
  void put(uint64_t &reg, int slot, const std::string &type, int value) const {
    const uint64_t ones = c_.bits == 64 ? ~uint64_t{0} : (uint64_t{1} << c_.bits) - 1;
    reg |= (code_of(type, value) & ones) << (c_.bits == 64 ? 0 : slot * c_.bits);
  }
  int expected(int index) const {
    int sum = acc_[size_t(index)];
    for (int p = 0; p < c_.k; ++p) {
      const int x = a_[size_t(index / c_.n * c_.k + p)], y = b_[size_t(p * c_.n + index % c_.n)];
      sum += c_.operation == ".xor.popc" ? x ^ y : c_.operation == ".and.popc" ? x & y : x * y;
    }
    return sum;
  }
  std::string body(int na, int nb, int nd) const {
    const std::string w = c_.bits == 64 ? "b64" : "b32";
    std::string s = ".reg .b32 %r<4>; .reg .b64 %rd<8>; .reg ." + w +
                    " %x<64>;\n mov.u32 %r0, %tid.x; ld.param.u64 %rd0, [p0]; ld.param.u64 %rd1, [p1];"
                    "mul.wide.u32 %rd2, %r0, " +
                    std::to_string(8 * (na + nb + nd)) +
                    "; add.s64 %rd0, %rd0, %rd2; mul.wide.u32 %rd2, %r0, " + std::to_string(8 * nd) +
                    "; add.s64 %rd1, %rd1, %rd2;\n";
    auto list = [](int first, int count) {
      std::string r = "{";
      for (int i = 0; i < count; ++i)
        r += (i ? "," : "") + std::string("%x") + std::to_string(first + i);
      return r + "}";
    };
    for (int i = 0; i < na + nb + nd; ++i)
      s += "ld.global." + w + " %x" + std::to_string(i) + ", [%rd0+" + std::to_string(8 * i) + "];";
    s += "\nmma.sync.aligned.m" + std::to_string(c_.m) + "n" + std::to_string(c_.n) + "k" +
         std::to_string(c_.k) + ".row.col." + c_.types + c_.operation + " " + list(40, nd) + "," +
         list(0, na) + "," + list(na, nb) + "," + list(na + nb, nd) + ";\n";
    for (int i = 0; i < nd; ++i)
      s += "mov.u64 %rd3, 0; " + std::string(c_.bits == 64 ? "mov.b64 %rd3, %x" : "cvt.u64.u32 %rd3, %x") +
           std::to_string(40 + i) + "; st.global.u64 [%rd1+" + std::to_string(8 * i) + "], %rd3;";
    return s + " ret;";
  }

  Case c_;
  std::vector<int> a_, b_, acc_;
};

TEST(Mma, every_dense_shape) {
  const Case kCases[] = {
      {16, 8, 8, 16, "f32.f16.f16.f32", "f16", "f32", ""},
      {16, 8, 16, 16, "f32.f16.f16.f32", "f16", "f32", ""},
      {16, 8, 16, 16, "f16.f16.f16.f16", "f16", "f16", ""},
      {16, 8, 8, 16, "f16.f16.f16.f16", "f16", "f16", ""},
      {16, 8, 8, 16, "f32.bf16.bf16.f32", "bf16", "f32", ""},
      {16, 8, 16, 16, "f32.bf16.bf16.f32", "bf16", "f32", ""},
      {16, 8, 4, 32, "f32.tf32.tf32.f32", "tf32", "f32", ""},
      {16, 8, 8, 32, "f32.tf32.tf32.f32", "tf32", "f32", ""},
      {8, 8, 4, 64, "f64.f64.f64.f64", "f64", "f64", ""},
      {16, 8, 4, 64, "f64.f64.f64.f64", "f64", "f64", ""},
      {16, 8, 8, 64, "f64.f64.f64.f64", "f64", "f64", ""},
      {16, 8, 16, 64, "f64.f64.f64.f64", "f64", "f64", ""},
      {8, 8, 16, 8, "s32.s8.s8.s32", "s8", "s32", ""},
      {16, 8, 16, 8, "s32.u8.u8.s32", "u8", "s32", ""},
      {16, 8, 32, 8, "s32.s8.s8.s32", "s8", "s32", ""},
      {8, 8, 32, 4, "s32.s4.s4.s32", "s4", "s32", ""},
      {16, 8, 32, 4, "s32.u4.u4.s32", "u4", "s32", ""},
      {16, 8, 64, 4, "s32.s4.s4.s32", "s4", "s32", ""},
      {8, 8, 128, 1, "s32.b1.b1.s32", "b1", "s32", ".xor.popc"},
      {16, 8, 128, 1, "s32.b1.b1.s32", "b1", "s32", ".and.popc"},
      {16, 8, 256, 1, "s32.b1.b1.s32", "b1", "s32", ".xor.popc"},
      {16, 8, 32, 8, "f32.e4m3.e4m3.f32", "e4m3", "f32", ""},
      {16, 8, 32, 8, "f32.e5m2.e5m2.f32", "e5m2", "f32", ""},
      {16, 8, 16, 8, "f16.e4m3.e4m3.f16", "e4m3", "f16", ""},
  };
  for (const Case &c : kCases)
    MmaCase(c).run();
}

// A and B as ldmatrix lays them into the fragments: another way to the same registers.
TEST(Mma, fragments_are_those_of_ldmatrix) {
  KernelRun k;
  std::vector<uint32_t> halves(16 * 8 + 8 * 8); // A 16x16, B transposed 8x16
  std::mt19937 random(3);
  std::vector<int> a(256), b(128);
  for (size_t i = 0; i < 256; ++i)
    halves[i / 2] |= uint32_t(encode_f16(a[i] = int(random() % 9) - 4)) << 16 * (i % 2);
  for (size_t i = 0; i < 128; ++i)
    halves[128 + i / 2] |= uint32_t(encode_f16(b[i] = int(random() % 9) - 4)) << 16 * (i % 2);
  k.add(halves);
  k.add(128);
  k.options.races = true;
  const auto result = k.run(kernel_text(R"(
  .reg .b32 %r<40>; .reg .b64 %rd<8>; .reg .f32 %f<8>; .shared .align 16 .b8 s[768];
  mov.u32 %r0, %tid.x; mov.u32 %r1, s; ld.param.u64 %rd0, [p0]; ld.param.u64 %rd1, [p1];
  shl.b32 %r2, %r0, 2; cvt.u64.u32 %rd2, %r2; add.s64 %rd2, %rd2, %rd0; add.u32 %r3, %r1, %r2;
  ld.global.u32 %r4, [%rd2]; st.shared.u32 [%r3], %r4; ld.global.u32 %r4, [%rd2+128]; st.shared.u32 [%r3+128], %r4;
  ld.global.u32 %r4, [%rd2+256]; st.shared.u32 [%r3+256], %r4; ld.global.u32 %r4, [%rd2+384]; st.shared.u32 [%r3+384], %r4;
  ld.global.u32 %r4, [%rd2+512]; st.shared.u32 [%r3+512], %r4; ld.global.u32 %r4, [%rd2+640]; st.shared.u32 [%r3+640], %r4;
  bar.warp.sync -1;
  and.b32 %r5, %r0, 15; shl.b32 %r5, %r5, 5; shr.u32 %r6, %r0, 4; shl.b32 %r6, %r6, 4; add.u32 %r5, %r5, %r6; add.u32 %r5, %r5, %r1;
  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r5];
  and.b32 %r7, %r0, 7; shl.b32 %r7, %r7, 5; shr.u32 %r8, %r0, 3; and.b32 %r8, %r8, 1; shl.b32 %r8, %r8, 4; add.u32 %r7, %r7, %r8; add.u32 %r7, %r7, %r1;
  ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r14, %r15}, [%r7+512];
  mov.f32 %f0, 0f00000000;
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r10,%r11,%r12,%r13}, {%r14,%r15}, {%f0,%f0,%f0,%f0};
  shr.u32 %r20, %r0, 2; shl.b32 %r20, %r20, 5; and.b32 %r21, %r0, 3; shl.b32 %r21, %r21, 3; add.u32 %r20, %r20, %r21;
  cvt.u64.u32 %rd3, %r20; add.s64 %rd3, %rd3, %rd1;
  st.global.v2.f32 [%rd3], {%f1, %f2}; st.global.v2.f32 [%rd3+256], {%f3, %f4};
  ret;)",
                                        2),
                            {1}, {32});
  ASSERT_TRUE(result.ok()) << result.status().message();
  const auto out = k.words(1, 128);
  for (size_t i = 0; i < 16; ++i)
    for (size_t j = 0; j < 8; ++j) {
      int sum = 0;
      for (size_t p = 0; p < 16; ++p)
        sum += a[i * 16 + p] * b[j * 16 + p];
      EXPECT_EQ(std::bit_cast<float>(out[i * 8 + j]), float(sum)) << i << "," << j;
    }
}

TEST(Mma, matrices_go_both_ways) {
  KernelRun k;
  k.add(32);
  k.add(32);
  const auto result = k.run(kernel_text(R"(
  .reg .b32 %r<10>; .reg .b64 %rd<8>; .shared .align 16 .b8 s[128];
  mov.u32 %r0, %tid.x; mov.u32 %r1, s; ld.param.u64 %rd0, [p0]; ld.param.u64 %rd1, [p1];
  and.b32 %r2, %r0, 7; shl.b32 %r2, %r2, 4; add.u32 %r2, %r2, %r1;
  mul.lo.u32 %r3, %r0, 0x20002; add.u32 %r3, %r3, 0x10000;
  stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r2], {%r3};
  bar.warp.sync -1;
  ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r4}, [%r2];
  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r2];
  movmatrix.sync.aligned.m8n8.trans.b16 %r5, %r5;
  sub.u32 %r4, %r4, %r3; sub.u32 %r5, %r5, %r3;
  mul.wide.u32 %rd2, %r0, 4; add.s64 %rd0, %rd0, %rd2; add.s64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd0], %r4; st.global.u32 [%rd1], %r5; ret;)",
                                        2),
                            {1}, {32});
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(k.words(0, 32), std::vector<uint32_t>(32, 0));
  EXPECT_EQ(k.words(1, 32), std::vector<uint32_t>(32, 0));
}

// 2^13 + 1 of a sum is lost where 13 bits below the largest term are kept.
TEST(Mma, short_accumulation_is_named) {
  for (Accumulation model : {Accumulation::kExact, Accumulation::kShort}) {
    KernelRun k;
    k.add(1);
    k.options.accumulation = model;
    // e5m2: 2^14 = 0x74, 1 = 0x3c. Row 0 of A is {2^14, 1, ...}; all of B is 1.
    const auto result = k.run(kernel_text(R"(
    .reg .b32 %r<8>; .reg .b64 %rd<2>; .reg .f32 %f<8>; .reg .pred %p<2>;
    mov.u32 %r0, %tid.x; ld.param.u64 %rd0, [p0]; mov.u32 %r1, 0; setp.ne.u32 %p1, %r0, 0;
    selp.u32 %r2, 0, 0x00003c74, %p1; mov.u32 %r3, 0x3c3c3c3c; mov.f32 %f0, 0f00000000;
    mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32 {%f1,%f2,%f3,%f4}, {%r2,%r1,%r1,%r1}, {%r3,%r3}, {%f0,%f0,%f0,%f0};
    @%p1 ret; st.global.f32 [%rd0], %f1; ret;)",
                                          1),
                              {1}, {32});
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_EQ(std::bit_cast<float>(k.words(0, 1)[0]), model == Accumulation::kExact ? 16385.0f : 16384.0f);
  }
}

TEST(Mma, faults) {
  auto fault = [](const std::string &body, uint32_t block) {
    KernelRun k;
    k.add(std::vector<uint32_t>(64));
    return fault_of(k.run(kernel_text(".reg .b32 %r<20>; .reg .b64 %rd<4>; .reg .f32 %f<8>; .reg .pred "
                                      "%p<4>; .shared .align 16 .b8 s[64];"
                                      "mov.u32 %r0, %tid.x; mov.u32 %r1, s; ld.param.u64 %rd0, [p0];" +
                                          body + " ret;",
                                      1),
                          {1}, {block}));
  };
  EXPECT_NE(fault("movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r3;", 20).find("lane 20 does not"),
            std::string::npos);
  EXPECT_NE(fault("setp.eq.u32 %p1, %r0, 3; @%p1 bra E; movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r3; "
                  "bar.warp.sync -1; E: bar.sync 0;",
                  32)
                .find("all lanes of the warp must execute it together; lanes 3 do not"),
            std::string::npos);
  EXPECT_NE(fault("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1];", 32).find("never written"),
            std::string::npos);
  EXPECT_NE(fault("add.u32 %r1, %r1, 8; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1];", 32)
                .find("misaligned read of 16 bytes"),
            std::string::npos);
  const std::string copy = "cp.async.ca.shared.global [%r1], [%rd0], 16;";
  EXPECT_NE(fault(copy + "ld.shared.u32 %r2, [s];", 1).find("asynchronous copy that has not been waited for"),
            std::string::npos);
  EXPECT_NE(fault(copy + "cp.async.wait_group 0; ld.shared.u32 %r2, [s];", 1), "")
      << "a copy that was not committed is not waited for";
  EXPECT_NE(fault(copy + "cp.async.commit_group; cp.async.wait_group 1; ld.shared.u32 %r2, [s];", 1), "");
  EXPECT_EQ(fault(copy + "cp.async.commit_group; cp.async.wait_group 0; ld.shared.u32 %r2, [s];", 1), "");
  EXPECT_EQ(fault(copy + "cp.async.wait_all; ld.shared.u32 %r2, [s];", 1), "");
  EXPECT_NE(fault("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                  "{%f1,%f2,%f3,%f4},{%r1,%r2},{%r3,%r4},{%f1,%f2,%f3,%f4},%r5,0;",
                  32)
                .find("sparse 'mma'"),
            std::string::npos);
}

} // namespace
} // namespace quaver::sim
