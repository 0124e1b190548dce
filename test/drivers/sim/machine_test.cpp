// Divergence, barriers, calls, faults: what the scheduler and the memory checks must see.
#include "test/drivers/sim/kernel_fixture.h"

namespace quaver::sim {
namespace {

// Registers, and %rd0 = p0, %r0 = thread index, %rd2 = p0 + 4 * thread.
const std::string kPrologue = R"(
  .reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .f32 %f<8>; .reg .f64 %d<8>;
  mov.u32 %r0, %tid.x;
  ld.param.u64 %rd0, [p0];
  mul.wide.u32 %rd1, %r0, 4;
  add.s64 %rd2, %rd0, %rd1;
)";

#define EXPECT_FAULT(result, text)                                                                           \
  EXPECT_NE(fault_of(result).find(text), std::string::npos) << "found: " << fault_of(result)

TEST(Machine, lanes_meet_again_after_a_branch) {
  KernelRun k;
  k.add(64);
  const auto result = k.run(kernel_text(kPrologue + R"(
  and.b32 %r1, %r0, 1;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra EVEN;
  mov.u32 %r2, 100;
  bra JOIN;
EVEN:
  mov.u32 %r2, 200;
JOIN:
  activemask.b32 %r3;
  popc.b32 %r3, %r3;
  add.u32 %r2, %r2, %r3;
  st.global.u32 [%rd2], %r2;
  ret;)",
                                        1),
                            {1}, {64});
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->divergent_branches, 2u);
  const auto out = k.words(0, 64);
  for (uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], (i & 1 ? 100u : 200u) + 32u);
}

TEST(Machine, a_lane_may_wait_for_a_lane_of_its_warp) {
  // Lane 0 spins until lane 1, behind the loop's exit, has written: threads make progress on their own.
  for (uint64_t seed : {0, 3}) {
    KernelRun k;
    k.add(std::vector<uint32_t>{0});
    k.options.seed = seed;
    const auto result = k.run(kernel_text(kPrologue + R"(
  setp.ne.u32 %p1, %r0, 0;
  @%p1 bra DONE;
SPIN:
  ld.volatile.global.u32 %r1, [%rd0];
  setp.eq.u32 %p2, %r1, 0;
  @%p2 bra SPIN;
DONE:
  setp.ne.u32 %p3, %r0, 1;
  @%p3 bra END;
  mov.u32 %r2, 1;
  st.volatile.global.u32 [%rd0], %r2;
END:
  ret;)",
                                          1),
                              {1}, {32});
    EXPECT_TRUE(result.ok()) << result.status().message();
  }
}

TEST(Machine, barriers_order_warps_under_every_seed) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    KernelRun k;
    k.add(128);
    k.options.seed = seed;
    const auto result = k.run(kernel_text(kPrologue + R"(
  .shared .align 4 .b8 s[512];
  mov.u32 %r1, s;
  shl.b32 %r2, %r0, 2;
  add.u32 %r3, %r1, %r2;
  st.shared.u32 [%r3], %r0;
  bar.sync 0;
  sub.u32 %r4, 127, %r0;
  shl.b32 %r4, %r4, 2;
  add.u32 %r4, %r4, %r1;
  ld.shared.u32 %r5, [%r4];
  st.global.u32 [%rd2], %r5;
  ret;)",
                                          1),
                              {1}, {128});
    ASSERT_TRUE(result.ok()) << result.status().message();
    const auto out = k.words(0, 128);
    for (uint32_t i = 0; i < 128; ++i)
      EXPECT_EQ(out[i], 127 - i);
  }
}

TEST(Machine, named_barriers_with_counts) {
  KernelRun k;
  k.add(1);
  // Warp 0 produces, warps 1 and 2 arrive or wait; 96 threads of 128.
  const auto result = k.run(kernel_text(kPrologue + R"(
  .shared .align 4 .u32 s;
  shr.u32 %r1, %r0, 5;
  setp.eq.u32 %p1, %r1, 3;
  @%p1 ret;
  setp.eq.u32 %p2, %r1, 2;
  @%p2 bra CONSUME;
  setp.eq.u32 %p3, %r0, 0;
  @%p3 st.shared.u32 [s], 42;
  bar.arrive 5, 96;
  ret;
CONSUME:
  barrier.cta.sync.aligned 5, 96;
  ld.shared.u32 %r2, [s];
  setp.eq.u32 %p4, %r0, 64;
  @%p4 st.global.u32 [%rd0], %r2;
  ret;)",
                                        1),
                            {1}, {128});
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(k.words(0, 1)[0], 42u);
}

