// PTX text to syntax tree.
#pragma once
#include "runtime/base/status.h"
#include "runtime/drivers/sim/ptx/ast.h"
#include <string_view>

namespace quaver::sim::ptx {

/// Parses a module. The tree points into `text`, which must outlive it. Errors are InvalidArgument,
/// "LINE:COLUMN: expected WHAT, found 'TOKEN'", and name the first place that is wrong. Nesting, ranges and
/// array sizes are bounded, so that no text takes more than a constant times its own size of memory.
StatusOr<Module> parse(std::string_view text);

} // namespace quaver::sim::ptx
