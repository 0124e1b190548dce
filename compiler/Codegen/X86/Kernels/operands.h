// How operands become what the multiply-add eats: rows of A packed into 32-bit words, panels of B decoded
// into vectors.
//
// A word is one step of K for one row: an f32 (Fma), or two neighbouring bf16 (Dot, vdpbf16ps). Broadcasting
// a word is the same instruction for both, so tiles and loops are written once for both.
#pragma once

#include "compiler/Codegen/X86/Kernels/simd.h"

namespace quaver::x86::QUAVER_SET_NAMESPACE {

// ---- E4M3 codes
// ------------------------------------------------------------------------------------------------------

// E4M3 code in each 16-bit lane -> f16 of value / 256, exact also for subnormals: sign and exponent have the
// same places, the bias differs by 8. NaN needs care: by shifting alone 0x7F would become 480.
constexpr float kHalfScale = 256.0f;
#ifdef QUAVER_SET_AVX2
QUAVER_INLINE Half e4m3ToHalf(const uint8_t *p) {
  const __m128i code = _mm_cvtepi8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(p)));
  const __m128i half = _mm_and_si128(_mm_slli_epi16(code, 7), _mm_set1_epi16(short(0xBFFF)));
  const __m128i magnitude = _mm_and_si128(code, _mm_set1_epi16(0x7F));
  return _mm_or_si128(half, _mm_cmpeq_epi16(magnitude, _mm_set1_epi16(0x7F)));
}
#else
QUAVER_INLINE Half e4m3ToHalf(const uint8_t *p) {
  const __m256i code = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i *>(p)));
  const __m256i half = _mm256_and_si256(_mm256_slli_epi16(code, 7), _mm256_set1_epi16(short(0xBFFF)));
  const __m256i magnitude = _mm256_and_si256(code, _mm256_set1_epi16(0x7F));
  return _mm256_or_si256(half, _mm256_cmpeq_epi16(magnitude, _mm256_set1_epi16(0x7F)));
}
#endif

// f32 -> bf16 -> f32, nearest even; NaN stays NaN.
QUAVER_INLINE F32x roundToBf16(F32x x) {
  const I32x u = bits(x), odd = and_(shiftRight<16>(u), splat(1));
  const I32x rounded = and_(add32(u, add32(odd, splat(0x7FFF))), splat(int(0xFFFF0000)));
  const I32x magnitude = and_(u, splat(0x7FFFFFFF));
  return floats(selectLess(splat(0x7F800000), magnitude, or_(u, splat(0x400000)), rounded));
}

#ifdef QUAVER_SET_AVX512_BF16

// The two bytes of the BF16 of each non-negative E4M3 code; exact for subnormals and NaN.
struct Bf16Tables {
  alignas(64) uint8_t low[128]{}, high[128]{};
  constexpr Bf16Tables() {
    for (int code = 0; code < 128; ++code) {
      const int exponent = code >> 3, mantissa = code & 7;
      unsigned value = 0;
      if (code == 127) {
        value = 0x7FC0;
      } else if (exponent) {
        value = unsigned(exponent + 120) << 7 | unsigned(mantissa) << 4;
      } else if (mantissa) { // mantissa * 2^-9
        const int lead = mantissa >= 4 ? 2 : mantissa >= 2 ? 1 : 0;
        value = unsigned(118 + lead) << 7 | ((unsigned(mantissa) << (7 - lead)) & 127);
      }
      low[code] = value & 255;
      high[code] = value >> 8;
    }
  }
};
constexpr Bf16Tables kBf16Tables;

struct Bf16Lookup {
  __m512i low0, low1, high0, high1;
};
QUAVER_INLINE Bf16Lookup bf16Lookup() {
  return {_mm512_loadu_si512(kBf16Tables.low), _mm512_loadu_si512(kBf16Tables.low + 64),
          _mm512_loadu_si512(kBf16Tables.high), _mm512_loadu_si512(kBf16Tables.high + 64)};
}

// 32 codes in order -> 32 bf16 in order (activations; weights take the cheaper interleaved form below).
QUAVER_INLINE F32x e4m3ToBf16(const uint8_t *p) {
  const Bf16Lookup t = bf16Lookup();
  const __m512i code = _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(p)));
  const __m512i shifted = _mm512_slli_epi16(code, 8); // bytes that hold no code look up entry 0, which is 0
  const __m512i low = _mm512_permutex2var_epi8(t.low0, code, t.low1);
  const __m512i high = _mm512_permutex2var_epi8(t.high0, shifted, t.high1);
  const __m512i sign = _mm512_and_si512(shifted, _mm512_set1_epi16(short(0x8000)));
  return floats(_mm512_or_si512(_mm512_or_si512(low, high), sign));
}

#endif

// ---- multiply-add
// ----------------------------------------------------------------------------------------------------

// One f32 a step.
struct Fma {
  static constexpr int kPerStep = 1;
  QUAVER_INLINE F32x mac(F32x sum, F32x a, F32x b) { return fma(a, b, sum); }

