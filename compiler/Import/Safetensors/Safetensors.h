// Weights in Hugging Face's layout: safetensors files, one or sharded by an index.
//
// Format (huggingface/safetensors README): 8 bytes of header length, little-endian; a JSON object from tensor
// name to {dtype, shape, data_offsets}; then the bytes, without holes or overlaps.
#pragma once
#include "runtime/base/status.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace quaver::import {

/// One tensor: row-major, little-endian, part of a mapped file.
struct SafeTensor {
  std::string name, file;
  std::string dtype; // as the file spells it: F32, BF16, F8_E4M3, ...
  std::vector<int64_t> shape;
  llvm::ArrayRef<char> bytes;
  std::shared_ptr<const void> owner;
  /// `"name" (F8_E4M3 [256, 384], model.safetensors)`, for messages.
  std::string describe() const;
};

/// All tensors of a checkpoint, by name. Everything in the files is checked when they are opened.
class SafetensorsCheckpoint {
public:
  /// A folder with an index, *.safetensors.index.json (the files it names, which must lie in the folder, and
  /// no others), or with *.safetensors files (all of them, in order of name), or one file. An error names
  /// file and tensor.
  static StatusOr<SafetensorsCheckpoint> open(const std::string &path);

  /// One file's bytes, which must outlive the result; `name` stands in messages.
  static StatusOr<SafetensorsCheckpoint> parse(std::string_view bytes, const std::string &name);

  const SafeTensor *find(llvm::StringRef name) const;
  const std::map<std::string, SafeTensor> &tensors() const { return byName; }
  const std::string &path() const { return root; }
  /// `quantization_config.weight_block_size` of the folder's config.json; {128, 128} where nothing is said.
  std::pair<int64_t, int64_t> weightBlock() const { return block; }

private:
  using Index = std::map<std::string, std::string>; // tensor -> file
  Status addFile(const std::string &path, const Index *index);
  Status addBytes(std::string_view all, std::shared_ptr<const void> owner, const std::string &path,
                  const Index *index);
  Status readConfig(const std::string &path);
  std::string root;
  std::map<std::string, SafeTensor> byName;
  std::pair<int64_t, int64_t> block = {128, 128};
};

} // namespace quaver::import
