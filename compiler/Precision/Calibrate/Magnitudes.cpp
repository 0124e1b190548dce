#include "compiler/Precision/Calibrate/Magnitudes.h"
#include "runtime/numerics/codec.h"
#include <algorithm>
#include <bit>
#include <cmath>

namespace quaver::precision {
namespace {

constexpr int kFloatMantissa = 23;
constexpr uint32_t kInfBits = 0x7F800000;
constexpr int kStepsAnOctave = 8, kOctaves = 8; // ranges that a search tries

double edge(uint32_t bin, int mantissaBits) {
  uint32_t bits = bin << (kFloatMantissa - mantissaBits);
  return bits >= kInfBits ? std::ldexp(1.0, 128) : double(std::bit_cast<float>(bits));
}

ElementType elementOf(Format f) { return f == Format::E5M2 ? ElementType::F8E5M2 : ElementType::F8E4M3FN; }

// One value by its FP8 code, as a kernel renders it: division and product in f32.
float rendered(ElementType element, float x, float scale) {
  return decode(element, encode(element, x / scale)) * scale;
}

double squaredError(const std::vector<Magnitudes::Bin> &bins, ElementType element, float scale) {
  double sum = 0;
  for (const auto &b : bins) {
    float middle = float((b.low + b.high) / 2);
    double e = double(middle) - rendered(element, middle, scale);
    sum += e * e * double(b.count);
  }
  return sum;
}

double divergence(const std::vector<Magnitudes::Bin> &bins, ElementType element, float scale, double range) {
  size_t end = 0; // bins below the range
  while (end < bins.size() && bins[end].low < range)
    ++end;
  if (end == 0)
    return INFINITY;
  double above = 0, total = 0;
  for (size_t i = 0; i < bins.size(); ++i)
    (i < end ? total : above) += double(bins[i].count);
  double sum = 0;
  for (size_t i = 0; i < end;) {
    // Bins of one code, and their mean mass.
    auto codeOf = [&](size_t at) {
      return encode(element, float((bins[at].low + bins[at].high) / 2) / scale);
    };
    size_t last = i;
    double mass = 0;
    for (uint32_t code = codeOf(i); last < end && codeOf(last) == code; ++last)
      mass += double(bins[last].count);
    double q = mass / double(last - i) / total;
    for (; i < last; ++i) {
      double p = (double(bins[i].count) + (i + 1 == end ? above : 0)) / (total + above);
      sum += p * std::log(p / q);
    }
  }
  return sum;
}

} // namespace

void Magnitudes::add(float x) {
  uint32_t bits = std::bit_cast<uint32_t>(x) & 0x7FFFFFFF;
  if (bits >= kInfBits) {
    ++(bits == kInfBits ? infs : nans);
    return;
  }
  ++finite;
  if (bits == 0) {
    ++zeros;
    return;
  }
  largest = std::max(largest, std::bit_cast<float>(bits));
  uint32_t bin = bits >> (kFloatMantissa - mantissaBits), octave = bin >> mantissaBits << mantissaBits,
           size = 1u << mantissaBits;
  if (counts.empty())
    first = octave;
  if (octave < first) {
    counts.insert(counts.begin(), first - octave, 0);
    first = octave;
  }
  if (octave + size > first + counts.size())
    counts.resize(octave + size - first, 0);
  ++counts[bin - first];
}

void Magnitudes::add(std::span<const float> values) {
  for (float x : values)
    add(x);
}

void Magnitudes::merge(const Magnitudes &other) {
  assert(mantissaBits == other.mantissaBits && "bins of two sizes cannot be merged");
  finite += other.finite, zeros += other.zeros, nans += other.nans, infs += other.infs;
  largest = std::max(largest, other.largest);
  if (other.counts.empty())
    return;
  if (counts.empty())
    first = other.first;
  uint32_t from = std::min(first, other.first);
  size_t end = std::max(first + counts.size(), other.first + other.counts.size());
  counts.insert(counts.begin(), first - from, 0);
  first = from;
  counts.resize(end - from, 0);
  for (size_t i = 0; i < other.counts.size(); ++i)
    counts[other.first - first + i] += other.counts[i];
}

std::vector<Magnitudes::Bin> Magnitudes::getBins() const {
  std::vector<Bin> bins;
  for (size_t i = 0; i < counts.size(); ++i)
    if (counts[i])
      bins.push_back(
          {edge(first + uint32_t(i), mantissaBits), edge(first + uint32_t(i) + 1, mantissaBits), counts[i]});
  return bins;
}

double Magnitudes::quantile(double share) const {
  double wanted = share * double(finite), seen = double(zeros);
  if (seen >= wanted)
    return 0;
  for (const Bin &b : getBins())
    if (seen += double(b.count); seen >= wanted)
      return std::min(b.high, double(largest));
  return largest;
}

double Magnitudes::shareAbove(double range) const {
  uint64_t above = 0;
  for (const Bin &b : getBins())
    if ((b.low + b.high) / 2 > range && double(largest) > range)
      above += b.count;
  return finite ? double(above) / double(finite) : 0;
}

Status addChannels(std::vector<Magnitudes> &channels, std::span<const float> values,
                   std::span<const int64_t> shape, int64_t axis) {
  assert(axis >= 0 && axis < int64_t(shape.size()) && "the axis is one of the tensor's");
  size_t count = size_t(shape[size_t(axis)]), inner = 1;
  for (size_t d = size_t(axis) + 1; d < shape.size(); ++d)
    inner *= size_t(shape[d]);
  if (channels.empty())
    channels.assign(count, Magnitudes(Magnitudes::kCoarseBits));
  if (channels.size() != count)
    return InvalidArgumentError("has ", count, " channels in this run and had ", channels.size(),
                                " in the runs before it");
  for (size_t i = 0; i < values.size(); ++i)
    channels[i / inner % count].add(values[i]);
  return OkStatus();
}

StatusOr<Method> parseMethod(const std::string &text) {
  using Kind = Method::Kind;
  if (text == "absmax")
    return Method{Kind::AbsMax};
  if (text == "mse")
    return Method{Kind::Mse};
  if (text == "entropy")
    return Method{Kind::Entropy};
  if (text == "percentile")
    return Method{Kind::Percentile};
  static constexpr std::string_view kPrefix = "percentile:";
  if (text.starts_with(kPrefix)) {
    const char *from = text.c_str() + kPrefix.size();
    char *end = nullptr;
    double p = std::strtod(from, &end);
    if (end != from && !*end && p > 0 && p <= 100)
      return Method{Kind::Percentile, p};
    return InvalidArgumentError("method \"", text, "\": the percentile must be above 0 and at most 100");
  }
  return InvalidArgumentError("method \"", text,
                              "\" is unknown; there is absmax, percentile:99.99, mse, entropy");
}

std::string nameOf(const Method &m) {
  switch (m.kind) {
  case Method::Kind::AbsMax:
    return "absmax";
  case Method::Kind::Mse:
    return "mse";
  case Method::Kind::Entropy:
    return "entropy";
  case Method::Kind::Percentile:
    break;
  }
  char number[32];
  std::snprintf(number, sizeof number, "%.10g", m.percentile);
  return std::string("percentile:") + number;
}

double rangeOf(const Magnitudes &magnitudes, const Method &method, Format format) {
  double largest = magnitudes.getLargest();
  if (method.kind == Method::Kind::AbsMax || largest == 0)
    return largest;
  if (method.kind == Method::Kind::Percentile) {
    // Among mostly zeros a percentile says nothing of the values there are.
    double range = magnitudes.quantile(method.percentile / 100);
    return range > 0 ? range : largest;
  }
  ElementType element = elementOf(format);
  double max = decode(element, encode(element, INFINITY)), best = largest, least = INFINITY;
  std::vector<Magnitudes::Bin> bins = magnitudes.getBins();
  for (int i = 0; i <= kStepsAnOctave * kOctaves; ++i) {
    double range = largest * std::exp2(-double(i) / kStepsAnOctave);
    float scale = std::max(float(range / max), 0x1p-126f);
    double loss = method.kind == Method::Kind::Mse ? squaredError(bins, element, scale)
                                                   : divergence(bins, element, scale, range);
    if (loss < least)
      least = loss, best = range;
  }
  return best;
}

} // namespace quaver::precision
