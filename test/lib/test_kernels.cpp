//===- test_kernels.cpp - a small code module, made without the compiler ----===//
#include "test/lib/test_kernels.h"

extern "C" const std::byte quaver_test_kernels_begin[], quaver_test_kernels_end[], quaver_test_ptx_begin[],
    quaver_test_ptx_end[];

namespace quaver::test {

std::span<const std::byte> test_kernels() { return {quaver_test_kernels_begin, quaver_test_kernels_end}; }
std::span<const std::byte> test_ptx() { return {quaver_test_ptx_begin, quaver_test_ptx_end}; }

} // namespace quaver::test
