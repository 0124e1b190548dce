// numpy's .npz: a ZIP archive of stored .npy files.
#pragma once
#include "runtime/base/status.h"
#include <string>
#include <utility>
#include <vector>

namespace quaver::cli {

/// Writes arrays, (name, bytes of a .npy file) each, or nothing. At most 4 GB in all: ZIP's plain form.
Status write_npz(const std::string &path, const std::vector<std::pair<std::string, std::string>> &arrays);

} // namespace quaver::cli
