// wgmma on small integers, matrices laid into shared memory by each swizzle as a tensor-map copy would.
#include "runtime/numerics/codec.h"
#include "test/drivers/sim/kernel_fixture.h"
#include <bit>
#include <random>

namespace quaver::sim {
namespace {

struct Case {
  const char *a, *types; // element type; d.a.b
  int n, k, element_bytes;
  int swizzle; // bytes: 32, 64, 128; 0: none
  bool a_in_registers = false;
  bool b_transposed = false;
};

uint32_t code_of(const std::string &type, int v) {
  return type == "f16"    ? encode_f16(v)
         : type == "bf16" ? encode_bf16(v)
         : type == "e4m3" ? encode_e4m3(v)
         : type == "e5m2" ? encode_e5m2(v)
         : type == "tf32" ? std::bit_cast<uint32_t>(float(v))
                          : uint32_t(v) & 0xff;
}

// Shared memory: A at 0 (64 rows), B at 16384. A K-major matrix of 32-byte rows (one instruction's k).
class WgmmaCase {
public:
  explicit WgmmaCase(const Case &c) : c_(c), a_(size_t(64 * c.k)), b_(size_t(c.k * c.n)), image_(32768) {
    std::mt19937 random(unsigned(c.n + c.k));
    for (int &x : a_)
      x = int(random() % 9) - 4;
    for (int &x : b_)
      x = int(random() % 9) - 4;
  }

  // Byte b of row r of a K-major matrix: rows lie in groups of 8, a swizzle of S bytes makes rows of S bytes
  // whose pieces of 16 bytes are permuted by the row; without, each 8 x 16 bytes piece is a matrix of its
  // own.
  size_t place(int r, int b) const {
    if (c_.swizzle == 0)
      return size_t(r / 8 * 256 + b / 16 * 128 + r % 8 * 16 + b % 16);
    const int rows_in_128 = 128 / c_.swizzle, piece = b / 16;
    // The permutation repeats every 8 rows of 128 bytes, 4 of 64, 2 of 32 (in 16-byte pieces of the line of
    // 128).
    const int address = r * c_.swizzle + piece * 16;
    const int line = address / 128, mask = 8 / rows_in_128 - 1;
    return size_t((address ^ ((line & mask) * 16)) + b % 16);
  }

  // N-major B of 16-bit elements with the 128-byte swizzle: 64 columns side by side, k by k.
  size_t place_transposed(int k, int n) const {
    const int address = n / 64 * 2048 + k / 8 * 1024 + k % 8 * 128 + n % 64 / 8 * 16;
    return size_t((address ^ (k % 8 * 16)) + n % 8 * 2);
  }

