// Every code, every bf16 and f16 input, every tie and boundary of every float format, against a table search.
#include "test/runtime/numerics/reference.h"

#include <gtest/gtest.h>

namespace quaver {
namespace {

using reference::Encoder;
using reference::kInf;
using reference::kNan;

const CastPolicy kPolicies[] = {
    kSaturate,
    kPropagate,
    {Overflow::Saturate, FnuzInf::NaN, E8m0Rounding::Up},
    {Overflow::Propagate, FnuzInf::NaN, E8m0Rounding::Down},
};

class EveryFormat : public testing::TestWithParam<reference::Format> {};
INSTANTIATE_TEST_SUITE_P(Formats, EveryFormat, testing::ValuesIn(reference::kFormats),
                         [](const auto &info) { return std::string(mlir_name(info.param.type)); });

TEST_P(EveryFormat, DecodesEveryCode) {
  const auto f = GetParam();
  for (uint32_t code = 0; code < 1u << f.bits; ++code) {
    const double expected = reference::decode(f, code), found = decode(f.type, code);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(found)) << code;
      EXPECT_TRUE(is_nan_code(f.type, code));
      continue;
    }
    ASSERT_EQ(found, expected) << code;
    ASSERT_EQ(std::signbit(found), std::signbit(expected)) << code;
    ASSERT_EQ(is_inf_code(f.type, code), std::isinf(expected));
    ASSERT_EQ(encode(f.type, found), std::isinf(found) && f.bits == 8 ? (code & 0x80) | 0x7Bu : code)
        << "round trip";
  }
}

TEST_P(EveryFormat, EncodesEveryHalf) {
  const auto f = GetParam();
  const Encoder expected(f);
  for (const auto &source : {reference::kFormats[4], reference::kFormats[5]})
    for (const CastPolicy policy : kPolicies)
      for (uint32_t code = 0; code < 1u << 16; ++code) {
        const float x = decode(source.type, code);
        ASSERT_EQ(encode(f.type, x, policy), expected.encode(x, policy))
            << x << " from " << mlir_name(source.type);
      }
}

TEST_P(EveryFormat, EncodesEveryTieAndItsNeighbours) {
  const auto f = GetParam();
  const Encoder expected(f);
  for (size_t i = 0; i < expected.count(); ++i) {
    const double low = expected.value(i), high = expected.value(i + 1), tie = low + (high - low) / 2;
    for (const double x : {low, std::nextafter(low, kInf), std::nextafter(tie, 0), tie,
                           std::nextafter(tie, kInf), double(std::nextafterf(float(tie), 0)),
                           double(std::nextafterf(float(tie), 3e38f)), std::nextafter(high, 0), high})
      for (const double signed_x : {x, -x})
        for (const CastPolicy policy : kPolicies) {
          ASSERT_EQ(encode(f.type, signed_x, policy), expected.encode(signed_x, policy)) << signed_x;
          if (double(float(signed_x)) == signed_x) {
            ASSERT_EQ(encode(f.type, float(signed_x), policy), expected.encode(signed_x, policy)) << signed_x;
          }
        }
  }
}

TEST_P(EveryFormat, EncodesSpecials) {
  const auto f = GetParam();
  const Encoder expected(f);
  for (const double x : {0.0, -0.0, kInf, -kInf, kNan, -kNan, 5e-324, -5e-324, 1.7976931348623157e308, 1e39,
                         -1e39, 0x1p-1022, 0x1.fffffffffffffp-1023})
    for (const CastPolicy policy : kPolicies)
      EXPECT_EQ(encode(f.type, x, policy), expected.encode(x, policy)) << x;
}

TEST_P(EveryFormat, EncodesStridedFloats) {
  const auto f = GetParam();
  const Encoder expected(f);
  for (uint32_t i = 0; i < 1u << 24; ++i) {
    const float x = std::bit_cast<float>(i * 257u + 1); // 257 is odd: all exponents, mixed low bits
    if (encode(f.type, x) != expected.encode(x, kSaturate))
      FAIL() << std::hexfloat << x;
  }
}

