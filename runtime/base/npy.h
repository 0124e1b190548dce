// The .npy file format (NEP 1, versions 1 to 3): one array. Element types are numpy's descr strings, without
// byte order where it has no meaning: "<f4", "|b1", "|u1", and ml_dtypes' raw ones "<V2", "|V1", whose
// meaning the reader must know.
#pragma once
#include "runtime/base/status.h"
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace quaver {

struct NpyArray {
  std::string descr;
  std::vector<int64_t> shape;
  std::vector<char> bytes; // row-major, little-endian: Fortran order and big-endian files are converted
};

/// Parses the bytes of a file. Refuses structured and object types, and sizes that do not fit the bytes there
/// are.
StatusOr<NpyArray> parse_npy(std::span<const char> file);
/// Reads a file. Errors name it.
StatusOr<NpyArray> read_npy(const std::string &path);
/// The bytes of a version 1.0 file; the data starts at a multiple of 64.
std::string npy_bytes(const std::string &descr, std::span<const int64_t> shape, std::span<const char> data);
/// Writes a file, or nothing.
Status write_npy(const std::string &path, const std::string &descr, std::span<const int64_t> shape,
                 std::span<const char> data);

} // namespace quaver
