//===- conformance_test.cpp - devices, buffers and executables --------------===//
#include "test/drivers/conformance.h"

#include <algorithm>

#include <cstring>

namespace quaver::test {
namespace {

using hal::StreamMode;

INSTANTIATE_TEST_SUITE_P(Drivers, Conformance, testing::ValuesIn(drivers_under_test()), [](const auto &info) {
  std::string name = info.param.device;
  std::replace_if(name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
});

TEST_P(Conformance, says_what_it_is) {
  EXPECT_EQ(device_->info().name, GetParam().device.substr(0, GetParam().device.find(":")));
  EXPECT_FALSE(device_->info().description.empty());
  EXPECT_GE(device_->info().workers, 1);
  EXPECT_FALSE(device_->identity().empty());
}

TEST_P(Conformance, refuses_an_ordinal_it_does_not_have) {
  EXPECT_FALSE(default_drivers().open(GetParam().device + ":no-such-device", {}).ok());
}

// The verify half of the exclusions: what a row excludes is refused, in a sentence, by kUnimplemented.
TEST_P(Conformance, excluded_features_are_unimplemented) {
  auto check = [&](Feature feature, const Status &status) {
    EXPECT_EQ(status.code() == StatusCode::kUnimplemented, excludes(feature)) << status.message();
    EXPECT_EQ(status.ok(), !excludes(feature)) << status.message();
  };
  check(Feature::kMemory, device_->allocate(64).status());
  char byte = 0;
  if (device_->info().is_host_addressable) // elsewhere host memory is a wrong argument
    check(Feature::kMemory, device_->import_buffer(&byte, 1, {}).status());
  check(Feature::kStreams, device_->create_stream(StreamMode::kInline).status());
  check(Feature::kStreams, device_->create_stream(StreamMode::kQueued).status());
  check(Feature::kEvents, device_->create_event().status());
  check(Feature::kExecutables, device_->load_executable(source()).status());
  check(Feature::kExecutables, device_->rank_target(GetParam().target, {}).status());
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

TEST_P(Conformance, buffers_are_aligned_whatever_their_size) {
  QUAVER_NEEDS(Feature::kMemory);
  for (size_t bytes : {size_t{0}, size_t{1}, size_t{63}, size_t{64}, size_t{4097}, (size_t{2} << 20) - 1,
                       size_t{2} << 20, (size_t{5} << 20) + 3}) {
    auto buffer = allocate(bytes);
    ASSERT_TRUE(buffer);
    EXPECT_EQ(buffer->bytes(), bytes);
    EXPECT_FALSE(buffer->is_imported());
    ASSERT_NE(buffer->device_address(), nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->device_address()) % hal::kBufferAlignment, 0u);
    if (device_->info().is_host_addressable) {
      EXPECT_EQ(buffer->host_address(), buffer->device_address());
      std::memset(buffer->host_address(), 0xa5, bytes);
    }
  }
}

TEST_P(Conformance, too_much_memory_is_an_error) {
  QUAVER_NEEDS(Feature::kMemory);
  auto buffer = device_->allocate(size_t{1} << 60);
  ASSERT_FALSE(buffer.ok());
  EXPECT_EQ(buffer.status().code(), StatusCode::kResourceExhausted);
}

TEST_P(Conformance, imported_memory_is_released_with_the_buffer) {
  QUAVER_NEEDS(Feature::kMemory);
  if (!device_->info().is_host_addressable)
    GTEST_SKIP() << "imports host memory";
  int released = 0;
  float mine[3] = {1, 2, 3};
  {
    auto buffer = device_->import_buffer(mine, sizeof(mine), [&] { ++released; });
    ASSERT_TRUE(buffer.ok());
    EXPECT_TRUE((*buffer)->is_imported());
    EXPECT_EQ((*buffer)->device_address(), mine);
    EXPECT_EQ((*buffer)->bytes(), sizeof(mine));
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
  ASSERT_TRUE(device_->import_buffer(mine, sizeof(mine), {}).ok());
}

//===----------------------------------------------------------------------===//
// Executables
//===----------------------------------------------------------------------===//

TEST_P(Conformance, kernels_are_found_by_symbol) {
  QUAVER_NEEDS(Feature::kExecutables);
  auto executable = load();
  ASSERT_TRUE(executable);
  auto kernel = executable->find_kernel("add_f32");
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  EXPECT_EQ((*kernel)->symbol(), "add_f32");
  EXPECT_EQ(*executable->find_kernel("add_f32"), *kernel);
  auto missing = executable->find_kernel("no_such_kernel");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().code(), StatusCode::kNotFound);
  EXPECT_NE(missing.status().message().find("no_such_kernel"), std::string::npos);
}

TEST_P(Conformance, damaged_code_is_an_error) {
  QUAVER_NEEDS(Feature::kExecutables);
  auto source = this->source();
  // Section headers lie at the end and are not needed; what is loaded is.
  for (size_t bytes : {size_t{0}, size_t{40}, size_t{300}, test_kernels().size() / 2}) {
    source.code = test_kernels().first(bytes);
    EXPECT_FALSE(device_->load_executable(source).ok()) << bytes;
  }
  std::vector<std::byte> text(5000, std::byte{'x'});
  source.code = text;
  EXPECT_FALSE(device_->load_executable(source).ok());
}

TEST_P(Conformance, unknown_targets_are_refused) {
  QUAVER_NEEDS(Feature::kExecutables);
  auto rank = device_->rank_target("pdp-11", {});
  ASSERT_FALSE(rank.ok());
  EXPECT_NE(rank.status().message().find("pdp-11"), std::string::npos);
}

// Two modules loaded and unloaded in turn: each must keep answering with its own code.
TEST_P(Conformance, executables_come_and_go) {
  QUAVER_NEEDS(Feature::kExecutables);
  for (int i = 0; i < 20; ++i) {
    auto first = load();
    auto second = load();
    ASSERT_TRUE(first && second);
    first.reset();
    EXPECT_TRUE(second->find_kernel("iota_i64").ok());
  }
}

} // namespace
} // namespace quaver::test
