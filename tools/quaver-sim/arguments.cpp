//===- arguments.cpp - the arguments of a kernel ----------------------------===//
#include "tools/quaver-sim/arguments.h"

#include "runtime/base/npy.h"
#include "runtime/numerics/codec.h"
#include "runtime/numerics/npy_types.h"

#include <bit>
#include <charconv>
#include <cstring>

namespace quaver::sim {
namespace {

constexpr std::string_view kTypes = "i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64";

StatusOr<ElementType> element_type(std::string_view name) {
  const std::optional<ElementType> type = element_type_from_short_name(name);
  if (!type || is_float8(*type) || *type == ElementType::BOOL)
    return InvalidArgumentError("'", name, "' is no type of an argument; there are ", kTypes);
  return *type;
}

// Bits of a number in the type, in the low bytes.
StatusOr<uint64_t> value_bits(ElementType type, std::string_view text) {
  const bool minus = text.starts_with("-"), is_hex = text.substr(minus).starts_with("0x");
  const std::string_view digits = text.substr(size_t{minus} + (is_hex ? 2 : 0));
  const char *end = digits.data() + digits.size();
  const int bits = 8 * bytes_of(type);
  if (is_hex || is_integer(type)) {
    uint64_t magnitude = 0;
    const auto [at, error] = std::from_chars(digits.data(), end, magnitude, is_hex ? 16 : 10);
    const bool is_signed = format_info(type).is_signed() && !is_hex;
    const uint64_t most = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
    const uint64_t limit = is_signed ? most / 2 + minus : most;
    if (error != std::errc() || at != end || magnitude > limit || (minus && !is_signed))
      return InvalidArgumentError("'", text, "' is no value of ", short_name(type));
    return minus ? 0 - magnitude : magnitude;
  }
  double value = 0;
  const auto [at, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc() || at != end)
    return InvalidArgumentError("'", text, "' is no value of ", short_name(type));
  value = minus ? -value : value;
  if (type == ElementType::F64)
    return std::bit_cast<uint64_t>(value);
  return encode(type, value);
}

Status parse_shape(std::string_view text, KernelArgument &argument) {
  const size_t first = text.find('x');
  QUAVER_ASSIGN_OR_RETURN(ElementType type, element_type(text.substr(0, first)));
  argument.descr = npy_descr(type);
  argument.memory_bytes = uint64_t(bytes_of(type));
  for (size_t at = first; at != std::string_view::npos;) {
    const size_t next = text.find('x', at + 1);
    const std::string_view digits =
        text.substr(at + 1, next == std::string_view::npos ? next : next - at - 1);
    int64_t size = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
    if (error != std::errc() || end != digits.data() + digits.size() || size < 0)
      return InvalidArgumentError("'", text, "' is no type and shape such as f32x4x8");
    argument.shape.push_back(size);
    if (__builtin_mul_overflow(argument.memory_bytes, uint64_t(size), &argument.memory_bytes) ||
        argument.memory_bytes > uint64_t{1} << 40)
      return InvalidArgumentError("'", text, "' is larger than any memory");
    at = next;
  }
  return OkStatus();
}

Status load_file(const std::string &path, KernelArgument &argument) {
  QUAVER_ASSIGN_OR_RETURN(NpyArray array, read_npy(path));
  argument.descr = array.descr;
  argument.shape = array.shape;
  argument.bytes = std::move(array.bytes);
  argument.memory_bytes = argument.bytes.size();
  return OkStatus();
}

Status parse_into(const std::string &text, KernelArgument &argument) {
  const size_t colon = text.find(':'), at = text.find('@');
  const std::string head = colon == std::string::npos ? "" : text.substr(0, colon);
  if (text.starts_with("@") || head == "out" || head == "inout")
    argument.kind = KernelArgument::Kind::kMemory;
  if (text.starts_with("@"))
    return load_file(text.substr(1), argument);
  if (head == "value")
    return load_file(text.substr(colon + 1), argument);
  if (head == "out" || head == "inout") {
    if (at == std::string::npos || at + 1 == text.size())
      return InvalidArgumentError("'", head, ":' needs '@' and the file to write");
    argument.output = text.substr(at + 1);
    const std::string source = text.substr(colon + 1, at - colon - 1);
    return head == "out" ? parse_shape(source, argument) : load_file(source, argument);
  }
  if (colon == std::string::npos)
    return InvalidArgumentError("expected @x.npy, TYPE:VALUE, out:f32x4@y.npy or inout:x.npy@y.npy");
  QUAVER_ASSIGN_OR_RETURN(ElementType type, element_type(head));
  QUAVER_ASSIGN_OR_RETURN(uint64_t bits, value_bits(type, std::string_view(text).substr(colon + 1)));
  argument.bytes.resize(size_t(bytes_of(type)));
  std::memcpy(argument.bytes.data(), &bits, argument.bytes.size());
  return OkStatus();
}

} // namespace

StatusOr<KernelArgument> parse_argument(const std::string &text) {
  KernelArgument argument;
  argument.text = text;
  const Status parsed = parse_into(text, argument);
  if (!parsed.ok())
    return Status(parsed.code(), str_cat("--arg ", text, ": ", parsed.message()));
  return argument;
}

StatusOr<Dim3> parse_dimensions(const std::string &text) {
  uint32_t sizes[3] = {1, 1, 1};
  const char *at = text.data(), *end = at + text.size();
  for (int i = 0; i < 3; ++i) {
    const auto [next, error] = std::from_chars(at, end, sizes[i]);
    if (error != std::errc())
      break;
    if (next == end)
      return Dim3{sizes[0], sizes[1], sizes[2]};
    if (*next != ',')
      break;
    at = next + 1;
  }
  return InvalidArgumentError("'", text, "' is not one to three sizes such as 8,1,1");
}

StatusOr<std::vector<std::byte>> pass_arguments(const KernelInfo &kernel,
                                                std::vector<KernelArgument> &arguments, Memory &memory) {
  if (arguments.size() != kernel.parameters.size())
    return InvalidArgumentError("kernel '", kernel.name, "' has ", kernel.parameters.size(),
                                " parameters, --arg is given ", arguments.size(), " times");
  std::vector<std::byte> params(kernel.parameter_bytes);
  for (size_t i = 0; i < arguments.size(); ++i) {
    KernelArgument &a = arguments[i];
    const KernelParameter &p = kernel.parameters[i];
    if (a.kind == KernelArgument::Kind::kMemory) {
      QUAVER_ASSIGN_OR_RETURN(a.address, memory.allocate(a.memory_bytes, str_cat("argument ", i)));
      QUAVER_RETURN_IF_ERROR(memory.copy_in(a.address, a.bytes.data(), a.bytes.size()));
    }
    const void *value =
        a.kind == KernelArgument::Kind::kMemory ? static_cast<const void *>(&a.address) : a.bytes.data();
    const size_t bytes = a.kind == KernelArgument::Kind::kMemory ? 8 : a.bytes.size();
    if (bytes != p.bytes)
      return InvalidArgumentError("--arg ", a.text, ": parameter ", i, " ('", p.name, "') of kernel '",
                                  kernel.name, "' has ", p.bytes, " bytes, the argument has ", bytes);
    std::memcpy(params.data() + p.offset, value, bytes);
  }
  return params;
}

Status save_outputs(const std::vector<KernelArgument> &arguments, const Memory &memory,
                    std::vector<std::string> &notes) {
  for (const KernelArgument &a : arguments) {
    if (a.output.empty())
      continue;
    std::vector<char> bytes(a.memory_bytes);
    if (!memory.is_written(a.address, a.memory_bytes))
      notes.push_back(
          str_cat("--arg ", a.text, ": not every byte was written; those that were not are saved as 0"));
    QUAVER_RETURN_IF_ERROR(memory.copy_out(bytes.data(), a.address, bytes.size(), /*even_unwritten=*/true));
    QUAVER_RETURN_IF_ERROR(write_npy(a.output, a.descr, a.shape, bytes));
  }
  return OkStatus();
}

} // namespace quaver::sim