  // kWidth steps of a row of A from contiguous memory. kRound: values pass through bf16, as the bf16 kernels
  // promise.
  template <bool kRound> QUAVER_INLINE F32x readA(int64_t type, const uint8_t *p) {
    switch (type) {
    case kTypeBF16:
      return floats(shiftLeft<16>(widenHalf(loadHalf(p))));
    case kTypeE4M3:
      return mul(halfToFloat(e4m3ToHalf(p)), broadcast(kHalfScale));
    case kTypeF16: {
      const F32x x = halfToFloat(loadHalf(p));
      return kRound ? roundToBf16(x) : x;
    }
    default: {
      const F32x x = load(reinterpret_cast<const float *>(p));
      return kRound ? roundToBf16(x) : x;
    }
    }
  }
};

#ifdef QUAVER_SET_AVX512_BF16
// Two bf16 a step: sum += a0 * b0 + a1 * b1, products exact.
struct Dot {
  static constexpr int kPerStep = 2;
  QUAVER_INLINE F32x mac(F32x sum, F32x a, F32x b) { return _mm512_dpbf16_ps(sum, (__m512bh)a, (__m512bh)b); }
  template <bool kRound> QUAVER_INLINE F32x readA(int64_t type, const uint8_t *p) {
    switch (type) {
    case kTypeBF16:
      return load(reinterpret_cast<const float *>(p));
    case kTypeE4M3:
      return e4m3ToBf16(p);
    case kTypeF16:
      return (F32x)_mm512_cvtne2ps_pbh(halfToFloat(loadHalf(p + 32)), halfToFloat(loadHalf(p)));
    default:
      return (F32x)_mm512_cvtne2ps_pbh(load(reinterpret_cast<const float *>(p) + 16),
                                       load(reinterpret_cast<const float *>(p)));
    }
  }
};
#endif

QUAVER_INLINE int64_t bytesOf(int64_t type) { return type == kTypeF32 ? 4 : type == kTypeE4M3 ? 1 : 2; }

// Packs K range [k0, k0 + count) of one row of A into words; zero from there to the next full vector.
template <class Mac, bool kRound>
QUAVER_INLINE void packRow(const uint8_t *row, int64_t type, int64_t columnStride, int64_t k0, int64_t count,
                           float *words) {
  constexpr int kPerVector = kWidth * Mac::kPerStep;
  const int64_t bytes = bytesOf(type);
  int64_t i = 0;
  if (columnStride == 1) {
    QUAVER_ROLLED
    for (; i + kPerVector <= count; i += kPerVector)
      store(words + i / Mac::kPerStep, Mac::template readA<kRound>(type, row + (k0 + i) * bytes));
  }
  QUAVER_ROLLED
  for (; i < count; i += kPerVector) { // the tail, and strided rows: gathered into a zeroed vector first
    alignas(64) uint8_t gathered[kPerVector * 4];
    QUAVER_UNROLLED
    for (int z = 0; z < kPerVector; z += kWidth)
      store(reinterpret_cast<float *>(gathered) + z, zero());
    const int64_t valid = smaller(kPerVector, count - i);
    QUAVER_ROLLED
    for (int64_t j = 0; j < valid; ++j) {
      const uint8_t *from = row + (k0 + i + j) * columnStride * bytes;
      if (bytes == 4)
        reinterpret_cast<uint32_t *>(gathered)[j] = *reinterpret_cast<const uint32_t *>(from);
      else if (bytes == 2)
        reinterpret_cast<uint16_t *>(gathered)[j] = *reinterpret_cast<const uint16_t *>(from);
      else
        gathered[j] = *from;
    }
    store(words + i / Mac::kPerStep, Mac::template readA<kRound>(type, gathered));
  }
}

// ---- panels of B: 2 vectors of columns a step
// ------------------------------------------------------------------------

struct Columns {
  F32x left, right;
};

// Words as they are multiplied: f32, or pairs of bf16.
struct WordPanel {
  static constexpr int kBytesPerStep = 8 * kWidth;
  static constexpr bool kDecodes = false;
  static constexpr float kFactor = 1; // decoded value times this is the weight
  QUAVER_INLINE Columns decode(const uint8_t *p) {
    const float *words = reinterpret_cast<const float *>(p);
    return {load(words), load(words + kWidth)};
  }
};

// bf16, widened to f32.
struct Bf16Panel {
  static constexpr int kBytesPerStep = 4 * kWidth;
  static constexpr bool kDecodes = true;
  static constexpr float kFactor = 1;
  QUAVER_INLINE Columns decode(const uint8_t *p) {
    return {floats(shiftLeft<16>(widenHalf(loadHalf(p)))),
            floats(shiftLeft<16>(widenHalf(loadHalf(p + 2 * kWidth))))};
  }
};

