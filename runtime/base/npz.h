// numpy's .npz: a ZIP archive of .npy files, stored (savez) or deflated (savez_compressed).
#pragma once
#include "runtime/base/npy.h"
#include "runtime/base/status.h"
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace quaver {

/// All arrays by name, without the ".npy". Sizes, offsets and checksums are checked; ZIP64 is read. Errors
/// name file and array.
StatusOr<std::map<std::string, NpyArray>> read_npz(const std::string &path);
/// The same of a file's bytes; `name` stands in messages.
StatusOr<std::map<std::string, NpyArray>> parse_npz(std::span<const char> file, const std::string &name);

/// Writes arrays, (name, bytes of a .npy file) each, or nothing. At most 4 GB in all: ZIP's plain form.
Status write_npz(const std::string &path, const std::vector<std::pair<std::string, std::string>> &arrays);

} // namespace quaver
