// x[rows, k] (f32, bf16 or f16) -> E4M3 codes and one f32 scale per 128 neighbours of a row, bit for bit as
// runtime/numerics/scale_recipe.h: scale = max(amax / 448, 2^-126), code = saturating cast of x / scale; a
// block of zeros, or with an Inf or a NaN inside, has scale 1. power_of_two: scales rounded up to powers of
// two. Bound: memory; about 20 instructions for 16 (avx2: 8) elements. Workgroups: rows x ceilDiv(k,
// kQuantizeColumns), columns fastest.
#include "compiler/Codegen/X86/Kernels/operands.h"

namespace quaver::x86::QUAVER_SET_NAMESPACE {

constexpr int kVectors = 128 / kWidth;
constexpr float kMaxE4m3 = 448.0f;

// f32 -> E4M3 code in each 32-bit lane: nearest even, saturating, NaN 0x7F with its sign.
QUAVER_INLINE I32x toE4m3(F32x x) {
  const I32x u = bits(x), magnitude = and_(u, splat(0x7FFFFFFF)), sign = and_(shiftRight<24>(u), splat(0x80));
  const F32x clamped = min(floats(magnitude), broadcast(kMaxE4m3));
  const I32x c = bits(clamped), odd = and_(shiftRight<20>(c), splat(1));
  const I32x normal = sub32(shiftRight<20>(add32(c, add32(odd, splat(0x7FFFF)))), splat(120 << 3));
  // Below 2^-6 the code counts units of 2^-9: the addition of 2^14 rounds to them.
  const I32x subnormal = sub32(bits(add(clamped, broadcast(16384.0f))), bits(broadcast(16384.0f)));
  const I32x finite = selectLess(c, bits(broadcast(0x1p-6f)), subnormal, normal);
  return or_(sign, selectLess(splat(0x7F800000), magnitude, splat(0x7F), finite));
}

QUAVER_INLINE float scaleOf(int amaxBits, bool powerOfTwo) {
  if (amaxBits == 0 || amaxBits >= 0x7F800000)
    return 1.0f;
  float scale = __builtin_bit_cast(float, amaxBits) / kMaxE4m3;
  scale = scale > 0x1p-126f ? scale : 0x1p-126f;
  if (powerOfTwo) // adding just less than one to the exponent rounds up unless the mantissa is zero
    scale = __builtin_bit_cast(float, (__builtin_bit_cast(int, scale) + 0x7FFFFF) & 0x7F800000);
  return scale;
}

QUAVER_INLINE void quantizeBlock(const uint8_t *x, int64_t type, uint8_t *codes, float *scale,
                                 bool powerOfTwo) {
  F32x v[kVectors];
  I32x amax = splat(0);
  QUAVER_UNROLLED
  for (int i = 0; i < kVectors; ++i) {
    v[i] = Fma::readA<false>(type, x + i * kWidth * bytesOf(type));
    amax = max32(amax, and_(bits(v[i]), splat(0x7FFFFFFF))); // as integers, Inf and NaN are the largest
  }
  *scale = scaleOf(maxLane(amax), powerOfTwo);
  const F32x divisor = broadcast(*scale);
  QUAVER_UNROLLED
  for (int i = 0; i < kVectors; ++i)
    storeLowBytes(codes + i * kWidth, toE4m3(div(v[i], divisor)));
}

QUAVER_INLINE void quantizeRow(const uint8_t *x, int64_t type, int64_t count, uint8_t *codes, float *scales,
                               int64_t scaleStride, bool powerOfTwo) {
  const int64_t bytes = bytesOf(type);
  int64_t i = 0;
  QUAVER_ROLLED
  for (; i + 128 <= count; i += 128, scales += scaleStride)
    quantizeBlock(x + i * bytes, type, codes + i, scales, powerOfTwo);
  if (i == count)
    return;
  alignas(64) uint8_t tail[512], tailCodes[128]; // the short last block, extended by zeros
  QUAVER_ROLLED
  for (int64_t b = 0; b < 128 * bytes; ++b)
    tail[b] = b < (count - i) * bytes ? x[i * bytes + b] : 0;
  quantizeBlock(tail, type, tailCodes, scales, powerOfTwo);
  QUAVER_ROLLED
  for (int64_t j = i; j < count; ++j)
    codes[j] = tailCodes[j - i];
}

} // namespace quaver::x86::QUAVER_SET_NAMESPACE

QUAVER_KERNEL(quantize_1x128)(QUAVER_QUANTIZE_PARAMETERS) {
  using namespace quaver::x86;
  using namespace quaver::x86::QUAVER_SET_NAMESPACE;
  const int64_t groups = ceilDiv(k, kQuantizeColumns);
  QUAVER_ROLLED
  for (int64_t at = begin; at < end; ++at) {
    const int64_t row = at / groups, column = at % groups * kQuantizeColumns;
    const uint8_t *from = static_cast<const uint8_t *>(x) + (row * x_row_stride + column) * bytesOf(x_type);
    quantizeRow(from, x_type, smaller(kQuantizeColumns, k - column), codes + row * code_row_stride + column,
                scales + row * scale_row_stride + column / 128 * scale_k_stride, scale_k_stride,
                power_of_two != 0);
  }
}