TEST(Machine, calls_pass_parameters_in_either_space) {
  KernelRun k;
  k.add(32);
  const std::string functions = R"(
.func (.param .b32 out) sum(.param .align 4 .b8 pair[8]) {
  .reg .b32 %r<4>;
  ld.param.u32 %r1, [pair];
  ld.param.u32 %r2, [pair+4];
  add.u32 %r3, %r1, %r2;
  st.param.b32 [out], %r3;
  ret;
}
.func (.reg .b32 out) twice(.reg .b32 x) { add.u32 out, x, x; ret; }
.func (.param .b32 out) factorial(.param .b32 n) {
  .reg .b32 %r<6>; .reg .pred %p<2>;
  ld.param.u32 %r1, [n];
  setp.gt.u32 %p1, %r1, 1;
  @%p1 bra MORE;
  st.param.b32 [out], 1;
  ret;
MORE:
  sub.u32 %r2, %r1, 1;
  { .param .b32 a; .param .b32 r; st.param.b32 [a], %r2; call (r), factorial, (a); ld.param.b32 %r3, [r]; }
  mul.lo.u32 %r4, %r1, %r3;
  st.param.b32 [out], %r4;
  ret;
})";
  const auto result = k.run(kernel_text(kPrologue + R"(
  { .param .align 4 .b8 a[8]; .param .b32 r;
    st.param.b32 [a], %r0; st.param.b32 [a+4], 5; call.uni (r), sum, (a); ld.param.b32 %r1, [r]; }
  call (%r2), twice, (%r1);
  rem.u32 %r3, %r0, 6;
  { .param .b32 a; .param .b32 r; st.param.b32 [a], %r3; call (r), factorial, (a); ld.param.b32 %r4, [r]; }
  mad.lo.u32 %r5, %r2, 1000, %r4;
  st.global.u32 [%rd2], %r5;
  ret;)",
                                        1, functions),
                            {1}, {32});
  ASSERT_TRUE(result.ok()) << result.status().message();
  const uint32_t factorial[] = {1, 1, 2, 6, 24, 120};
  const auto out = k.words(0, 32);
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], 2 * (i + 5) * 1000 + factorial[i % 6]);
}

TEST(Machine, faults_name_kernel_line_thread_and_address) {
  KernelRun k;
  k.add(16);
  const auto result = k.run(kernel_text(kPrologue + "  st.global.u32 [%rd2], %r0;\n  ret;", 1), {1}, {32});
  EXPECT_FAULT(result, "test.ptx:13: kernel 'k': st.global.u32 [%rd2], %r0: block (0,0,0) thread (16,0,0): "
                       "write of 4 bytes at 0x7f");
  EXPECT_FAULT(result, "out of bounds: 0 bytes past the end of 'buffer 0' (64 bytes");
  EXPECT_EQ(result.status().code(), StatusCode::kFailedPrecondition);
}

struct Broken {
  const char *name, *body, *fault;
};

