// Tensor maps and the copies that read them.
#include "runtime/drivers/sim/tensor_map.h"
#include "test/drivers/sim/kernel_fixture.h"

namespace quaver::sim {
namespace {

TensorMap small_map() {
  TensorMap m;
  m.type = TensorMapType::kU32;
  m.rank = 2;
  m.address = 4096;
  m.sizes = {40, 20};
  m.strides = {160};
  m.box = {32, 8};
  m.swizzle = TensorMapSwizzle::k128;
  return m;
}

TEST(TensorMap, keeps_what_it_is_given) {
  const TensorMap m = small_map();
  const auto bytes = encode_tensor_map(m);
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  const auto back = decode_tensor_map(*bytes);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->sizes, m.sizes);
  EXPECT_EQ(back->strides, m.strides);
  EXPECT_EQ(back->box, m.box);
  EXPECT_EQ(back->swizzle, m.swizzle);
  std::array<std::byte, kTensorMapBytes> zeros{};
  EXPECT_FALSE(decode_tensor_map(zeros).ok());
}

TEST(TensorMap, refuses_what_the_driver_refuses) {
  auto refused = [](auto change) {
    TensorMap m = small_map();
    change(m);
    return !encode_tensor_map(m).ok();
  };
  EXPECT_TRUE(refused([](TensorMap &m) { m.rank = 6; }));
  EXPECT_TRUE(refused([](TensorMap &m) { m.address += 8; }));
  EXPECT_TRUE(refused([](TensorMap &m) { m.sizes[1] = 0; }));
  EXPECT_TRUE(refused([](TensorMap &m) { m.strides[0] = 168; }));
  EXPECT_TRUE(refused([](TensorMap &m) { m.strides[0] = 144; })) << "rows would overlap";
  EXPECT_TRUE(refused([](TensorMap &m) { m.box[1] = 257; }));
  EXPECT_TRUE(refused([](TensorMap &m) { m.box[0] = 3; }));
  EXPECT_TRUE(refused([](TensorMap &m) { m.box[0] = 64; })) << "256 bytes in a swizzle of 128";
  EXPECT_TRUE(refused([](TensorMap &m) { m.element_strides[0] = 9; }));
  EXPECT_TRUE(refused([](TensorMap &m) { m.nan_fill = true; }));
}

struct Copy : KernelRun {
  explicit Copy(TensorMap m) {
    std::vector<uint32_t> data(800);
    for (uint32_t i = 0; i < 800; ++i)
      data[i] = 1000 + i;
    add(data);
    add(data);
    m.address = buffers[0];
    const auto bytes = encode_tensor_map(m);
    buffers.push_back(*memory.allocate(128, "map"));
    memory.copy_in(buffers.back(), bytes->data(), 128).ignore_error();
    m.address = buffers[1];
    const auto second = encode_tensor_map(m);
    buffers.push_back(*memory.allocate(128, "map of the copy"));
    memory.copy_in(buffers.back(), second->data(), 128).ignore_error();
    add(256);
  }
  StatusOr<Counters> go(const std::string &body) {
    return run(kernel_text(R"(
  .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<16>;
  .shared .align 8 .b64 b; .shared .align 1024 .b8 s[1024];
  mov.u32 %r0, %tid.x; ld.param.u64 %rd2, [p2]; ld.param.u64 %rd3, [p3]; ld.param.u64 %rd4, [p4]; mov.u32 %r1, b; mov.u32 %r2, s;
  setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared.b64 [%r1], 1; bar.sync 0; @!%p0 bra WAIT;
  mbarrier.arrive.expect_tx.shared.b64 %rd5, [%r1], 1024;
)" + body,
                           5),
               {1}, {32});
  }
};

const std::string kWait = "WAIT: mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0; @!%p1 bra WAIT;";
const std::string kOut = R"(
  mov.u32 %r5, 0;
ROW: shl.b32 %r6, %r5, 7; shl.b32 %r7, %r0, 2; and.b32 %r8, %r5, 7; shl.b32 %r8, %r8, 4; xor.b32 %r7, %r7, %r8;
  add.u32 %r6, %r6, %r7; add.u32 %r6, %r6, %r2; ld.shared.u32 %r9, [%r6];
  mad.lo.u32 %r10, %r5, 32, %r0; mul.wide.u32 %rd6, %r10, 4; add.s64 %rd6, %rd6, %rd4; st.global.u32 [%rd6], %r9;
  add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 8; @%p2 bra ROW; ret;)";

TEST(TensorCopy, loads_a_box_with_swizzle_and_fills_outside) {
  Copy c(small_map());
  c.options.races = true;
  const auto result = c.go("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                           "[%r2], [%rd2, {-4, 14}], [%r1];" +
                           kWait + kOut);
  ASSERT_TRUE(result.ok()) << result.status().message();
  const auto out = c.words(4, 256);
  for (int row = 0; row < 8; ++row)
    for (int i = 0; i < 32; ++i) {
      const int x = i - 4, y = row + 14;
      EXPECT_EQ(out[size_t(row * 32 + i)], x >= 0 && y < 20 ? uint32_t(1000 + y * 40 + x) : 0u)
          << row << "," << i;
    }
}

TEST(TensorCopy, stores_what_lies_inside) {
  Copy c(small_map());
  const auto result = c.go("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                           "[%r2], [%rd2, {0, 0}], [%r1];" +
                           kWait +
                           "@!%p0 ret; cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd3, {16, "
                           "14}], [%r2]; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret;");
  ASSERT_TRUE(result.ok()) << result.status().message();
  const auto out = c.words(1, 800);
  for (int y = 0; y < 20; ++y)
    for (int x = 0; x < 40; ++x)
      EXPECT_EQ(out[size_t(y * 40 + x)],
                y >= 14 && x >= 16 ? uint32_t(1000 + (y - 14) * 40 + x - 16) : uint32_t(1000 + y * 40 + x));
}

TEST(TensorCopy, misuse_is_named) {
  auto fault = [](const std::string &body) { return fault_of(Copy(small_map()).go(body)); };
  const std::string load = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes ";
  EXPECT_NE(fault(load + "[%r2], [%rd2, {0, 0}], [%r1]; ld.shared.u32 %r3, [s]; WAIT: ret;")
                .find("has not been waited for"),
            std::string::npos);
  EXPECT_NE(fault(load + "[%r2+64], [%rd2, {0, 0}], [%r1]; WAIT: ret;").find("not a multiple of 128"),
            std::string::npos);
  EXPECT_NE(fault(load + "[%r2], [%rd4, {0, 0}], [%r1]; WAIT: ret;").find("never written"),
            std::string::npos);
  EXPECT_NE(fault("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd2, "
                  "{0}], [%r1]; WAIT: ret;")
                .find("the tensor map has rank 2"),
            std::string::npos);
  EXPECT_NE(fault("mov.u32 %r3, 1; st.shared.u32 [%r2], %r3; "
                  "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd3, {0, 0}], [%r2]; WAIT: ret;")
                .find("through the asynchronous proxy"),
            std::string::npos);
}

} // namespace
} // namespace quaver::sim
