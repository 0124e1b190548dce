//===- driver.cpp - drivers and their registry ------------------------------===//
#include "runtime/hal/driver.h"

namespace quaver::hal {

Status DriverRegistry::add(std::unique_ptr<Driver> driver) {
  for (const auto &known : drivers_)
    if (known->name() == driver->name())
      return InternalError("driver '" + std::string(driver->name()) + "' is registered twice");
  drivers_.push_back(std::move(driver));
  return OkStatus();
}

StatusOr<std::shared_ptr<Device>> DriverRegistry::open(std::string_view device,
                                                       const DeviceOptions &options) const {
  size_t colon = device.find(':');
  std::string_view name = device.substr(0, colon);
  std::string_view rest = colon == std::string_view::npos ? std::string_view() : device.substr(colon + 1);
  for (const auto &driver : drivers_)
    if (driver->name() == name)
      return driver->open(rest, options);
  std::string known;
  for (const auto &driver : drivers_)
    known += (known.empty() ? "" : ", ") + std::string(driver->name());
  return NotFoundError("there is no driver for device '" + std::string(device) +
                       "'; this build has: " + known);
}

std::vector<std::string> DriverRegistry::names() const {
  std::vector<std::string> names;
  for (const auto &driver : drivers_)
    names.emplace_back(driver->name());
  return names;
}

} // namespace quaver::hal