TEST(Machine, finds_faults) {
  const Broken kCases[] = {
      {"misaligned", "add.s64 %rd3, %rd0, 2; ld.global.u32 %r1, [%rd3];", "misaligned read of 4 bytes"},
      {"misaligned vector", "add.s64 %rd3, %rd0, 4; ld.global.v2.u32 {%r1, %r2}, [%rd3];",
       "misaligned read of 8 bytes"},
      {"never written", ".shared .u32 s; ld.shared.u32 %r1, [s];",
       "that are never written: 0 bytes into shared variable 's'"},
      {"shared bounds", ".shared .b8 s[4]; mov.u32 %r1, s; st.shared.u32 [%r1+4], 1;",
       "0 bytes past the end of shared variable 's'"},
      {"local bounds", ".local .align 4 .b8 l[8]; mov.u64 %rd3, l; st.local.u32 [%rd3+16], 1;",
       "local memory of the thread has 16 bytes"},
      {"local never written", ".local .align 4 .b8 l[8]; ld.local.u32 %r1, [l+4];", "that are never written"},
      {"null", "mov.u64 %rd3, 0; ld.global.u32 %r1, [%rd3+8];", "a null pointer with a small offset"},
      {"wrong space", ".shared .u32 s; mov.u64 %rd3, s; cvta.shared.u64 %rd4, %rd3; st.global.u32 [%rd4], 1;",
       "in the wrong space: a generic address of .shared memory"},
      {"generic in shared",
       ".shared .u32 s; mov.u64 %rd3, s; cvta.shared.u64 %rd4, %rd3; st.shared.u32 [%rd4], 1;",
       "a generic address where one of .shared memory is needed"},
      {"shared in generic", ".shared .u32 s; mov.u64 %rd3, s; st.u32 [%rd3], 1;", "a null pointer"},
      {"write to const", "mov.u64 %rd3, c; st.global.u32 [%rd3], 1;", "in memory that can only be read"},
      {"kernel parameter", "mov.b64 %rd3, p0; ld.param.u64 %rd4, [%rd3+8];",
       "the kernel's parameters have 8 bytes"},
      {"divergent barrier", "setp.lt.u32 %p1, %r0, 16; @%p1 bar.sync 0;", "divergent barrier"},
      {"barriers apart", "setp.lt.u32 %p1, %r0, 16; @%p1 bra A; bar.sync 0; bra B; A: bar.sync 0; B:",
       "divergent barrier: lanes"},
      {"barrier count", "bar.sync 1, 64; ",
       "the thread count 64 of barrier 1 is not between 32 and the threads"},
      {"barrier count not of warps", "bar.sync 1, 20;", "not a multiple of 32"},
      {"barrier number", "mov.u32 %r1, 16; bar.sync %r1;", "barrier number 16 is not in [0, 15]"},
      {"shuffle mask", "setp.lt.u32 %p1, %r0, 16; @%p1 shfl.sync.idx.b32 %r1, %r0, 0, 31, 0xffffffff;",
       "the member mask 0xffffffff names lane 16, which has exited"},
      {"shuffles apart",
       "setp.lt.u32 %p1, %r0, 16; @%p1 bra A; bar.warp.sync 0xffffffff; bra B; A: shfl.sync.idx.b32 %r1, "
       "%r0, 0, 31, 0xffffffff; B:",
       "names lanes 16-31, which never execute it with the same mask: warp 0 lanes 16-31 at line"},
      {"not in its mask", "vote.sync.any.pred %p1, %p2, 0x0000ffff;",
       "does not name the lane that executes it"},
      {"trap", "trap;", "ended itself with trap"},
      {"endless loop", "L: bra L;", "an endless loop?"},
      {"indirect call of nothing", "mov.u64 %rd3, 77; call %rd3, (), proto; proto: .callprototype _;",
       "which is no function"},
      {"atomic on const", "mov.u64 %rd3, c; atom.global.add.u32 %r1, [%rd3], 1;",
       "in memory that can only be read"},
      {"beyond 2^32", "mov.u64 %rd3, 0x100000000; add.s64 %rd3, %rd3, %rd0; ld.global.u32 %r1, [%rd3];",
       "out of bounds"},
      {"stack", "alloca.u64 %rd3, 0x100000;", "alloca of 1048576 bytes"},
  };
  for (const Broken &broken : kCases) {
    KernelRun k;
    k.add(std::vector<uint32_t>(64));
    k.options.max_steps = 100000;
    const auto result = k.run(
        kernel_text(kPrologue + std::string(broken.body) + "\n ret;", 1, ".const .u32 c = 7;"), {1}, {32});
    EXPECT_FALSE(result.ok()) << broken.name;
    EXPECT_NE(fault_of(result).find(broken.fault), std::string::npos)
        << broken.name << ": " << fault_of(result);
  }
}

TEST(Machine, waits_that_nobody_ends) {
  KernelRun k;
  k.add(1);
  EXPECT_FAULT(k.run(kernel_text(kPrologue + "setp.ge.u32 %p1, %r0, 32; @%p1 exit; bar.sync 1, 64; ret;", 1),
                     {1}, {64}),
               "deadlock: every thread of the block waits (32 have exited)");
  EXPECT_FAULT(
      k.run(kernel_text(
                kPrologue + "setp.ge.u32 %p1, %r0, 32; @%p1 bra A; bar.sync 1; ret; A: bar.sync 2; ret;", 1),
            {1}, {64}),
      "deadlock: every thread of the block waits; also: warp 1 lanes 0-31 at line");
  EXPECT_TRUE(
      k.run(kernel_text(kPrologue + "setp.ge.u32 %p1, %r0, 32; @%p1 exit; bar.sync 0; ret;", 1), {1}, {64})
          .ok())
      << "warps that have exited are not waited for";
  EXPECT_FAULT(k.run(kernel_text(kPrologue + "vote.sync.any.pred %p1, %p2, 0xffffffff; ret;", 1), {1}, {20}),
               "names lane 20, but the warp has only 20 lanes");
}

