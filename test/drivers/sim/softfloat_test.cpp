// Exact arithmetic against the processor, which rounds in the direction that fesetround chooses: another
// implementation, used only here.
#include "runtime/drivers/sim/machine/softfloat.h"
#include <bit>
#include <cfenv>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace quaver::sim {
namespace {

constexpr std::pair<Rounding, int> kDirections[] = {{Rounding::kNearest, FE_TONEAREST},
                                                    {Rounding::kZero, FE_TOWARDZERO},
                                                    {Rounding::kDown, FE_DOWNWARD},
                                                    {Rounding::kUp, FE_UPWARD}};

// Bit patterns with many equal exponents, zeros, subnormals, infinities and NaNs.
template <class Bits> Bits draw(std::mt19937_64 &random, FloatFormat f) {
  Bits x = Bits(random());
  const Bits exponents = ((Bits(1) << f.exponent_bits) - 1) << f.mantissa_bits;
  switch (random() % 8) {
  case 0:
    return x & ~exponents; // subnormal
  case 1:
    return x | exponents;
  case 2:
    return (x & ~exponents) | Bits(f.bias() + int(random() % 5) - 2) << f.mantissa_bits;
  case 3:
    return x & (~Bits(0) << (f.mantissa_bits - 3)); // few bits: ties
  case 4:
    return x & (Bits(1) << (f.exponent_bits + f.mantissa_bits));
  default:
    return x;
  }
}

template <class T, class Bits> void compare_with_processor(FloatFormat f) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 100000; ++i) {
    volatile T a = std::bit_cast<T>(draw<Bits>(random, f)), b = std::bit_cast<T>(draw<Bits>(random, f)),
               c = std::bit_cast<T>(draw<Bits>(random, f));
    const ExactNumber x = unpack(std::bit_cast<Bits>(T(a)), f), y = unpack(std::bit_cast<Bits>(T(b)), f),
                      z = unpack(std::bit_cast<Bits>(T(c)), f);
    for (auto [rounding, mode] : kDirections) {
      std::fesetround(mode);
      volatile T sum = a + b, product = a * b, quotient = a / b, root = std::sqrt(a),
                 fused = std::fma(T(a), T(b), T(c));
      std::fesetround(FE_TONEAREST);
      auto check = [&](T expected, ExactNumber got, const char *what) {
        const Bits bits = Bits(round_to(got, f, rounding));
        if (expected != expected)
          ASSERT_TRUE(std::isnan(std::bit_cast<T>(bits))) << what;
        else
          ASSERT_EQ(bits, std::bit_cast<Bits>(expected))
              << what << " of " << T(a) << ", " << T(b) << ", " << T(c) << " mode " << mode;
      };
      check(sum, add(x, y, rounding), "add");
      check(product, multiply(x, y), "multiply");
      check(quotient, divide(x, y), "divide");
      check(root, square_root(x), "square root");
      check(fused, add(multiply(x, y), z, rounding), "fma");
    }
  }
}

TEST(Softfloat, singles_round_as_the_processor) { compare_with_processor<float, uint32_t>(kF32Format); }
TEST(Softfloat, doubles_round_as_the_processor) { compare_with_processor<double, uint64_t>(kF64Format); }

TEST(Softfloat, narrowing_rounds_as_the_processor) {
  std::mt19937_64 random(8);
  for (int i = 0; i < 200000; ++i) {
    volatile double a = std::bit_cast<double>(draw<uint64_t>(random, kF64Format));
    if (i & 1) // where single precision has its subnormals and its overflow
      a = std::ldexp(double(a), int(random() % 300) - 1100 * (std::fabs(double(a)) > 1e200));
    for (auto [rounding, mode] : kDirections) {
      std::fesetround(mode);
      volatile float narrow = float(a);
      std::fesetround(FE_TONEAREST);
      const auto bits =
          uint32_t(round_to(unpack(std::bit_cast<uint64_t>(double(a)), kF64Format), kF32Format, rounding));
      if (narrow != narrow)
        ASSERT_TRUE(std::isnan(std::bit_cast<float>(bits)));
      else
        ASSERT_EQ(bits, std::bit_cast<uint32_t>(float(narrow))) << double(a);
    }
  }
}

TEST(Softfloat, ties_away) {
  EXPECT_EQ(round_to(unpack(std::bit_cast<uint32_t>(1.0f + 0x1p-11f), kF32Format), kTf32Format,
                     Rounding::kNearestAway),
            (127u << 10) + 1);
  EXPECT_EQ(
      round_to(unpack(std::bit_cast<uint32_t>(1.0f + 0x1p-11f), kF32Format), kTf32Format, Rounding::kNearest),
      127u << 10);
}

TEST(Softfloat, integers) {
  EXPECT_EQ(round_to(from_integer(~uint64_t{0}, false), kF64Format, Rounding::kZero),
            std::bit_cast<uint64_t>(0x1.fffffffffffffp63));
  EXPECT_EQ(round_to(from_integer(~uint64_t{0}, true), kF64Format, Rounding::kDown),
            std::bit_cast<uint64_t>(-0x1p64));
  EXPECT_EQ(round_to(from_integer(65520, false), kF16Format, Rounding::kNearest), 0x7c00u);
  EXPECT_EQ(round_to(from_integer(65519, false), kF16Format, Rounding::kNearest), 0x7bffu);
}

} // namespace
} // namespace quaver::sim
