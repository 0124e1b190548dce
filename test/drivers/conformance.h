//===- conformance.h - the suite that every driver must pass ----------------===//
//
// Parameterized over the rows of `drivers_under_test()`. A row lists what its driver cannot do yet, with the
// reason; the suite then checks that the driver answers kUnimplemented, so that a stale exclusion fails.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/drivers/registration.h"
#include "runtime/hal/buffer.h"
#include "runtime/hal/device.h"
#include "runtime/hal/event.h"
#include "runtime/hal/executable.h"
#include "runtime/hal/stream.h"
#include "test/lib/test_kernels.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace quaver::test {

enum class Feature { kMemory, kStreams, kEvents, kExecutables };

struct DriverUnderTest {
  std::string device;                      // device string
  std::string target;                      // a target it runs test_kernels for
  std::map<Feature, std::string> excluded; // feature -> reason
};

inline std::vector<DriverUnderTest> drivers_under_test() {
  const std::string skeleton = "null is the skeleton to copy; it implements nothing";
  return {
      {"host", "x86-64-v3", {}},
      {"sim", "sm_89", {}},
      {"sim:seed=7,races", "sm_89", {}},
      {"null",
       "none",
       {{Feature::kMemory, skeleton},
        {Feature::kStreams, skeleton},
        {Feature::kEvents, skeleton},
        {Feature::kExecutables, skeleton}}},
  };
}

/// Prints a row by its device string.
inline void PrintTo(const DriverUnderTest &row, std::ostream *os) { *os << row.device; }

class Conformance : public testing::TestWithParam<DriverUnderTest> {
protected:
  void SetUp() override {
    auto opened = default_drivers().open(GetParam().device, {.threads = 4});
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    device_ = *opened;
  }

  /// Leaves the test (by GTEST_SKIP) when the row excludes `feature`; `status` is what the driver answered.
  bool excludes(Feature feature) const { return GetParam().excluded.count(feature); }

  std::shared_ptr<hal::Executable> load() {
    auto loaded = device_->load_executable(source());
    EXPECT_TRUE(loaded.ok()) << loaded.status().message();
    return loaded.ok() ? *loaded : nullptr;
  }

  hal::ExecutableSource source() const {
    const bool is_ptx = GetParam().target.starts_with("sm_");
    return {.name = is_ptx ? "test_kernels.ptx" : "test_kernels.so",
            .target = GetParam().target,
            .features = {},
            .code = is_ptx ? test_ptx() : test_kernels()};
  }

  std::unique_ptr<hal::Buffer> allocate(size_t bytes) {
    auto buffer = device_->allocate(bytes);
    EXPECT_TRUE(buffer.ok()) << buffer.status().message();
    return buffer.ok() ? std::move(*buffer) : nullptr;
  }

  std::unique_ptr<hal::Stream> make_stream(hal::StreamMode mode = hal::StreamMode::kInline) {
    auto stream = device_->create_stream(mode);
    EXPECT_TRUE(stream.ok()) << stream.status().message();
    return stream.ok() ? std::move(*stream) : nullptr;
  }

  std::shared_ptr<hal::Device> device_;
};

/// First line of a test that needs `feature`.
#define QUAVER_NEEDS(feature)                                                                                \
  if (excludes(feature))                                                                                     \
  GTEST_SKIP() << GetParam().excluded.at(feature)

#define ASSERT_OK(expr)                                                                                      \
  if (::quaver::Status status_ = (expr); false) {                                                            \
  } else                                                                                                     \
    ASSERT_TRUE(status_.ok()) << status_.message()

} // namespace quaver::test