// f16, widened to f32.
struct F16Panel {
  static constexpr int kBytesPerStep = 4 * kWidth;
  static constexpr bool kDecodes = true;
  static constexpr float kFactor = 1;
  QUAVER_INLINE Columns decode(const uint8_t *p) {
    return {halfToFloat(loadHalf(p)), halfToFloat(loadHalf(p + 2 * kWidth))};
  }
};

// E4M3, decoded to f32 / 256 through f16. NaN codes, which no sane weight has, are looked for in whole
// vectors of codes and mended off the path.
struct E4m3Panel {
  static constexpr int kBytesPerStep = 2 * kWidth;
  static constexpr bool kDecodes = true;
  static constexpr float kFactor = kHalfScale;

  QUAVER_INLINE Columns decode(const uint8_t *p) {
    return {halfToFloat(e4m3ToHalf(p)), halfToFloat(e4m3ToHalf(p + kWidth))};
  }

  // Steps at p and p + kBytesPerStep.
  QUAVER_INLINE void decodeTwo(const uint8_t *p, Columns out[2]) {
#ifdef QUAVER_SET_AVX2
    const __m256i codes =
        _mm256_loadu_si256(reinterpret_cast<const __m256i *>(p)); // a step in each 16-byte lane
    __m256i left = toHalf(_mm256_unpacklo_epi8(_mm256_setzero_si256(), codes));
    __m256i right = toHalf(_mm256_unpackhi_epi8(_mm256_setzero_si256(), codes));
    const __m256i nan = nanBytes(codes);
    if (__builtin_expect(_mm256_movemask_epi8(nan), 0)) {
      left =
          _mm256_or_si256(left, _mm256_and_si256(_mm256_unpacklo_epi8(nan, nan), _mm256_set1_epi16(0x7E00)));
      right =
          _mm256_or_si256(right, _mm256_and_si256(_mm256_unpackhi_epi8(nan, nan), _mm256_set1_epi16(0x7E00)));
    }
    out[0] = {halfToFloat(_mm256_castsi256_si128(left)), halfToFloat(_mm256_castsi256_si128(right))};
    out[1] = {halfToFloat(_mm256_extracti128_si256(left, 1)),
              halfToFloat(_mm256_extracti128_si256(right, 1))};
#else
    QUAVER_UNROLLED
    for (int i = 0; i < 2; ++i) {
      const __m256i codes = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(p + i * kBytesPerStep));
      __m512i half = _mm512_slli_epi16(_mm512_cvtepi8_epi16(codes), 7);
      half = _mm512_and_si512(half, _mm512_set1_epi16(short(0xBFFF)));
      const __m256i nan = nanBytes(codes);
      if (__builtin_expect(_mm256_movemask_epi8(nan), 0)) {
        const __m512i fix = _mm512_and_si512(_mm512_cvtepi8_epi16(nan), _mm512_set1_epi16(0x7E00));
        half = _mm512_or_si512(half, fix);
      }
      out[i] = {halfToFloat(_mm512_castsi512_si256(half)), halfToFloat(_mm512_extracti64x4_epi64(half, 1))};
    }
#endif
  }

private:
  // Code in the high byte of each word -> f16 of value / 256.
  QUAVER_INLINE __m256i toHalf(__m256i words) {
    return _mm256_and_si256(_mm256_srai_epi16(words, 1), _mm256_set1_epi16(short(0xBF80)));
  }
  QUAVER_INLINE __m256i nanBytes(__m256i codes) {
    return _mm256_cmpeq_epi8(_mm256_and_si256(codes, _mm256_set1_epi8(0x7F)), _mm256_set1_epi8(0x7F));
  }
};

#ifdef QUAVER_SET_AVX512_BF16
// Pairs of E4M3, decoded to pairs of bf16: 5 instructions for 64 codes, which lie so that unpacking restores
// the order.
struct E4m3PairPanel {
  static constexpr int kBytesPerStep = 64;
  static constexpr bool kDecodes = true;
  static constexpr float kFactor = 1;
  QUAVER_INLINE Columns decode(const uint8_t *p) {
    const Bf16Lookup t = bf16Lookup();
    const __m512i code = _mm512_loadu_si512(p);
    const __m512i low = _mm512_permutex2var_epi8(t.low0, code, t.low1);
    const __m512i sign = _mm512_and_si512(code, _mm512_set1_epi8(char(0x80)));
    const __m512i high = _mm512_or_si512(_mm512_permutex2var_epi8(t.high0, code, t.high1), sign);
    return {floats(_mm512_unpacklo_epi8(low, high)), floats(_mm512_unpackhi_epi8(low, high))};
  }
};
#endif

// Two steps at once: formats that gain from it say how.
template <class Panel> QUAVER_INLINE void decodeTwo(const uint8_t *p, Columns out[2]) {
  if constexpr (requires { Panel::decodeTwo(p, out); }) {
    Panel::decodeTwo(p, out);
  } else {
    out[0] = Panel::decode(p);
    out[1] = Panel::decode(p + Panel::kBytesPerStep);
  }
}

} // namespace quaver::x86::QUAVER_SET_NAMESPACE
