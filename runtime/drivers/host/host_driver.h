//===- host_driver.h - this machine's CPU as a device -----------------------===//
#pragma once

#include "runtime/hal/driver.h"

namespace quaver::hal {

/// Device string: "host". Every opened device has a thread pool of its own with DeviceOptions::threads
/// workers.
std::unique_ptr<Driver> make_host_driver();

} // namespace quaver::hal
