#include "compiler/Import/Onnx/OnnxFile.h"
#include "mlir/IR/Builders.h"
#include "runtime/base/mapped_file.h"
#include "llvm/ADT/StringExtras.h"
#include <filesystem>

namespace fs = std::filesystem;
using llvm::ArrayRef;
using llvm::StringRef;

namespace quaver::import {
namespace {

constexpr size_t kStripFrom = 1024; // raw_data of at least this many bytes stays in the file
constexpr int64_t kNewestIr = 13;
constexpr uint32_t kGraphField = 7, kInitializerField = 5, kRawDataField = 9;

/// Walks protobuf's wire format: field by field, without a schema.
class Wire {
public:
  explicit Wire(ArrayRef<char> bytes) : rest(bytes) {}
  struct Field {
    uint32_t number = 0;
    uint32_t type = 0;
    ArrayRef<char> whole;   // tag included
    ArrayRef<char> content; // of length-delimited fields
  };
  bool atEnd() const { return rest.empty(); }
  bool next(Field &f) {
    ArrayRef<char> start = rest;
    uint64_t tag, length;
    if (!varint(tag) || tag >> 3 == 0 || tag >> 32)
      return false;
    f.number = uint32_t(tag >> 3), f.type = tag & 7;
    f.content = {};
    switch (f.type) {
    case 0:
      if (!varint(length))
        return false;
      break;
    case 1:
      if (!skip(8))
        return false;
      break;
    case 2:
      if (!varint(length) || length > rest.size())
        return false;
      f.content = rest.take_front(length);
      rest = rest.drop_front(length);
      break;
    case 5:
      if (!skip(4))
        return false;
      break;
    default:
      return false;
    }
    f.whole = start.take_front(start.size() - rest.size());
    return true;
  }

private:
  bool skip(size_t n) {
    if (rest.size() < n)
      return false;
    rest = rest.drop_front(n);
    return true;
  }
  bool varint(uint64_t &v) {
    v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest.empty())
        return false;
      uint8_t byte = uint8_t(rest.front());
      rest = rest.drop_front();
      v |= uint64_t(byte & 127) << shift;
      if (!(byte & 128))
        return true;
    }
    return false;
  }
  ArrayRef<char> rest;
};

void appendField(std::string &out, uint32_t number, StringRef content) {
  auto varint = [&](uint64_t v) {
    for (; v >= 128; v >>= 7)
      out += char(v | 128);
    out += char(v);
  };
  varint(uint64_t(number) << 3 | 2);
  varint(content.size());
  out += content;
}

/// Copies a message without the long fields `path` leads to; calls `stripped` for each.
bool strip(ArrayRef<char> bytes, ArrayRef<uint32_t> path, std::string &out,
           llvm::function_ref<void(ArrayRef<char>)> stripped, llvm::function_ref<void()> entered) {
  Wire wire(bytes);
  Wire::Field f;
  while (!wire.atEnd()) {
    if (!wire.next(f))
      return false;
    if (f.number != path[0] || f.type != 2) {
      out.append(f.whole.data(), f.whole.size());
      continue;
    }
    if (path.size() == 1) {
      if (f.content.size() >= kStripFrom)
        stripped(f.content);
      else
        out.append(f.whole.data(), f.whole.size());
      continue;
    }
    if (path.size() == 2)
      entered();
    std::string inner;
    if (!strip(f.content, path.drop_front(), inner, stripped, entered))
      return false;
    appendField(out, f.number, inner);
  }
  return true;
}

} // namespace

StatusOr<std::unique_ptr<OnnxFile>> OnnxFile::open(const std::string &path) {
  QUAVER_ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::open(path));
  auto file = std::make_unique<OnnxFile>();
  auto owner = std::make_shared<MappedFile>(std::move(mapped));
  file->fileName = path;
  file->owner = owner;
  std::error_code error;
  file->folder = fs::weakly_canonical(fs::absolute(path).parent_path(), error).string();
  file->resolvedFolder = fs::canonical(path, error).parent_path().string();
  auto bytes = owner->bytes();
  QUAVER_RETURN_IF_ERROR(file->read({reinterpret_cast<const char *>(bytes.data()), bytes.size()}));
  return file;
}

