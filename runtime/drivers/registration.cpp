//===- registration.cpp - the drivers that this build has -------------------===//
#include "runtime/drivers/registration.h"

#include "runtime/drivers/host/host_driver.h"
#include "runtime/drivers/null/null_driver.h"
#include "runtime/drivers/sim/sim_driver.h"

namespace quaver {

const hal::DriverRegistry &default_drivers() {
  static const hal::DriverRegistry registry = [] {
    hal::DriverRegistry all;
    // Names are distinct by construction; a clash is a mistake in this list and shows in the driver tests.
    all.add(hal::make_host_driver()).ignore_error();
    all.add(hal::make_sim_driver()).ignore_error();
    all.add(hal::make_null_driver()).ignore_error();
    return all;
  }();
  return registry;
}

} // namespace quaver
