// float32 -> FP8 for every float against LLVM's APFloat.
#include "runtime/numerics/codec.h"
#include "test/runtime/numerics/every_float.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"

#include <gtest/gtest.h>

namespace quaver {
namespace {

void compare(ElementType type, const llvm::fltSemantics &semantics) {
  const auto [wrong, count] = test::for_every_float([&](float x) -> std::string {
    llvm::APFloat value(x);
    bool losesInfo;
    value.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    const uint32_t want = uint32_t(value.bitcastToAPInt().getZExtValue()),
                   found = encode(type, x, kPropagate);
    if (found == want || (is_nan_code(type, found) && value.isNaN()))
      return "";
    return std::to_string(x) + ": code " + std::to_string(found) + ", expected " + std::to_string(want);
  });
  EXPECT_EQ(count, 0u) << wrong;
}

// APFloat does not saturate; the saturating cast differs from it only where it overflows (codec_test.cpp).
TEST(APFloatTest, E4M3) { compare(ElementType::F8E4M3FN, llvm::APFloat::Float8E4M3FN()); }
TEST(APFloatTest, E5M2) { compare(ElementType::F8E5M2, llvm::APFloat::Float8E5M2()); }

} // namespace
} // namespace quaver
