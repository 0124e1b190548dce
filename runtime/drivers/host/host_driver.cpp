//===- host_driver.cpp - this machine's CPU as a device ---------------------===//
#include "runtime/drivers/host/host_driver.h"

#include "runtime/drivers/host/host_device.h"

namespace quaver::hal {
namespace {

constexpr int kMaxThreads = 1024;

class HostDriver final : public Driver {
public:
  std::string_view name() const override { return "host"; }

  StatusOr<std::shared_ptr<Device>> open(std::string_view rest, const DeviceOptions &options) override {
    if (!rest.empty())
      return InvalidArgumentError("device 'host:" + std::string(rest) +
                                  "': there is one host, write 'host' (the number of threads is an option)");
    if (options.threads < 0 || options.threads > kMaxThreads)
      return InvalidArgumentError("threads is " + std::to_string(options.threads) +
                                  "; it must be 0 (all CPUs) or 1 to " + std::to_string(kMaxThreads));
    return std::shared_ptr<Device>(std::make_shared<HostDevice>(options.threads));
  }
};

} // namespace

std::unique_ptr<Driver> make_host_driver() { return std::make_unique<HostDriver>(); }

} // namespace quaver::hal
