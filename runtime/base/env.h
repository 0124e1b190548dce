// Every QUAVER_ environment variable. Nothing else reads one, so this list is whole.
#pragma once
#include <span>
#include <string>

namespace quaver {

enum class Env {
  kCompilerLibrary, // QUAVER_COMPILER_LIBRARY
  kTrace,           // QUAVER_TRACE
};

struct EnvVariable {
  Env id;
  const char *name;
  const char *meaning; // one sentence, for `quaver doctor`
};

/// All of them, in the order of Env.
std::span<const EnvVariable> env_variables();
/// The variable's value; empty when it is not set.
std::string env(Env id);

} // namespace quaver
