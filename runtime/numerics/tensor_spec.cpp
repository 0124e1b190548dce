#include "runtime/numerics/tensor_spec.h"
#include "runtime/base/str_cat.h"
#include "runtime/numerics/codec.h"
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>

namespace quaver {
namespace {

constexpr double kMostElements = 1e10;

// SplitMix64 (Steele, Lea and Flood, 2014): the n-th number of a seed, without state.
uint64_t random_bits(uint64_t seed, uint64_t n) {
  uint64_t z = seed * 0x9E3779B97F4A7C15 + (n + 1) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}
double uniform(uint64_t seed, uint64_t n) { return double(random_bits(seed, n) >> 11) * 0x1p-53; }

std::string_view trim(std::string_view s) {
  while (!s.empty() && s.front() == ' ')
    s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ')
    s.remove_suffix(1);
  return s;
}

template <class T> std::optional<T> number(std::string_view text) {
  text = trim(text);
  if (text.starts_with('+'))
    text.remove_prefix(1);
  T value;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

// "name(a,b)" as its two numbers.
std::optional<std::pair<double, double>> two_numbers(std::string_view text, std::string_view name) {
  if (!text.starts_with(name))
    return std::nullopt;
  text.remove_prefix(name.size());
  size_t comma = text.find(',');
  if (!text.starts_with('(') || !text.ends_with(')') || comma == text.npos)
    return std::nullopt;
  auto a = number<double>(text.substr(1, comma - 1));
  auto b = number<double>(text.substr(comma + 1, text.size() - comma - 2));
  if (!a || !b)
    return std::nullopt;
  return std::pair(*a, *b);
}

void store(ElementType type, double v, char *to) {
  uint64_t bits = type == ElementType::F64 ? std::bit_cast<uint64_t>(v)
                  : is_float(type)         ? encode(type, v)
                                           : 0;
  if (type == ElementType::F32)
    bits = std::bit_cast<uint32_t>(float(v));
  else if (type == ElementType::BOOL)
    bits = v != 0;
  else if (!is_float(type))
    bits = v < 0 ? uint64_t(int64_t(v)) : uint64_t(v);
  std::memcpy(to, &bits, size_t(bytes_of(type)));
}

} // namespace

StatusOr<SpelledTensor> parse_tensor_spec(std::string_view spec, uint64_t seed) {
  auto bad = [&](auto... why) { return InvalidArgumentError("'", spec, "': ", why...); };
  size_t equals = spec.find('=');
  if (equals == spec.npos)
    return bad("expected SHAPExTYPE=VALUE, as 1x128xi64=rand(0,32000)");
  std::string_view shape = spec.substr(0, equals), value = trim(spec.substr(equals + 1));
  SpelledTensor tensor;
  double elements = 1;
  for (;;) {
    size_t x = shape.find('x');
    if (x == shape.npos)
      break;
    auto size = number<int64_t>(shape.substr(0, x));
    if (!size || *size < 0)
      return bad("'", shape.substr(0, x), "' is not a size");
    tensor.shape.push_back(*size);
    elements *= double(*size);
    shape.remove_prefix(x + 1);
  }
  tensor.type = element_type_from_mlir_name(shape).value_or(
      element_type_from_short_name(shape).value_or(ElementType::Invalid));
  if (tensor.type == ElementType::Invalid)
    return bad("'", shape, "' is not an element type; f32, bf16, i64, bool ... are");
  if (elements > kMostElements)
    return bad("is too large to be made up");
  size_t n = size_t(elements), width = size_t(bytes_of(tensor.type));
  tensor.bytes.resize(n * width);
  auto fill = [&](auto &&element) {
    for (size_t i = 0; i < n; ++i)
      store(tensor.type, element(i), tensor.bytes.data() + i * width);
  };
  if (auto range = two_numbers(value, "rand")) {
    auto [low, high] = *range;
    if (!(low < high))
      return bad("rand needs LOW < HIGH");
    fill([&](size_t i) {
      double v = low + uniform(seed, i) * (high - low);
      return is_float(tensor.type) ? v : std::floor(v);
    });
  } else if (auto normal = two_numbers(value, "normal")) {
    fill([&](size_t i) {
      double u = 1 - uniform(seed, 2 * i), v = uniform(seed, 2 * i + 1); // u > 0
      return normal->first + normal->second * std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * v);
    });
  } else if (auto constant = number<double>(value)) {
    fill([&](size_t) { return *constant; });
  } else {
    return bad("after '=' comes rand(LOW,HIGH), normal(MEAN,DEVIATION) or a number");
  }
  return tensor;
}

} // namespace quaver
