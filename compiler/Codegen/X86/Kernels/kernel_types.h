// Numbers that kernels, the code that calls them and tests agree on.
#pragma once

#include <stdint.h>

// Element types of activations, equal to ElementType of runtime/numerics/formats.h (asserted in the tests);
// kernels include nothing beyond this room.
enum KernelType : int64_t { kTypeF32 = 2, kTypeF16 = 3, kTypeBF16 = 4, kTypeE4M3 = 5 };
