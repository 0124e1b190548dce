//===- null_driver.h - the skeleton driver ----------------------------------===//
#pragma once

#include "runtime/hal/driver.h"

namespace quaver::hal {

/// Device string: "null". Opens; does nothing else. See README.md.
std::unique_ptr<Driver> make_null_driver();

} // namespace quaver::hal
