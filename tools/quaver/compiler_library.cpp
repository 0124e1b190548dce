#include "tools/quaver/compiler_library.h"
#include "runtime/base/env.h"
#include "tools/quaver/commands.h"
#include <dlfcn.h>
#include <filesystem>
#include <unistd.h>

namespace quaver::cli {

static StatusOr<CompilerLibrary> load() {
  std::vector<std::string> candidates;
  if (std::string named = env(Env::kCompilerLibrary); !named.empty())
    candidates.push_back(named);
  std::error_code error;
  std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  candidates.push_back((here / "libquaver-compiler.so").string());
  candidates.push_back((here / ".." / "lib" / "libquaver-compiler.so").string());
  std::string why;
  for (const std::string &path : candidates) {
    void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      why += std::string("\n  ") + dlerror();
      continue;
    }
    CompilerLibrary library;
    library.compile = reinterpret_cast<decltype(library.compile)>(dlsym(handle, "qvc_compile"));
    library.compare = reinterpret_cast<decltype(library.compare)>(dlsym(handle, "qvc_compare"));
    library.about = reinterpret_cast<decltype(library.about)>(dlsym(handle, "qvc_about"));
    library.free = reinterpret_cast<decltype(library.free)>(dlsym(handle, "qvc_free"));
    if (!library.compile || !library.compare || !library.about || !library.free)
      return FailedPreconditionError(path +
                                     " is another version of the compiler: install both from one build");
    return library;
  }
  return NotFoundError("the compiler library is not installed (this command compiles); tried:" + why);
}

StatusOr<const CompilerLibrary *> load_compiler() {
  static StatusOr<CompilerLibrary> library = load();
  if (!library.ok())
    return library.status();
  return const_cast<const CompilerLibrary *>(&*library);
}

void print_progress(void *user, const char *stage, int done, int total) {
  auto *globals = static_cast<const Globals *>(user);
  if (globals->quiet || globals->progress == "none")
    return;
  bool terminal = globals->progress == "auto" && isatty(2);
  if (globals->progress == "auto" && !terminal)
    return;
  if (terminal)
    std::fprintf(stderr, "\r\033[K%s %d/%d%s", stage, done, total, done == total ? "\r\033[K" : "");
  else
    std::fprintf(stderr, "%s %d/%d\n", stage, done, total);
}

} // namespace quaver::cli
