// The types and state spaces of PTX. Source: PTX ISA 9.0, sections 5.1 (state spaces) and 5.2 (types).
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace quaver::sim::ptx {

enum class TypeKind : uint8_t { kBits, kUnsigned, kSigned, kFloat, kPredicate, kOpaque };

// X(enumerator, spelling, bytes, kind). Packed types count as one element of their whole width.
#define QUAVER_PTX_TYPES(X)                                                                                  \
  X(kPred, "pred", 0, kPredicate)                                                                            \
  X(kB1, "b1", 0, kBits)                                                                                     \
  X(kB4x16, "b4x16", 8, kBits)                                                                               \
  X(kB8, "b8", 1, kBits)                                                                                     \
  X(kB16, "b16", 2, kBits)                                                                                   \
  X(kB32, "b32", 4, kBits)                                                                                   \
  X(kB64, "b64", 8, kBits)                                                                                   \
  X(kB128, "b128", 16, kBits)                                                                                \
  X(kU4, "u4", 0, kUnsigned)                                                                                 \
  X(kU8, "u8", 1, kUnsigned)                                                                                 \
  X(kU16, "u16", 2, kUnsigned)                                                                               \
  X(kU16x2, "u16x2", 4, kUnsigned)                                                                           \
  X(kU32, "u32", 4, kUnsigned)                                                                               \
  X(kU64, "u64", 8, kUnsigned)                                                                               \
  X(kS4, "s4", 0, kSigned)                                                                                   \
  X(kS8, "s8", 1, kSigned)                                                                                   \
  X(kS16, "s16", 2, kSigned)                                                                                 \
  X(kS16x2, "s16x2", 4, kSigned)                                                                             \
  X(kS32, "s32", 4, kSigned)                                                                                 \
  X(kS64, "s64", 8, kSigned)                                                                                 \
  X(kF16, "f16", 2, kFloat)                                                                                  \
  X(kF16x2, "f16x2", 4, kFloat)                                                                              \
  X(kBf16, "bf16", 2, kFloat)                                                                                \
  X(kBf16x2, "bf16x2", 4, kFloat)                                                                            \
  X(kTf32, "tf32", 4, kFloat)                                                                                \
  X(kF32, "f32", 4, kFloat)                                                                                  \
  X(kF32x2, "f32x2", 8, kFloat)                                                                              \
  X(kF64, "f64", 8, kFloat)                                                                                  \
  X(kE4m3, "e4m3", 1, kFloat)                                                                                \
  X(kE5m2, "e5m2", 1, kFloat)                                                                                \
  X(kE4m3x2, "e4m3x2", 2, kFloat)                                                                            \
  X(kE5m2x2, "e5m2x2", 2, kFloat)                                                                            \
  X(kTexref, "texref", 8, kOpaque)                                                                           \
  X(kSamplerref, "samplerref", 8, kOpaque)                                                                   \
  X(kSurfref, "surfref", 8, kOpaque)

enum class Type : uint8_t {
#define QUAVER_ENUMERATOR(name, ...) name,
  QUAVER_PTX_TYPES(QUAVER_ENUMERATOR)
#undef QUAVER_ENUMERATOR
};

struct TypeInfo {
  Type type;
  std::string_view spelling; // without the dot
  uint8_t bytes;             // 0: a predicate, or narrower than a byte
  TypeKind kind;
};

inline constexpr TypeInfo kTypes[] = {
#define QUAVER_ROW(name, spelling, bytes, kind) {Type::name, spelling, bytes, TypeKind::kind},
    QUAVER_PTX_TYPES(QUAVER_ROW)
#undef QUAVER_ROW
};

constexpr const TypeInfo &type_info(Type type) { return kTypes[size_t(type)]; }
constexpr uint8_t bytes_of(Type type) { return type_info(type).bytes; }
constexpr std::string_view spelling(Type type) { return type_info(type).spelling; }
constexpr bool is_signed(Type type) { return type_info(type).kind == TypeKind::kSigned; }
constexpr bool is_float(Type type) { return type_info(type).kind == TypeKind::kFloat; }

/// The type spelled `word` (no dot), or nothing.
constexpr std::optional<Type> type_from_spelling(std::string_view word) {
  for (const TypeInfo &info : kTypes)
    if (info.spelling == word)
      return info.type;
  return std::nullopt;
}

enum class Space : uint8_t { kGeneric, kReg, kConst, kGlobal, kLocal, kParam, kShared };

constexpr std::string_view spelling(Space space) {
  constexpr std::string_view kNames[] = {"generic", "reg", "const", "global", "local", "param", "shared"};
  return kNames[size_t(space)];
}

} // namespace quaver::sim::ptx
