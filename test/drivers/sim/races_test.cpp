// Data races: found where nothing orders, not where something does.
#include "test/drivers/sim/kernel_fixture.h"

namespace quaver::sim {
namespace {

const std::string kPrologue = R"(
  .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>;
  .shared .align 4 .b8 s[4096];
  .shared .align 4 .u32 flag;
  mov.u32 %r0, %tid.x;
  mov.u32 %r30, %ctaid.x;
  ld.param.u64 %rd0, [p0];
  shl.b32 %r1, %r0, 2;
  mov.u32 %r2, s;
  add.u32 %r3, %r2, %r1;        // own word of s
  xor.b32 %r4, %r0, 32;
  shl.b32 %r4, %r4, 2;
  add.u32 %r4, %r4, %r2;        // the word of the other warp's lane
  xor.b32 %r5, %r0, 1;
  shl.b32 %r5, %r5, 2;
  add.u32 %r5, %r5, %r2;        // the word of the neighbour lane
)";

std::string fault(const std::string &body, uint32_t grid, uint32_t block) {
  KernelRun k;
  k.add(std::vector<uint32_t>(1024));
  k.options.races = true;
  return fault_of(k.run(kernel_text(kPrologue + body + "\n ret;", 1), {grid}, {block}));
}

TEST(Races, between_warps) {
  const std::string write = "st.shared.u32 [%r3], 1;", read = "ld.shared.u32 %r6, [%r4];";
  EXPECT_EQ(fault(write + "bar.sync 0;" + read, 1, 64), "");
  EXPECT_EQ(fault(write + "bar.sync 0;" + read + "bar.sync 0;" + write + "bar.sync 0;" + read, 1, 64), "");
  EXPECT_NE(fault(write + "bar.sync 0;" + read + write, 1, 64).find("data race at 0x"), std::string::npos)
      << "a write after a read of another warp needs a barrier too";
  EXPECT_NE(
      fault("mov.u32 %r7, flag; st.shared.u32 [%r7], %r0;", 1, 64).find("bytes into shared variable 'flag'"),
      std::string::npos);
}

TEST(Races, between_lanes) {
  const std::string write = "st.shared.u32 [%r3], 1;", read = "ld.shared.u32 %r6, [%r5];";
  EXPECT_EQ(fault(write + "bar.warp.sync 0xffffffff;" + read, 1, 32), "");
  const std::string found = fault(write + read, 1, 32);
  EXPECT_NE(found.find("this read and the write by warp 0 lane 1 at line"), std::string::npos) << found;
}

TEST(Races, between_blocks) {
  EXPECT_NE(fault("st.global.u32 [%rd0], %r30;", 2, 1).find("write by block 0 warp 0 lane 0"),
            std::string::npos);
  EXPECT_EQ(fault("red.global.add.u32 [%rd0], 1;", 4, 64), "");
  EXPECT_NE(fault("red.global.add.u32 [%rd0], 1; ld.global.u32 %r6, [%rd0];", 2, 1), "")
      << "a plain read beside atomics";
  EXPECT_EQ(fault("mul.wide.u32 %rd1, %r30, 4; add.s64 %rd1, %rd1, %rd0; st.global.u32 [%rd1], 1;", 4, 1),
            "");
  EXPECT_EQ(fault("mul.wide.u32 %rd1, %r30, 1; add.s64 %rd1, %rd1, %rd0; st.global.u8 [%rd1], 1;", 4, 1), "")
      << "bytes of one word are places of their own";
  EXPECT_EQ(fault("ld.global.u32 %r6, [%rd0];", 30, 64), "");
}

// The last block sums what the others have written: fence, then an atomic counter.
std::string last_block(const std::string &release_fence, const std::string &acquire_fence) {
  return fault("mul.wide.u32 %rd1, %r30, 4; add.s64 %rd1, %rd1, %rd0; st.global.u32 [%rd1+64], 1;" +
                   release_fence + "atom.global.add.u32 %r6, [%rd0], 1; setp.ne.u32 %p1, %r6, 3; @%p1 ret;" +
                   acquire_fence + "ld.global.u32 %r7, [%rd0+64]; ld.global.u32 %r8, [%rd0+68];",
               4, 1);
}
TEST(Races, fences) {
  EXPECT_EQ(last_block("membar.gl;", "fence.acq_rel.gpu;"), "");
  EXPECT_NE(last_block("", "membar.gl;"), "") << "nothing is released";
  EXPECT_NE(last_block("membar.gl;", ""), "") << "nothing is acquired";
}

TEST(Races, release_and_acquire) {
  const std::string producer = "setp.ge.u32 %p1, %r0, 32; mov.u32 %r7, flag; @%p1 bra CONSUMER;"
                               "setp.ne.u32 %p2, %r0, 0; @%p2 ret; st.shared.u32 [s], 5;";
  const std::string consumer = "ret; CONSUMER: setp.ne.u32 %p3, %r0, 32; @%p3 ret; SPIN:";
  const std::string end = "setp.ne.u32 %p4, %r8, 1; @%p4 bra SPIN; ld.shared.u32 %r9, [s];";
  // The flag is never written before: its first reads would be an error of their own.
  const std::string clear =
      "mov.u32 %r7, flag; setp.eq.u32 %p6, %r0, 0; @%p6 st.shared.u32 [%r7], 0; bar.sync 0;";
  auto run = [&](const std::string &store, const std::string &load) {
    return fault(clear + producer + store + consumer + load + end, 1, 64);
  };
  EXPECT_EQ(run("st.release.cta.shared.u32 [%r7], 1;", "ld.acquire.cta.shared.u32 %r8, [%r7];"), "");
  EXPECT_NE(run("st.relaxed.cta.shared.u32 [%r7], 1;", "ld.acquire.cta.shared.u32 %r8, [%r7];"), "");
  EXPECT_NE(run("st.release.cta.shared.u32 [%r7], 1;", "ld.relaxed.cta.shared.u32 %r8, [%r7];"), "");
  EXPECT_EQ(run("fence.acq_rel.cta; st.volatile.shared.u32 [%r7], 1;",
                "ld.volatile.shared.u32 %r8, [%r7]; fence.acq_rel.cta;"),
            "");
}

} // namespace
} // namespace quaver::sim
