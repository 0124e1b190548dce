#include "runtime/base/npy.h"
#include "runtime/base/atomic_file.h"
#include "runtime/base/mapped_file.h"
#include <algorithm>
#include <cstring>
#include <optional>

namespace quaver {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxHeader = 1 << 16;
constexpr size_t kMaxRank = 64;

// A reader of the header: a Python dict literal with three known keys.
class Header {
public:
  explicit Header(std::string_view text) : text_(text) {}

  bool take(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c)
      return false;
    ++at_;
    return true;
  }
  bool peek(char c) {
    skip_space();
    return at_ < text_.size() && text_[at_] == c;
  }
  std::optional<std::string> string() {
    skip_space();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"'))
      return std::nullopt;
    size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos)
      return std::nullopt;
    std::string s(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return s;
  }
  std::optional<bool> boolean() {
    skip_space();
    for (auto [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}})
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return value;
      }
    return std::nullopt;
  }
  std::optional<int64_t> integer() {
    skip_space();
    size_t first = at_;
    int64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
      if (__builtin_mul_overflow(value, int64_t{10}, &value) ||
          __builtin_add_overflow(value, int64_t(text_[at_] - '0'), &value))
        return std::nullopt;
    return at_ == first ? std::nullopt : std::optional(value);
  }

private:
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t'))
      ++at_;
  }
  std::string_view text_;
  size_t at_ = 0;
};

struct Fields {
  std::optional<std::string> descr;
  std::optional<bool> fortran;
  std::optional<std::vector<int64_t>> shape;
};

std::optional<std::vector<int64_t>> parse_shape(Header &header) {
  std::vector<int64_t> shape;
  if (!header.take('('))
    return std::nullopt;
  while (!header.take(')')) {
    auto size = header.integer();
    if (!size || shape.size() == kMaxRank || (!header.take(',') && !header.peek(')')))
      return std::nullopt;
    shape.push_back(*size);
  }
  return shape;
}

std::optional<Fields> parse_fields(std::string_view text) {
  Header header(text);
  Fields fields;
  if (!header.take('{'))
    return std::nullopt;
  while (!header.take('}')) {
    auto key = header.string();
    if (!key || !header.take(':'))
      return std::nullopt;
    if (*key == "descr" && (fields.descr = header.string())) {
    } else if (*key == "fortran_order" && (fields.fortran = header.boolean())) {
    } else if (*key == "shape" && (fields.shape = parse_shape(header))) {
    } else {
      return std::nullopt;
    }
    if (!header.take(',') && !header.peek('}'))
      return std::nullopt;
  }
  return fields.descr && fields.fortran && fields.shape ? std::optional(fields) : std::nullopt;
}

// Bytes of an element of a plain descr ("<f4": 4), nothing for types that are no plain number.
std::optional<size_t> item_size(const std::string &descr) {
  if (descr.size() < 3 || std::string_view("<>|=").find(descr[0]) == std::string_view::npos ||
      std::string_view("fiubV").find(descr[1]) == std::string_view::npos)
    return std::nullopt;
  size_t size = 0;
  for (char c : descr.substr(2)) {
    if (c < '0' || c > '9' || size > 8)
      return std::nullopt;
    size = size * 10 + size_t(c - '0');
  }
  return size == 1 || size == 2 || size == 4 || size == 8 ? std::optional(size) : std::nullopt;
}

// Column-major elements in row-major order.
std::vector<char> to_row_major(const std::vector<char> &in, const std::vector<int64_t> &shape, size_t item) {
  std::vector<char> out(in.size());
  std::vector<int64_t> index(shape.size(), 0);
  for (size_t i = 0; i < in.size() / item; ++i) {
    int64_t from = 0;
    for (size_t d = shape.size(); d-- > 0;)
      from = from * shape[d] + index[d];
    std::memcpy(&out[i * item], &in[size_t(from) * item], item);
    for (size_t d = shape.size(); d-- > 0 && ++index[d] == shape[d];)
      index[d] = 0;
  }
  return out;
}

} // namespace

StatusOr<NpyArray> parse_npy(std::span<const char> file) {
  std::string_view text(file.data(), file.size());
  if (text.size() < 10 || text.substr(0, 6) != kMagic)
    return DataLossError("not a .npy file: it does not begin with the magic bytes");
  const auto byte = [&](size_t i) { return size_t(uint8_t(text[i])); };
  const size_t version = byte(6);
  if (version < 1 || version > 3)
    return DataLossError(".npy version ", version, " is not known; 1 to 3 are");
  const size_t length_bytes = version == 1 ? 2 : 4;
  if (text.size() < 8 + length_bytes)
    return DataLossError("the .npy file is cut in its header");
  size_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i)
    length |= byte(8 + i) << (8 * i);
  const size_t begin = 8 + length_bytes;
  if (length > kMaxHeader || length > text.size() - begin)
    return DataLossError("the .npy header says ", length, " bytes, the file has ", text.size() - begin);
  auto fields = parse_fields(text.substr(begin, length));
  if (!fields)
    return DataLossError("the .npy header is not one of a plain array");
  const auto item = item_size(*fields->descr);
  if (!item)
    return InvalidArgumentError("the .npy element type '", *fields->descr, "' is not a plain number");

  NpyArray array{*fields->descr, *fields->shape, {}};
  size_t bytes = *item;
  for (int64_t d : array.shape)
    if (__builtin_mul_overflow(bytes, size_t(d), &bytes))
      return DataLossError("the .npy shape overflows");
  const size_t left = text.size() - begin - length;
  if (bytes > left)
    return DataLossError("the .npy file is cut: its shape needs ", bytes, " bytes, it has ", left);
  const char *data = text.data() + begin + length;
  array.bytes.assign(data, data + bytes);
  if (array.descr[0] == '>') {
    for (size_t i = 0; i < bytes; i += *item)
      std::reverse(array.bytes.begin() + long(i), array.bytes.begin() + long(i + *item));
    array.descr[0] = '<';
  }
  if (*fields->fortran && array.shape.size() > 1)
    array.bytes = to_row_major(array.bytes, array.shape, *item);
  return array;
}

StatusOr<NpyArray> read_npy(const std::string &path) {
  QUAVER_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(path));
  auto array = parse_npy({reinterpret_cast<const char *>(file.bytes().data()), file.bytes().size()});
  if (!array.ok())
    return Status(array.status().code(), str_cat(path, ": ", array.status().message()));
  return array;
}

std::string npy_bytes(const std::string &descr, std::span<const int64_t> shape, std::span<const char> data) {
  std::string dict = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (";
  for (int64_t d : shape)
    dict += std::to_string(d) + (shape.size() == 1 ? "," : ", ");
  if (shape.size() > 1)
    dict.resize(dict.size() - 2);
  dict += "), }";
  while ((10 + dict.size() + 1) % 64)
    dict += ' ';
  dict += '\n';
  std::string file(kMagic);
  file += '\x01';
  file += '\0';
  file += char(dict.size() & 0xff);
  file += char(dict.size() >> 8);
  return file + dict + std::string(data.data(), data.size());
}

Status write_npy(const std::string &path, const std::string &descr, std::span<const int64_t> shape,
                 std::span<const char> data) {
  return write_file_atomically(path, npy_bytes(descr, shape, data));
}

} // namespace quaver
