//===- test_kernels.h - a small code module, made without the compiler ------===//
#pragma once

#include <cstddef>
#include <span>

namespace quaver::test {

/// The bytes of an ELF shared object with the kernels of test_kernels.c.
std::span<const std::byte> test_kernels();

/// The same kernels as PTX: test_kernels.cu.
std::span<const std::byte> test_ptx();

} // namespace quaver::test
