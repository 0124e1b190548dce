//===- sim_driver.h - GPU code on the CPU ---------------------------------------===//
#pragma once

#include "runtime/hal/driver.h"

namespace quaver::hal {

/// Device strings: "sim", or "sim:" with options by commas. `seed=N`: order of warps drawn from N. `races`:
/// data races are errors too.
std::unique_ptr<Driver> make_sim_driver();

} // namespace quaver::hal
