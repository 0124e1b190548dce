//===- registration.h - the drivers that this build has ---------------------===//
#pragma once

#include "runtime/hal/driver.h"

namespace quaver {

/// A registry with every linked driver. Made once; immutable, so usable from any thread.
const hal::DriverRegistry &default_drivers();

} // namespace quaver
