#include "runtime/base/env.h"
#include <cstdlib>

namespace quaver {

std::span<const EnvVariable> env_variables() {
  static constexpr EnvVariable kVariables[] = {
      {Env::kCompilerLibrary, "QUAVER_COMPILER_LIBRARY",
       "Path of libquaver-compiler.so, where it is not beside the program or on the loader's path."},
      {Env::kTrace, "QUAVER_TRACE",
       "File to which a trace of loads and launches is written at exit (Chrome trace JSON, for Perfetto)."},
  };
  return kVariables;
}

std::string env(Env id) {
  for (const EnvVariable &v : env_variables())
    if (v.id == id)
      if (const char *value = std::getenv(v.name))
        return value;
  return {};
}

} // namespace quaver
