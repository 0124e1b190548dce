// mbarriers, bulk copies, and their misuse.
#include "test/drivers/sim/kernel_fixture.h"

namespace quaver::sim {
namespace {

const std::string kPrologue = R"(
  .reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %rd<16>;
  .shared .align 8 .b64 b; .shared .align 128 .b8 s[256];
  mov.u32 %r0, %tid.x; ld.param.u64 %rd0, [p0]; mov.u32 %r1, b; mov.u32 %r2, s;
  setp.eq.u32 %p0, %r0, 0;
)";

std::string fault(const std::string &body, uint32_t block, bool races = false) {
  KernelRun k;
  k.add(std::vector<uint32_t>(256, 5));
  k.options.races = races;
  return fault_of(k.run(kernel_text(kPrologue + body + " ret;", 1), {1}, {block}));
}

#define EXPECT_FOUND(found, text) EXPECT_NE((found).find(text), std::string::npos) << "found: " << (found)

const std::string kWait = "L: mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0; @!%p1 bra L;";
const std::string kCopy =
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd0], 256, [%r1];";
const std::string kLoad = "@%p0 mbarrier.init.shared.b64 [%r1], 1; bar.sync 0; @!%p0 bra W;"
                          "mbarrier.arrive.expect_tx.shared.b64 %rd1, [%r1], 256;" +
                          kCopy + "W:";

TEST(Mbarrier, a_bulk_copy_is_waited_for) {
  EXPECT_EQ(fault(kLoad + kWait + "ld.shared.u32 %r3, [s+252];", 64, true), "");
  EXPECT_FOUND(fault(kLoad + "ld.shared.u32 %r3, [s+252];", 1),
               "asynchronous copy that has not been waited for");
}

TEST(Mbarrier, tokens_and_phases) {
  EXPECT_EQ(
      fault("@%p0 mbarrier.init.shared.b64 [%r1], 64; bar.sync 0; mbarrier.arrive.shared.b64 %rd1, [%r1];"
            "L: mbarrier.try_wait.shared.b64 %p1, [%r1], %rd1; @!%p1 bra L; mbarrier.arrive.shared.b64 %rd1, "
            "[%r1];"
            "M: mbarrier.test_wait.shared.b64 %p1, [%r1], %rd1; @!%p1 bra M;",
            64),
      "");
  EXPECT_FOUND(fault("mbarrier.init.shared.b64 [%r1], 1; mbarrier.arrive.shared.b64 %rd1, [%r1]; "
                     "mbarrier.arrive.shared.b64 %rd2, [%r1];"
                     "mbarrier.test_wait.shared.b64 %p1, [%r1], %rd1;",
                     1),
               "only the current and the preceding one");
}

TEST(Mbarrier, orders_memory) {
  const std::string init =
      "@%p0 mbarrier.init.shared.b64 [%r1], 64; bar.sync 0; shl.b32 %r4, %r0, 2; add.u32 %r4, %r4, %r2;"
      "xor.b32 %r5, %r0, 32; shl.b32 %r5, %r5, 2; add.u32 %r5, %r5, %r2; and.b32 %r6, %r0, 63; st.shared.u32 "
      "[%r4], %r0;";
  const std::string arrive = "mbarrier.arrive.shared.b64 %rd1, [%r1];";
  EXPECT_EQ(fault(init + arrive + kWait + "ld.shared.u32 %r3, [%r5];", 64, true), "");
  EXPECT_FOUND(fault(init + arrive + "ld.shared.u32 %r3, [%r5];", 64, true), "");
}

TEST(Mbarrier, misuse_is_named) {
  EXPECT_FOUND(fault("mbarrier.arrive.shared.b64 %rd1, [%r1];", 1), "was not initialized");
  EXPECT_FOUND(fault(kWait, 1), "was not initialized");
  EXPECT_FOUND(fault("mbarrier.init.shared.b64 [%r1], 1; mbarrier.init.shared.b64 [%r1], 1;", 1),
               "a second time without mbarrier.inval");
  EXPECT_EQ(fault("mbarrier.init.shared.b64 [%r1], 1; mbarrier.inval.shared.b64 [%r1]; "
                  "mbarrier.init.shared.b64 [%r1], 1;",
                  1),
            "");
  EXPECT_FOUND(fault("mbarrier.init.shared.b64 [%r1], 0;", 1), "is not between 1 and 2^20 - 1");
  EXPECT_FOUND(fault("mbarrier.init.shared.b64 [%r1], 2; mbarrier.arrive.shared.b64 %rd1, [%r1], 3;", 1),
               "3 arrivals at an mbarrier whose phase waits for 2 of 2");
  EXPECT_FOUND(fault("mbarrier.init.shared.b64 [%r1], 2; mbarrier.arrive.shared.b64 %rd1, [%r1];" + kWait, 1),
               "deadlock");
  EXPECT_FOUND(
      fault(
          "mbarrier.init.shared.b64 [%r1], 1; st.shared.u64 [b], 0; mbarrier.arrive.shared.b64 %rd1, [%r1];",
          1),
      "overwritten by an ordinary store");
  EXPECT_FOUND(fault("mbarrier.init.shared.b64 [%rd0], 1;", 1), "shared");
  EXPECT_FOUND(fault("mbarrier.init.shared.b64 [%r1], 1;" + kCopy + kWait, 1), "deadlock")
      << "bytes without an arrival";
}

TEST(Mbarrier, stores_are_fenced_before_the_asynchronous_proxy_reads_them) {
  const std::string out = "cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r2], 16; "
                          "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;";
  const std::string store = "mov.u64 %rd1, 7; st.shared.v2.u64 [%r2], {%rd1, %rd1};";
  EXPECT_FOUND(fault(store + out, 1), "through the asynchronous proxy, which warp 0 wrote by an ordinary "
                                      "store with no fence.proxy.async since");
  EXPECT_EQ(fault(store + "fence.proxy.async.shared::cta;" + out, 1), "");
  EXPECT_FOUND(fault("cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r2], 24;", 1),
               "must be a multiple of 16");
}

} // namespace
} // namespace quaver::sim
