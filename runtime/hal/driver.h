//===- driver.h - drivers and their registry --------------------------------===//
//
// A Driver opens devices of one kind; a DriverRegistry finds it by the first part of a device string:
//   device string := driver [ ":" rest ]      "host", "cuda:0"; `rest` is the driver's own business.
// Which drivers exist is decided by what is linked: runtime/drivers/registration.h fills a registry.
//
// Thread-safety: a filled registry is immutable; find and open may be called from any thread.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/base/status.h"
#include "runtime/hal/device.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace quaver::hal {

class Driver {
public:
  virtual ~Driver() = default;
  Driver(const Driver &) = delete;
  Driver &operator=(const Driver &) = delete;

  /// The first part of its device strings.
  virtual std::string_view name() const = 0;
  /// Opens the device that `rest` (what follows the colon, or empty) names. The device does not need the
  /// driver later.
  virtual StatusOr<std::shared_ptr<Device>> open(std::string_view rest, const DeviceOptions &options) = 0;

protected:
  Driver() = default;
};

class DriverRegistry {
public:
  /// Adds a driver; its name must be new.
  Status add(std::unique_ptr<Driver> driver);
  /// Opens "driver[:rest]". An unknown driver is an error that lists the known ones.
  StatusOr<std::shared_ptr<Device>> open(std::string_view device, const DeviceOptions &options) const;
  /// Names of all drivers, in the order of add.
  std::vector<std::string> names() const;

private:
  std::vector<std::unique_ptr<Driver>> drivers_;
};

} // namespace quaver::hal
