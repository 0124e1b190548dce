//===- host_test.cpp - what is particular to the host driver ----------------===//
#include "runtime/drivers/registration.h"
#include "runtime/hal/device.h"
#include "runtime/hal/executable.h"
#include "test/lib/test_kernels.h"

#include <gtest/gtest.h>

namespace quaver {
namespace {

std::shared_ptr<hal::Device> host(int threads) {
  auto device = default_drivers().open("host", {.threads = threads});
  EXPECT_TRUE(device.ok());
  return *device;
}

TEST(HostDriver, unknown_devices_name_the_known_ones) {
  auto device = default_drivers().open("cuda:7", {});
  ASSERT_FALSE(device.ok());
  EXPECT_NE(std::string(device.status().message()).find("host"), std::string::npos);
  EXPECT_FALSE(default_drivers().open("", {}).ok());
}

TEST(HostDriver, threads_are_checked) {
  EXPECT_FALSE(default_drivers().open("host", {.threads = -1}).ok());
  EXPECT_FALSE(default_drivers().open("host", {.threads = 1 << 20}).ok());
  EXPECT_EQ(host(1)->info().workers, 1);
  EXPECT_EQ(host(3)->info().workers, 3);
  EXPECT_GE(host(0)->info().workers, 1);
}

TEST(HostDriver, a_missing_cpu_feature_is_named_with_the_remedy) {
  std::vector<std::string> features = {"avx2", "no_such_feature"};
  auto rank = host(1)->rank_target("x86-64-v9", features);
  ASSERT_FALSE(rank.ok());
  std::string message(rank.status().message());
  EXPECT_NE(message.find("no_such_feature"), std::string::npos) << message;
  EXPECT_NE(message.find("--target"), std::string::npos) << message;
  EXPECT_FALSE(
      host(1)
          ->load_executable(
              {.name = "m", .target = "x86-64-v9", .features = features, .code = test::test_kernels()})
          .ok());
}

TEST(HostDriver, more_features_rank_higher) {
  std::vector<std::string> few = {"avx2"};
  auto device = host(1);
  auto low = device->rank_target("x86-64", {});
  auto high = device->rank_target("x86-64-v3", few);
  ASSERT_TRUE(low.ok() && high.ok()) << high.status().message();
  EXPECT_GT(*high, *low);
}

} // namespace
} // namespace quaver
