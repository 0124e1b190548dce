// libquaver-compiler.so, loaded when something is compiled: a machine that only runs artifacts needs no LLVM.
#pragma once
#include "compiler/Capi/quaver_compiler.h"
#include "runtime/base/status.h"

namespace quaver::cli {

struct CompilerLibrary {
  decltype(&qvc_compile) compile;
  decltype(&qvc_compare) compare;
  decltype(&qvc_about) about;
  decltype(&qvc_free) free;
};

/// Loads the library once: QUAVER_COMPILER_LIBRARY, else beside the program, else in ../lib.
StatusOr<const CompilerLibrary *> load_compiler();

/// A qvc_progress that draws on stderr as --progress says; user is a Globals.
void print_progress(void *globals, const char *stage, int done, int total);

} // namespace quaver::cli