StatusOr<std::unique_ptr<OnnxFile>> OnnxFile::parse(StringRef bytes, const std::string &folder,
                                                    const std::string &name) {
  auto file = std::make_unique<OnnxFile>();
  file->fileName = name;
  std::error_code error;
  if (!folder.empty())
    file->folder = file->resolvedFolder = fs::canonical(folder, error).string();
  QUAVER_RETURN_IF_ERROR(file->read({bytes.data(), bytes.size()}));
  return file;
}

Status OnnxFile::read(ArrayRef<char> bytes) {
  if (bytes.empty())
    return InvalidArgumentError(fileName, ": is empty, expected an ONNX model");
  std::string small;
  int tensor = -1;
  bool whole = strip(
      bytes, {kGraphField, kInitializerField, kRawDataField}, small,
      [&](ArrayRef<char> raw) { spans[tensor] = raw; }, [&] { ++tensor; });
  if (!whole || small.size() > size_t(INT32_MAX) || !parsed.ParseFromString(small))
    return InvalidArgumentError(
        fileName, ": is not an ONNX model, or a truncated or damaged one: its protobuf does not parse");
  if (!parsed.has_graph() || parsed.ir_version() < 1)
    return InvalidArgumentError(fileName, ": is not an ONNX model: it has no ",
                                parsed.has_graph() ? "IR version" : "graph");
  if (parsed.ir_version() > kNewestIr)
    return UnimplementedError(fileName, ": has IR version ", parsed.ir_version(), "; versions up to ",
                              kNewestIr, " are read: export with an older onnx");
  return OkStatus();
}

std::optional<TensorBytes> OnnxFile::stripped(int index) const {
  auto it = spans.find(index);
  if (it == spans.end())
    return std::nullopt;
  return TensorBytes{it->second, owner, bool(owner)}; // only open() has an owner: the mapped file
}

static bool isInside(const fs::path &file, const std::string &folder) {
  if (folder.empty())
    return false;
  fs::path relative = file.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

StatusOr<TensorBytes> OnnxFile::external(const onnx::Tensor &tensor) {
  auto bad = [&](const auto &...what) {
    return InvalidArgumentError(fileName, ": external data of tensor \"", tensor.name(), "\": ", what...);
  };
  std::string location;
  uint64_t offset = 0, length = UINT64_MAX;
  for (const auto &e : tensor.external_data()) {
    if (e.key() == "location")
      location = e.value();
    else if (e.key() == "offset" || e.key() == "length") {
      uint64_t v;
      if (StringRef(e.value()).getAsInteger(10, v))
        return bad(e.key(), " is \"", e.value(), "\", expected a number of bytes");
      (e.key() == "offset" ? offset : length) = v;
    } // other keys (checksum, basepath) say nothing that is read here
  }
  if (location.empty() || location.find('\0') != std::string::npos)
    return bad("no location is given");
  if (fs::path(location).is_absolute())
    return bad("location ", location, " is absolute; it must be relative to the model's folder");
  if (folder.empty())
    return bad("the model was given as bytes, without the folder its external data lies in");
  auto cached = files.find(location);
  if (cached == files.end()) {
    std::error_code error;
    fs::path resolved = fs::canonical(fs::path(folder) / location, error);
    if (error)
      return NotFoundError(fileName, ": external data of tensor \"", tensor.name(), "\": ", location,
                           " is not there");
    if (!isInside(resolved, folder) && !isInside(resolved, resolvedFolder))
      return bad("location ", location, " leads out of the model's folder");
    QUAVER_ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::open(resolved.string()));
    auto kept = std::make_shared<MappedFile>(std::move(mapped));
    ArrayRef<char> all(reinterpret_cast<const char *>(kept->bytes().data()), kept->bytes().size());
    cached = files.emplace(location, TensorBytes{all, kept}).first;
  }
  ArrayRef<char> all = cached->second.bytes;
  if (offset > all.size())
    return bad("offset ", offset, " is past the end of ", location, " (", all.size(), " bytes)");
  if (length == UINT64_MAX)
    length = all.size() - offset;
  if (length > all.size() - offset)
    return bad("bytes ", offset, " to ", offset, " + ", length, " are past the end of ", location, " (",
               all.size(), " bytes)");
  return TensorBytes{all.slice(offset, length), cached->second.owner, true};
}

} // namespace quaver::import
