// PTX text: parsed, decoded, and run for a few hundred steps. Nothing in it is trusted.
#include "runtime/drivers/sim/machine/launch.h"
#include "test/fuzz/seeds.h"

#include <vector>

using namespace quaver;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StatusOr<std::shared_ptr<sim::Module>> module =
      sim::Module::parse(std::string(reinterpret_cast<const char *>(data), size), "fuzz.ptx");
  if (!module.ok())
    return 0;
  sim::Memory memory(1 << 22);
  StatusOr<std::shared_ptr<sim::LoadedModule>> loaded = sim::LoadedModule::load(*module, memory);
  if (!loaded.ok())
    return 0;
  const uint64_t buffer = *memory.allocate(512, "buffer");
  const uint32_t one = 1;
  memory.fill(buffer, 512, &one, 4).ignore_error();
  for (const sim::KernelInfo &kernel : (*module)->kernels()) {
    if (!(*module)->program(kernel.name).ok())
      continue;
    std::vector<uint64_t> params((kernel.parameter_bytes + 7) / 8, buffer);
    sim::LaunchOptions options;
    options.seed = size & 1;
    options.races = size & 2;
    options.counters = size & 4;
    options.max_steps = 300;
    options.max_call_depth = 20;
    sim::launch(**loaded, kernel.name, {2}, {33}, 64,
                std::as_bytes(std::span(params)).first(kernel.parameter_bytes), options)
        .status()
        .ignore_error();
  }
  return 0;
}

std::vector<fuzz::Bytes> fuzz::seeds() {
  const std::string head = ".version 8.0\n.target sm_90a\n.address_size 64\n";
  const std::string texts[] = {
      head + R"(.visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n) {
.reg .pred %p<2>; .reg .f32 %f<4>; .reg .b32 %r<6>; .reg .b64 %rd<8>;
ld.param.u64 %rd1, [a]; ld.param.u32 %r1, [n]; cvta.to.global.u64 %rd2, %rd1;
mov.u32 %r2, %tid.x; setp.ge.s32 %p1, %r2, %r1; @%p1 bra $E;
mul.wide.s32 %rd3, %r2, 4; add.s64 %rd4, %rd2, %rd3;
ld.global.v2.f32 {%f1, %f2}, [%rd4]; fma.rn.f32 %f3, %f1, %f2, 0f3F800000; st.global.f32 [%rd4+-4], %f3;
$E: ret; })",
      head +
          R"(.extern .shared .align 16 .b8 d[]; .const .f32 c[2] = {1.5, 0f3F000000}; .global .u64 t[2] = {f, generic(c)+4};
.func (.param .b32 r) f(.param .b32 x) { .reg .b32 %r<3>; .local .align 8 .b8 l[16]; ld.param.b32 %r1, [x]; st.local.b32 [l+4], %r1;
ld.local.b32 %r2, [l+4]; st.param.b32 [r], %r2; ret; }
.visible .entry k() .maxntid 128, 1, 1 { .reg .b32 %r<8>; .reg .pred %p<4>; .reg .b64 %rd<3>; .shared .u32 s;
st.shared.u32 [s], 1; bar.sync 0; atom.shared.add.u32 %r1, [s], 2; shfl.sync.bfly.b32 %r2|%p1, %r1, 1, 31, -1;
{ .param .b32 p; .param .b32 q; st.param.b32 [p], %r2; call.uni (q), f, (p); ld.param.b32 %r3, [q]; }
mov.u64 %rd1, f; { .param .b32 p; .param .b32 q; st.param.b32 [p], 3; proto: .callprototype (.param .b32 _) _ (.param .b32 _);
call (q), %rd1, (p), proto; }
ts: .branchtargets A, B; and.b32 %r4, %r3, 1; brx.idx %r4, ts;
A: vote.sync.ballot.b32 %r5, %p1, 0xffffffff; bra C; B: cvt.rn.f16x2.f32 %r5, 0f00000000, 0f3F800000; C: @!%p1 exit; trap; })",
      head +
          R"(.entry k(.param .align 8 .b8 x[24]) { .reg .b64 %rd<4>; .reg .b16 %h<4>; .reg .f64 %d<3>; .reg .b32 %r<4>; .reg .pred %p<3>;
L: ld.param.u64 %rd1, [x+8]; div.s64 %rd2, %rd1, -3; cvt.rni.s32.f64 %r1, 0d3FF8000000000000; lop3.b32 %r2, %r1, 7, 9, 0x96;
mov.b64 {%r1, %r2}, %rd2; prmt.b32 %r3, %r1, %r2, 0x5410; setp.lt.and.f64 %p1|%p2, %d1, 1.0, !%p2; min.NaN.bf16x2 %r1, %r2, %r3;
cvt.rn.satfinite.e4m3x2.f32 %h1, 1.0, 2.0; mad.hi.sat.s32 %r1, %r2, %r3, (1<<3)|~2; bar.red.popc.u32 %r1, 1, 64, %p1; @%p1 bra L; })",
  };
  std::vector<Bytes> all;
  for (const std::string &text : texts)
    all.emplace_back(text.begin(), text.end());
  return all;
}

void fuzz::repair(Bytes &) {}