TEST(Codec, KnownNumbers) {
  EXPECT_EQ(encode_e4m3(464), 0x7E); // 464 ties to 448
  EXPECT_EQ(encode_e4m3(464, Overflow::Propagate), 0x7E);
  EXPECT_EQ(encode_e4m3(480, Overflow::Propagate), 0x7F);
  EXPECT_EQ(encode_e4m3(std::nextafter(464, 465), Overflow::Propagate), 0x7F);
  EXPECT_EQ(encode_e5m2(61440, Overflow::Propagate), 0x7C); // the tie goes up
  EXPECT_EQ(encode_e5m2(61440), 0x7B);
  EXPECT_EQ(encode_e5m2(61439.999, Overflow::Propagate), 0x7B);
  EXPECT_EQ(encode_e4m3(0x1p-10), 0x00);
  EXPECT_EQ(encode_e4m3(std::nextafterf(0x1p-10f, 1)), 0x01);
  EXPECT_EQ(encode_e5m2(0x1p-17), 0x00);
  EXPECT_EQ(encode_e4m3(1.8131605), 0x3F);
  EXPECT_EQ(decode_e4m3(0x3F), 1.875f);
  // 1 + 2^-4 + 2^-40 lies above a tie of E4M3; rounded to float first it would lie on it.
  EXPECT_EQ(encode_e4m3(1 + 0x1p-4 + 0x1p-40), 0x39);
  EXPECT_EQ(encode(ElementType::BF16, int64_t{(1LL << 55) + (1LL << 47) + 1}),
            0x5B01u); // above a tie, once rounded
  EXPECT_EQ(encode(ElementType::F16, int64_t{-65519}), 0xFBFFu);
  EXPECT_EQ(encode(ElementType::F16, uint64_t{65520}), 0x7C00u);
}

TEST(Codec, E8m0) {
  using R = E8m0Rounding;
  for (uint32_t code = 0; code < 255; ++code) {
    const double v = std::ldexp(1.0, int(code) - 127);
    EXPECT_EQ(decode_e8m0(uint8_t(code)), v);
    for (const R r : {R::Up, R::Down, R::Nearest})
      for (const Overflow o : {Overflow::Saturate, Overflow::Propagate})
        EXPECT_EQ(encode_e8m0(v, r, o), code);
    EXPECT_EQ(encode_e8m0(-v), code); // the sign is ignored
    if (code == 254)
      continue;
    EXPECT_EQ(encode_e8m0(std::nextafter(v, kInf), R::Up), code + 1);
    EXPECT_EQ(encode_e8m0(std::nextafter(2 * v, 0), R::Down), code);
    EXPECT_EQ(encode_e8m0(1.5 * v, R::Nearest), code + 1); // ties up
    EXPECT_EQ(encode_e8m0(std::nextafter(1.5 * v, 0), R::Nearest), code);
  }
  EXPECT_TRUE(std::isnan(decode_e8m0(0xFF)));
  EXPECT_EQ(encode_e8m0(kNan), 0xFF);
  EXPECT_EQ(encode_e8m0(0.0), 0x00);
  EXPECT_EQ(encode_e8m0(kInf), 0xFE);
  EXPECT_EQ(encode_e8m0(0x1.8p127), 0xFE);
  EXPECT_EQ(encode_e8m0(0x1p-140), 0x00);
  for (const double x : {0.0, kInf, 0x1.8p127, 0x1p-140, kNan})
    EXPECT_EQ(encode_e8m0(x, R::Nearest, Overflow::Propagate), 0xFF) << x;
}

TEST(Formats, Manifest) {
  for (int number = 1; number <= kElementTypeCount; ++number) {
    const ElementType type = *element_type_from_number(number);
    EXPECT_EQ(format_info(type).type, type);
    EXPECT_EQ(element_type_from_mlir_name(mlir_name(type)), type);
    EXPECT_EQ(element_type_from_short_name(short_name(type)), type);
  }
  EXPECT_FALSE(element_type_from_number(0) || element_type_from_number(19));
  EXPECT_FALSE(element_type_from_mlir_name("invalid") || element_type_from_short_name("fp8"));
  EXPECT_EQ(format_info(ElementType::F8E4M3FN).max_value(), 448);
  EXPECT_EQ(format_info(ElementType::F8E5M2).max_value(), 57344);
  EXPECT_EQ(format_info(ElementType::F8E4M3FNUZ).max_value(), 240);
  EXPECT_EQ(format_info(ElementType::F8E5M2FNUZ).max_value(), 57344);
  EXPECT_EQ(format_info(ElementType::F8E8M0FNU).max_value(), 0x1p127);
  EXPECT_EQ(format_info(ElementType::F16).max_value(), 65504);
  EXPECT_EQ(format_info(ElementType::F32).max_value(), double(std::numeric_limits<float>::max()));
  EXPECT_EQ(format_info(ElementType::F64).max_value(), std::numeric_limits<double>::max());
  EXPECT_EQ(format_info(ElementType::F8E4M3FN).min_normal(), 0x1p-6);
  EXPECT_EQ(format_info(ElementType::F8E4M3FN).min_subnormal(), 0x1p-9);
  EXPECT_EQ(format_info(ElementType::F8E5M2FNUZ).min_subnormal(), 0x1p-17);
  EXPECT_EQ(format_info(ElementType::I8).min_value(), -128);
  EXPECT_EQ(format_info(ElementType::U16).max_value(), 65535);
  EXPECT_EQ(bytes_of(ElementType::BOOL), 1);
  EXPECT_FALSE(is_valid(ElementType::Invalid));
}

} // namespace
} // namespace quaver