TEST(Machine, use_after_free) {
  KernelRun k;
  k.add(std::vector<uint32_t>(8));
  ASSERT_TRUE(k.memory.free(k.buffers[0]).ok());
  EXPECT_FAULT(k.run(kernel_text(kPrologue + "ld.global.u32 %r1, [%rd0]; ret;", 1), {1}, {1}),
               "in freed memory: 0 bytes into 'buffer 0'");
}

TEST(Machine, endless_recursion) {
  KernelRun k;
  k.add(1);
  EXPECT_FAULT(k.run(kernel_text(kPrologue + "call f; ret;", 1, ".func f() { call f; ret; }"), {1}, {1}),
               "endless recursion?");
}

TEST(Machine, unknown_instructions_are_named) {
  KernelRun k;
  k.add(1);
  auto message = [&](const std::string &code) {
    return fault_of(k.run(kernel_text(kPrologue + code + " ret;", 1), {1}, {1}));
  };
  EXPECT_EQ(message("tex.2d.v4.f32.f32 {%f1,%f1,%f1,%f1}, [p0, {%f1,%f1}];").substr(0, 44),
            "test.ptx:13:1: unknown instruction 'tex' in:");
  EXPECT_NE(message("add.frob.s32 %r1, %r1, %r1;").find("'.frob' of 'add' is not known"), std::string::npos);
  EXPECT_NE(message("add.s32 %r1, %rd1, %q;").find("'%q' is not declared"), std::string::npos);
  EXPECT_NE(message("add.s64 %rd1, %r1, %rd1;").find("'%r1' is .b32, where a .s64 is read"),
            std::string::npos);
  EXPECT_NE(message("bra NOWHERE;").find("there is no label 'NOWHERE'"), std::string::npos);
  EXPECT_NE(message("add.s32 %r1, %r1;").find("takes 3 operands, found 2"), std::string::npos);
}

TEST(Machine, launches_are_checked) {
  KernelRun k;
  k.add(1);
  const std::string text = kernel_text("ret;", 1);
  EXPECT_EQ(k.run(text, {0}, {32}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(k.run(text, {1}, {1025}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(k.run(text, {1}, {1, 1, 65}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(k.run(text, {1}, {32}, 300000).status().code(), StatusCode::kInvalidArgument);
  k.add(1);
  EXPECT_EQ(k.run(text, {1}, {32}).status().code(), StatusCode::kInvalidArgument);
}

TEST(Machine, the_lowest_block_is_reported) {
  ThreadPool pool(2);
  for (int i = 0; i < 20; ++i) {
    KernelRun k;
    k.add(2);
    k.options.pool = &pool;
    EXPECT_FAULT(
        k.run(kernel_text(kPrologue +
                              "mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd3, %rd3, %rd0;"
                              " st.global.u32 [%rd3], 1; ret;",
                          1),
              {64}, {32}),
        "block (2,0,0)");
  }
}

TEST(Machine, division_by_zero_is_a_remark) {
  KernelRun k;
  k.add(1);
  ASSERT_TRUE(
      k.run(
           kernel_text(kPrologue + "mov.u32 %r1, 0; div.u32 %r2, 5, %r1; st.global.u32 [%rd0], %r2; ret;", 1),
           {1}, {1})
          .ok());
  EXPECT_EQ(k.words(0, 1)[0], ~0u);
  ASSERT_EQ(k.notes.size(), 1u);
  EXPECT_NE(k.notes[0].find("division by zero"), std::string::npos);
}

TEST(Machine, counters) {
  KernelRun k;
  k.add(64 * 33);
  k.options.counters = true;
  const auto result = k.run(kernel_text(kPrologue + R"(
  .shared .align 4 .b8 s[8192];
  shl.b32 %r1, %r0, 7;
  mov.u32 %r2, s;
  add.u32 %r2, %r2, %r1;
  st.shared.u32 [%r2], %r0;
  mul.wide.u32 %rd3, %r0, 128;
  add.s64 %rd3, %rd3, %rd0;
  st.global.u32 [%rd3], %r0;
  st.global.u32 [%rd2], %r0;
  ret;)",
                                        1),
                            {1}, {32});
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->shared_conflicts, 31u);
  EXPECT_EQ(result->global_store_sectors, 32u + 4u);
  EXPECT_EQ(result->global_store_bytes, 256u);
  EXPECT_EQ(result->by_class[size_t(InstructionClass::kStore)], 96u);
}

} // namespace
} // namespace quaver::sim
