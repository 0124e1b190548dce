// float32 -> FP8 for every float: the codec, element by element and as a span, against a table search and,
// where the CUDA toolkit is found, against the host functions of cuda_fp8.h.
#include "test/runtime/numerics/every_float.h"
#include "test/runtime/numerics/reference.h"

#include <gtest/gtest.h>

#ifdef QUAVER_HAVE_CUDA_FP8
#include <cuda_fp8.h>
#endif

namespace quaver {
namespace {

struct Case {
  ElementType type;
  Overflow overflow;
};
class EveryFloat : public testing::TestWithParam<Case> {
protected:
  ElementType type = GetParam().type;
  CastPolicy policy{GetParam().overflow};
  std::string complaint(float x, uint32_t found, uint32_t expected) const {
    char text[96];
    std::snprintf(text, sizeof text, "%a (0x%08x): code 0x%02x, expected 0x%02x", double(x),
                  std::bit_cast<uint32_t>(x), found, expected);
    return text;
  }
};
INSTANTIATE_TEST_SUITE_P(Formats, EveryFloat,
                         testing::Values(Case{ElementType::F8E4M3FN, Overflow::Saturate},
                                         Case{ElementType::F8E4M3FN, Overflow::Propagate},
                                         Case{ElementType::F8E5M2, Overflow::Saturate},
                                         Case{ElementType::F8E5M2, Overflow::Propagate}),
                         [](const auto &info) {
                           return std::string(mlir_name(info.param.type)) +
                                  (info.param.overflow == Overflow::Saturate ? "Saturate" : "Propagate");
                         });

TEST_P(EveryFloat, EncodesAsTheTableSays) {
  const reference::Encoder expected(*std::find_if(std::begin(reference::kFormats),
                                                  std::end(reference::kFormats),
                                                  [&](const auto &f) { return f.type == type; }));
  const auto [wrong, count] = test::for_every_float([&](float x) -> std::string {
    const uint32_t found = encode(type, x, policy), want = expected.encode(x, policy);
    uint8_t span = 0;
    convert(ElementType::F32, &x, type, &span, 1, policy);
    return found != want  ? complaint(x, found, want)
           : span != want ? "span: " + complaint(x, span, want)
                          : "";
  });
  EXPECT_EQ(count, 0u) << wrong;
}

TEST_P(EveryFloat, EncodesAsCudaDoes) {
#ifdef QUAVER_HAVE_CUDA_FP8
  const auto saturation = policy.overflow == Overflow::Saturate ? __NV_SATFINITE : __NV_NOSAT;
  const auto interpretation = type == ElementType::F8E4M3FN ? __NV_E4M3 : __NV_E5M2;
  const auto [wrong, count] = test::for_every_float([&](float x) -> std::string {
    const uint32_t found = encode(type, x, policy),
                   want = __nv_cvt_float_to_fp8(x, saturation, interpretation);
    // CUDA drops the sign of NaN, as it may.
    return found == want || (is_nan_code(type, found) && is_nan_code(type, want)) ? ""
                                                                                  : complaint(x, found, want);
  });
  EXPECT_EQ(count, 0u) << wrong;
#else
  GTEST_SKIP() << "cuda_fp8.h was not found when this was built";
#endif
}

} // namespace
} // namespace quaver