  void run(const std::string &before = "wgmma.fence.sync.aligned;", const std::string &fault = "") {
    for (int r = 0; r < 64; ++r)
      for (int k = 0; k < c_.k; ++k)
        put(place(r, k * c_.element_bytes), a_[size_t(r * c_.k + k)]);
    for (int n = 0; n < c_.n; ++n)
      for (int k = 0; k < c_.k; ++k)
        put(16384 + (c_.b_transposed ? place_transposed(k, n) : place(n, k * c_.element_bytes)),
            b_[size_t(k * c_.n + n)]);
    KernelRun kernel;
    std::vector<uint32_t> words(image_.size() / 4);
    std::memcpy(words.data(), image_.data(), image_.size());
    kernel.add(words);
    kernel.add(size_t(64 * c_.n));
    kernel.add(registers_of_a());
    kernel.options.max_shared_bytes = 65536;
    const auto result = kernel.run(text(before), {1}, {128});
    if (!fault.empty()) {
      EXPECT_NE(fault_of(result).find(fault), std::string::npos) << "found: " << fault_of(result);
      return;
    }
    ASSERT_TRUE(result.ok()) << result.status().message();
    const auto out = kernel.words(1, size_t(64 * c_.n));
    for (int i = 0; i < 64; ++i)
      for (int j = 0; j < c_.n; ++j) {
        int sum = 0;
        for (int p = 0; p < c_.k; ++p)
          sum += a_[size_t(i * c_.k + p)] * b_[size_t(p * c_.n + j)];
        const uint32_t got = out[size_t(i * c_.n + j)];
        ASSERT_EQ(c_.types[0] == 's' ? float(int32_t(got)) : std::bit_cast<float>(got), float(sum))
            << c_.types << " swizzle " << c_.swizzle << " at " << i << "," << j;
      }
  }

private:
  void put(size_t at, int value) {
    const uint32_t code = code_of(c_.a, value);
    std::memcpy(&image_[at], &code, size_t(c_.element_bytes));
  }
  std::vector<uint32_t> registers_of_a() const {
    std::vector<uint32_t> r(128 * 4);
    const int e = 4 / c_.element_bytes;
    for (int thread = 0; thread < 128; ++thread)
      for (int i = 0; i < 4 * e; ++i) {
        const int reg = i / e, row = thread / 32 * 16 + thread % 32 / 4 + 8 * (reg & 1),
                  k = thread % 4 * e + i % e + 4 * e * (reg >> 1);
        r[size_t(thread * 4 + reg)] |= code_of(c_.a, a_[size_t(row * c_.k + k)])
                                       << (8 * c_.element_bytes * (i % e) % 32);
      }
    return r;
  }
  std::string text(const std::string &before) const {
    const int d = c_.n / 2, w = c_.swizzle;
    std::string body = R"(
  .reg .b32 %r<256>; .reg .b64 %rd<16>; .reg .pred %p<4>; .shared .align 1024 .b8 s[32768];
  mov.u32 %r200, %tid.x; ld.param.u64 %rd0, [p0]; ld.param.u64 %rd1, [p1]; ld.param.u64 %rd6, [p2]; mov.u32 %r201, s;
  mov.u32 %r202, %r200;
COPY: shl.b32 %r203, %r202, 2; cvt.u64.u32 %rd2, %r203; add.s64 %rd2, %rd2, %rd0; ld.global.u32 %r204, [%rd2];
  add.u32 %r203, %r203, %r201; st.shared.u32 [%r203], %r204; add.u32 %r202, %r202, 128; setp.lt.u32 %p1, %r202, 8192; @%p1 bra COPY;
  fence.proxy.async; bar.sync 0;
  mul.wide.u32 %rd7, %r200, 16; add.s64 %rd7, %rd7, %rd6; ld.global.v4.u32 {%r240, %r241, %r242, %r243}, [%rd7];
  shr.u32 %r205, %r201, 4; cvt.u64.u32 %rd3, %r205;
)";
    const uint64_t code = w == 128 ? 1 : w == 64 ? 2 : w == 32 ? 3 : 0;
    const uint64_t lead = w ? 1 : 128 / 16, stride = uint64_t(w ? 8 * w : 256) / 16;
    const uint64_t fields = code << 62 | stride << 32 | lead << 16;
    const uint64_t b_fields =
        c_.b_transposed ? code << 62 | uint64_t(1024 / 16) << 32 | uint64_t(2048 / 16) << 16 : fields;
    body += "  add.s64 %rd4, %rd3, " + std::to_string(fields) + "; add.s64 %rd5, %rd3, " +
            std::to_string(b_fields + 1024) + ";\n";
    std::string list;
    for (int i = 0; i < d; ++i) {
      body += "mov.u32 %r" + std::to_string(i) + ", 77;";
      list += (i ? ",%r" : "%r") + std::to_string(i);
    }
    const bool floats = c_.types[0] != 's';
    const std::string scales =
        !floats
            ? ""
            : std::string(", 1, 1") + (c_.element_bytes != 2 ? ""
                                                             : std::string(c_.a_in_registers ? "" : ", 0") +
                                                                   (c_.b_transposed ? ", 1" : ", 0"));
    body += "\n" + before + "\nwgmma.mma_async.sync.aligned.m64n" + std::to_string(c_.n) + "k" +
            std::to_string(c_.k) + "." + c_.types + " {" + list + "}, " +
            (c_.a_in_registers ? "{%r240, %r241, %r242, %r243}" : "%rd4") + ", %rd5, 0" + scales +
            ";\nwgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
            "shr.u32 %r206, %r200, 2; and.b32 %r206, %r206, 7; shr.u32 %r207, %r200, 5; shl.b32 %r207, "
            "%r207, 4; add.u32 %r206, %r206, %r207;"
            "mul.lo.u32 %r206, %r206, " +
            std::to_string(c_.n) +
            "; and.b32 %r207, %r200, 3; shl.b32 %r207, %r207, 1; add.u32 %r206, %r206, %r207;"
            "mul.wide.u32 %rd2, %r206, 4; add.s64 %rd2, %rd2, %rd1;\n";
    for (int i = 0; i < d; ++i)
      body += "st.global.u32 [%rd2+" + std::to_string(4 * (i / 4 * 8 + i % 2 + i / 2 % 2 * 8 * c_.n)) +
              "], %r" + std::to_string(i) + ";";
    return kernel_text(body + " ret;", 3);
  }

  Case c_;
  std::vector<int> a_, b_;
  std::vector<char> image_;
};

TEST(Wgmma, types_shapes_and_swizzles) {
  const Case kCases[] = {
      {"f16", "f32.f16.f16", 64, 16, 2, 128},          {"f16", "f32.f16.f16", 8, 16, 2, 64},
      {"f16", "f32.f16.f16", 256, 16, 2, 32},          {"f16", "f32.f16.f16", 24, 16, 2, 0},
      {"bf16", "f32.bf16.bf16", 64, 16, 2, 128},       {"e4m3", "f32.e4m3.e4m3", 128, 32, 1, 128},
      {"e5m2", "f32.e5m2.e5m2", 16, 32, 1, 64},        {"s8", "s32.s8.s8", 32, 32, 1, 128},
      {"tf32", "f32.tf32.tf32", 40, 8, 4, 128},        {"f16", "f32.f16.f16", 64, 16, 2, 128, true},
      {"e4m3", "f32.e4m3.e4m3", 64, 32, 1, 128, true}, {"f16", "f32.f16.f16", 128, 16, 2, 128, true, true}};
  for (const Case &c : kCases)
    WgmmaCase(c).run();
}

TEST(Wgmma, misuse_is_named) {
  const Case c{"f16", "f32.f16.f16", 8, 16, 2, 128};
  WgmmaCase(c).run("", "no wgmma.fence before the first");
  WgmmaCase(c).run("wgmma.fence.sync.aligned; st.shared.u32 [%r201], 0;", "through the asynchronous proxy");
  // The result is touched while a second product is under way.
  const std::string early = "wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
                            "{%r0,%r1,%r2,%r3}, %rd4, %rd5, 0, 1, 1, 0, 0; wgmma.commit_group.sync.aligned;";
  WgmmaCase(c).run(early + "mov.u32 %r210, %r2;",
                   "touches a register of wgmma.mma_async before wgmma.wait_group");
  WgmmaCase(c).run(early + "wgmma.wait_group.sync.aligned 1; add.u32 %r2, %r210, 1;",
                   "touches a register of wgmma.mma_async");
  WgmmaCase(c).run(early + "wgmma.wait_group.sync.aligned 0; mov.u32 %r210, %r2;");
}

} // namespace
} // namespace quaver::sim
