//===- null_driver.cpp - the skeleton driver --------------------------------===//
#include "runtime/drivers/null/null_driver.h"

#include "runtime/drivers/null/null_device.h"

namespace quaver::hal {
namespace {

class NullDriver final : public Driver {
public:
  std::string_view name() const override { return "null"; }

  StatusOr<std::shared_ptr<Device>> open(std::string_view rest, const DeviceOptions &) override {
    if (!rest.empty())
      return InvalidArgumentError("device 'null:" + std::string(rest) +
                                  "': the null driver has one device, 'null'");
    return std::shared_ptr<Device>(std::make_shared<NullDevice>());
  }
};

} // namespace

std::unique_ptr<Driver> make_null_driver() { return std::make_unique<NullDriver>(); }

} // namespace quaver::hal
