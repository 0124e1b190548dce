// Facts about the plan's element types.
#pragma once
#include "runtime/plan/plan.pb.h"
#include <cstddef>
#include <string_view>

namespace quaver::plan {

/// Bytes of one element in memory; 0 for an unknown type.
size_t element_bytes(ElementType type);
/// Short name as policy files and `quaver run` spell it: f32, bf16, e4m3, i64, bool; "?" for an unknown type.
std::string_view element_name(ElementType type);
/// The type of a short name; ELEMENT_INVALID if there is none.
ElementType element_of_name(std::string_view name);

} // namespace quaver::plan
