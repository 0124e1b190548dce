#include "compiler/Import/Safetensors/Safetensors.h"
#include "runtime/base/mapped_file.h"
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

namespace fs = std::filesystem;
using nlohmann::json;

namespace quaver::import {
namespace {

constexpr uint64_t kMaxHeader = 100'000'000; // the limit of the format's own reader
constexpr int64_t kMaxElements = int64_t(1) << 48;

int64_t bytesOfDtype(const std::string &dtype) {
  static const std::map<std::string, int64_t> kBytes = {
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E4M3", 1}, {"F8_E5M2", 1}, {"F8_E8M0", 1},
      {"I16", 2},  {"U16", 2}, {"F16", 2}, {"BF16", 2},    {"I32", 4},     {"U32", 4},
      {"F32", 4},  {"F64", 8}, {"I64", 8}, {"U64", 8}};
  auto it = kBytes.find(dtype);
  return it == kBytes.end() ? 0 : it->second;
}

/// Parses an object of which no key at the top may come twice: the second would silently win.
json parseObject(std::string_view text, std::string &twice) {
  std::set<std::string> keys;
  json j = json::parse(
      text.begin(), text.end(),
      [&](int depth, json::parse_event_t event, json &value) {
        if (depth == 1 && event == json::parse_event_t::key && !keys.insert(value.get<std::string>()).second)
          twice = value.get<std::string>();
        return true;
      },
      /*allow_exceptions=*/false);
  return j;
}

StatusOr<std::shared_ptr<MappedFile>> map(const std::string &path) {
  QUAVER_ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::open(path));
  return std::make_shared<MappedFile>(std::move(mapped));
}

std::string_view textOf(const MappedFile &file) {
  return {reinterpret_cast<const char *>(file.bytes().data()), file.bytes().size()};
}

/// Fills dtype and shape, and says where the bytes begin and end behind the header; an error is one clause.
std::string readEntry(const json &entry, SafeTensor &t, uint64_t &begin, uint64_t &end) {
  if (!entry.is_object() || !entry.contains("dtype") || !entry.contains("shape") ||
      !entry.contains("data_offsets"))
    return "needs dtype, shape and data_offsets";
  const json &dtype = entry["dtype"], &shape = entry["shape"], &offsets = entry["data_offsets"];
  if (!dtype.is_string() || !bytesOfDtype(dtype))
    return "has dtype " + dtype.dump() +
           "; BOOL, integers of 8 to 64 bits, F8_E4M3, F8_E5M2, F8_E8M0, F16, BF16, F32 "
           "and F64 are read";
  t.dtype = dtype;
  int64_t count = 1;
  if (!shape.is_array() || shape.size() > 32)
    return "has no usable shape";
  for (const json &d : shape) {
    if (!d.is_number_unsigned() || d.get<uint64_t>() > uint64_t(kMaxElements) ||
        (d.get<int64_t>() && count > kMaxElements / d.get<int64_t>()))
      return "has an impossible shape " + shape.dump();
    count *= d.get<int64_t>();
    t.shape.push_back(d);
  }
  if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned())
    return "has no usable data_offsets";
  begin = offsets[0], end = offsets[1];
  if (end < begin || end - begin != uint64_t(count * bytesOfDtype(t.dtype)))
    return "has data_offsets " + offsets.dump() + ", but " + t.dtype + " " + shape.dump() + " takes " +
           std::to_string(count * bytesOfDtype(t.dtype)) + " bytes";
  return "";
}

} // namespace

std::string SafeTensor::describe() const {
  return "\"" + name + "\" (" + dtype + " " + json(shape).dump() + ", " + fs::path(file).filename().string() +
         ")";
}

Status SafetensorsCheckpoint::addFile(const std::string &path, const Index *index) {
  QUAVER_ASSIGN_OR_RETURN(std::shared_ptr<MappedFile> file, map(path));
  return addBytes(textOf(*file), file, path, index);
}

StatusOr<SafetensorsCheckpoint> SafetensorsCheckpoint::parse(std::string_view bytes,
                                                             const std::string &name) {
  SafetensorsCheckpoint c;
  c.root = name;
  QUAVER_RETURN_IF_ERROR(c.addBytes(bytes, nullptr, name, nullptr));
  return c;
}

