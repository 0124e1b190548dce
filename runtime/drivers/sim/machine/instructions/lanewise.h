// Instructions that compute each lane from the same lane of their operands.
#pragma once
#include "runtime/drivers/sim/machine/context.h"
#include "runtime/drivers/sim/machine/decoder.h"
#include <type_traits>
#include <utility>

namespace quaver::sim {

/// Results of T, N sources of S. Op::apply(S...) -> T. The result is operand 0, the sources follow.
template <class T, class S, int N, class Op> Outcome lanewise(Context &c, const Instruction &in) {
  alignas(64) S room[N][kLanes];
  const S *source[N];
  for (int i = 0; i < N; ++i)
    source[i] = c.lanes(in.operands[i + 1], room[i]);
  alignas(64) T result[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    if constexpr (N == 1)
      result[i] = Op::apply(source[0][i]);
    else if constexpr (N == 2)
      result[i] = Op::apply(source[0][i], source[1][i]);
    else
      result[i] = Op::apply(source[0][i], source[1][i], source[2][i]);
  }
  c.set(in.operands[0], result);
  return Outcome::kNext;
}

/// Calls f with a value of the C++ type for an integer or bit type of PTX: f(uint32_t{}).
template <class F> void with_integer(Decoder &d, ptx::Type type, F &&f) {
  switch (type) {
  case ptx::Type::kB8:
  case ptx::Type::kU8:
    return f(uint8_t{});
  case ptx::Type::kS8:
    return f(int8_t{});
  case ptx::Type::kB16:
  case ptx::Type::kU16:
    return f(uint16_t{});
  case ptx::Type::kS16:
    return f(int16_t{});
  case ptx::Type::kB32:
  case ptx::Type::kU32:
    return f(uint32_t{});
  case ptx::Type::kS32:
    return f(int32_t{});
  case ptx::Type::kB64:
  case ptx::Type::kU64:
    return f(uint64_t{});
  case ptx::Type::kS64:
    return f(int64_t{});
  default:
    d.unsupported("'.", spelling(type), "' is no type of '", d.source.opcode, "'");
  }
}

/// An instruction `op{.modifiers} d, a...` of N sources of one integer type.
template <int N, class Op> void decode_integer(Decoder &d, ptx::Type type) {
  d.expect_operands(N + 1, N + 1);
  with_integer(d, type, [&](auto t) { d.out.execute = &lanewise<decltype(t), decltype(t), N, Op>; });
  d.result(0, type);
  for (int i = 1; i <= N; ++i)
    d.value(size_t(i), type);
}

/// The type with twice the bits; for 64 bits __int128.
template <class T> struct Wide;
template <> struct Wide<uint8_t> {
  using type = uint16_t;
};
template <> struct Wide<int8_t> {
  using type = int16_t;
};
template <> struct Wide<uint16_t> {
  using type = uint32_t;
};
template <> struct Wide<int16_t> {
  using type = int32_t;
};
template <> struct Wide<uint32_t> {
  using type = uint64_t;
};
template <> struct Wide<int32_t> {
  using type = int64_t;
};
template <> struct Wide<uint64_t> {
  using type = unsigned __int128;
};
template <> struct Wide<int64_t> {
  using type = __int128;
};
template <class T> using wide_t = typename Wide<T>::type;

} // namespace quaver::sim
