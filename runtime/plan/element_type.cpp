#include "runtime/plan/element_type.h"

namespace quaver::plan {
namespace {
struct TypeFacts {
  ElementType type;
  const char *name;
  size_t bytes;
};
constexpr TypeFacts kTypes[] = {
    {F64, "f64", 8},
    {F32, "f32", 4},
    {F16, "f16", 2},
    {BF16, "bf16", 2},
    {F8E4M3FN, "e4m3", 1},
    {F8E5M2, "e5m2", 1},
    {F8E4M3FNUZ, "e4m3fnuz", 1},
    {F8E5M2FNUZ, "e5m2fnuz", 1},
    {F8E8M0FNU, "e8m0", 1},
    {I64, "i64", 8},
    {I32, "i32", 4},
    {I16, "i16", 2},
    {I8, "i8", 1},
    {U64, "u64", 8},
    {U32, "u32", 4},
    {U16, "u16", 2},
    {U8, "u8", 1},
    {BOOL, "bool", 1},
};
} // namespace

size_t element_bytes(ElementType type) {
  for (const TypeFacts &e : kTypes)
    if (e.type == type)
      return e.bytes;
  return 0;
}
std::string_view element_name(ElementType type) {
  for (const TypeFacts &e : kTypes)
    if (e.type == type)
      return e.name;
  return "?";
}
ElementType element_of_name(std::string_view name) {
  for (const TypeFacts &e : kTypes)
    if (name == e.name)
      return e.type;
  return ELEMENT_INVALID;
}

} // namespace quaver::plan