Status SafetensorsCheckpoint::addBytes(std::string_view all, std::shared_ptr<const void> owner,
                                       const std::string &path, const Index *index) {
  auto bad = [&](const auto &...what) { return InvalidArgumentError(path, ": ", what...); };
  uint64_t length = 0;
  if (all.size() < 8)
    return bad("is not a safetensors file: it has ", all.size(), " bytes");
  std::memcpy(&length, all.data(), 8);
  if (length > kMaxHeader || length > all.size() - 8)
    return bad("is not a safetensors file, or a truncated one: its header of ", length,
               " bytes does not fit");
  std::string twice;
  json header = parseObject(all.substr(8, length), twice);
  if (!header.is_object())
    return bad("is not a safetensors file: its header is not a JSON object");
  if (!twice.empty())
    return bad("two tensors are called \"", twice, "\"");
  std::string_view data = all.substr(8 + length);
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (auto &[name, entry] : header.items()) {
    if (name == "__metadata__")
      continue;
    SafeTensor t;
    t.name = name, t.file = path;
    uint64_t begin = 0, end = 0;
    if (std::string why = readEntry(entry, t, begin, end); !why.empty())
      return bad("tensor \"", name, "\" ", why);
    if (end > data.size())
      return bad("tensor \"", name, "\" ends at byte ", end, " of ", data.size(), ": the file is truncated");
    ranges.push_back({begin, end});
    t.bytes = {data.data() + begin, size_t(end - begin)}, t.owner = owner;
    if (index) {
      auto said = index->find(name);
      if (said == index->end() || fs::path(path).filename() != said->second)
        continue; // the index decides which copy counts
    }
    auto [it, isNew] = byName.try_emplace(name, std::move(t));
    if (!isNew)
      return bad("tensor \"", name, "\" is also in ", it->second.file);
  }
  std::sort(ranges.begin(), ranges.end());
  uint64_t at = 0;
  for (auto [begin, end] : ranges) {
    if (begin != at)
      return bad(begin < at ? "tensors overlap" : "there is a hole", " at byte ", begin, " of the data");
    at = end;
  }
  return OkStatus();
}

Status SafetensorsCheckpoint::readConfig(const std::string &path) {
  std::error_code error;
  if (!fs::exists(path, error))
    return OkStatus();
  QUAVER_ASSIGN_OR_RETURN(std::shared_ptr<MappedFile> file, map(path));
  json config = json::parse(textOf(*file), nullptr, /*allow_exceptions=*/false);
  if (!config.is_object() || !config.contains("quantization_config") ||
      !config["quantization_config"].is_object())
    return OkStatus();
  const json &quantization = config["quantization_config"];
  auto size = quantization.find("weight_block_size");
  if (size == quantization.end() || size->is_null())
    return OkStatus();
  if (!size->is_array() || size->size() != 2 || !(*size)[0].is_number_unsigned() ||
      !(*size)[1].is_number_unsigned() || (*size)[0] == 0 || (*size)[1] == 0)
    return InvalidArgumentError(path, ": quantization_config.weight_block_size is ", size->dump(),
                                ", expected two positive sizes such as [128, 128]");
  block = {(*size)[0], (*size)[1]};
  return OkStatus();
}

StatusOr<SafetensorsCheckpoint> SafetensorsCheckpoint::open(const std::string &path) {
  SafetensorsCheckpoint c;
  c.root = path;
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    QUAVER_RETURN_IF_ERROR(c.addFile(path, nullptr));
    return c;
  }
  QUAVER_RETURN_IF_ERROR(c.readConfig((fs::path(path) / "config.json").string()));
  std::vector<std::string> files;
  std::string indexPath;
  for (const auto &entry : fs::directory_iterator(path, error)) {
    std::string file = entry.path().string();
    if (entry.path().extension() == ".safetensors")
      files.push_back(file);
    else if (file.ends_with(".safetensors.index.json")) {
      if (!indexPath.empty())
        return InvalidArgumentError(path, ": has two indexes, ", indexPath, " and ", file, ": leave one");
      indexPath = file;
    }
  }
  if (!indexPath.empty()) {
    QUAVER_ASSIGN_OR_RETURN(std::shared_ptr<MappedFile> file, map(indexPath));
    json index = json::parse(textOf(*file), nullptr, /*allow_exceptions=*/false);
    if (!index.is_object() || !index.contains("weight_map") || !index["weight_map"].is_object())
      return InvalidArgumentError(indexPath, ": is not an index: it needs an object weight_map");
    Index placeOf;
    std::set<std::string> shards;
    for (auto &[tensor, where] : index["weight_map"].items()) {
      if (!where.is_string() || where.get<std::string>().empty() ||
          fs::path(where.get<std::string>()).filename() != where.get<std::string>())
        return InvalidArgumentError(indexPath, ": tensor \"", tensor, "\" is placed in ", where.dump(),
                                    ", expected the name of a file in the same folder");
      placeOf[tensor] = where, shards.insert(where.get<std::string>());
    }
    for (const std::string &name : shards)
      QUAVER_RETURN_IF_ERROR(c.addFile((fs::path(path) / name).string(), &placeOf));
    for (auto &[tensor, where] : placeOf)
      if (!c.find(tensor))
        return InvalidArgumentError(indexPath, ": tensor \"", tensor, "\" is not in ", where,
                                    ", where it should be");
    return c;
  }
  if (files.empty())
    return NotFoundError(path,
                         ": there is neither a *.safetensors.index.json nor a *.safetensors file in it");
  std::sort(files.begin(), files.end());
  for (const std::string &file : files)
    QUAVER_RETURN_IF_ERROR(c.addFile(file, nullptr));
  return c;
}

const SafeTensor *SafetensorsCheckpoint::find(llvm::StringRef name) const {
  auto it = byName.find(name.str());
  return it == byName.end() ? nullptr : &it->second;
}

} // namespace quaver::import
