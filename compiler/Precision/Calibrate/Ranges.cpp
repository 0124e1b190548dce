#include "compiler/Precision/Calibrate/Ranges.h"
#include "compiler/Precision/Policy/Yaml.h"
#include "runtime/base/atomic_file.h"
#include "runtime/numerics/scale_recipe.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace quaver::precision {

using namespace yaml;

namespace {

constexpr double kTypicalShare = 0.999;
// E4M3 has normal codes down to 2^-15 of its largest: an outlier this far out leaves few octaves to the rest.
constexpr double kFarOut = 256;
constexpr const char *kFormats[] = {"e4m3", "e5m2"};

std::string text(double x) {
  char number[32];
  std::snprintf(number, sizeof number, "%.9g", x);
  return number;
}

ElementType elementOf(Format f) { return f == Format::E5M2 ? ElementType::F8E5M2 : ElementType::F8E4M3FN; }

// A magnitude that f32 holds.
double magnitude(const std::string &key, const YAML::Node &n) {
  double value = real(key, n);
  if (value > double(std::numeric_limits<float>::max()))
    throw Complaint{lineOf(n), key + ": " + text(value) + " is no value of fp32"};
  return value;
}

TensorRange tensor(const YAML::Node &n) {
  static constexpr const char *kKeys[] = {"name",     "range",      "largest", "typical",
                                          "outlying", "not_finite", "channels"};
  if (!n.IsMap())
    throw Complaint{lineOf(n), "tensors: each is a map; allowed keys: " + joined(kKeys)};
  TensorRange r;
  std::set<std::string> seen;
  for (const auto &entry : n) {
    std::string key = oneOf("tensors", entry.first, kKeys);
    const YAML::Node &value = entry.second;
    if (!seen.insert(key).second)
      throw Complaint{lineOf(entry.first), key + ": is written twice for one tensor"};
    if (key == "name") {
      r.name = scalar(key, value);
    } else if (key == "outlying") {
      r.outlying = real(key, value);
      if (r.outlying > 1)
        throw Complaint{lineOf(value), "outlying: " + text(r.outlying) + " is no share; allowed: 0 to 1"};
    } else if (key == "not_finite") {
      r.notFinite = uint64_t(number(key, value));
    } else if (key == "channels") {
      if (!value.IsSequence())
        throw Complaint{lineOf(value), "channels: must be a list of ranges"};
      for (const YAML::Node &channel : value)
        r.channels.push_back(magnitude(key, channel));
    } else {
      (key == "range" ? r.range : key == "largest" ? r.largest : r.typical) = magnitude(key, value);
    }
  }
  for (const char *needed : {"name", "range"})
    if (!seen.count(needed))
      throw Complaint{lineOf(n), std::string(needed) + ": is missing for this tensor"};
  return r;
}

Ranges rangesFrom(const YAML::Node &root) {
  static constexpr const char *kKeys[] = {"format", "method", "runs", "tensors"};
  if (!root.IsDefined() || root.IsNull())
    throw Complaint{1, "the range file is empty; it needs " + joined(kKeys)};
  if (!root.IsMap())
    throw Complaint{lineOf(root), "a range file is a map; allowed keys: " + joined(kKeys)};
  Ranges r;
  std::set<std::string> seen, names;
  for (const auto &entry : root) {
    std::string key = oneOf("ranges", entry.first, kKeys);
    const YAML::Node &value = entry.second;
    if (!seen.insert(key).second)
      throw Complaint{lineOf(entry.first), key + ": is written twice"};
    if (key == "format") {
      r.format = *formatFrom(oneOf(key, value, kFormats));
    } else if (key == "method") {
      auto method = parseMethod(scalar(key, value));
      if (!method.ok())
        throw Complaint{lineOf(value), method.status().message()};
      r.method = *method;
    } else if (key == "runs") {
      r.runs = number(key, value);
    } else {
      if (!value.IsSequence())
        throw Complaint{lineOf(value), "tensors: must be a list of maps"};
      for (const YAML::Node &n : value) {
        r.tensors.push_back(tensor(n));
        if (!names.insert(r.tensors.back().name).second)
          throw Complaint{lineOf(n), "name: \"" + shortened(r.tensors.back().name) + "\" is there twice"};
      }
    }
  }
  for (const char *needed : {"format", "tensors"})
    if (!seen.count(needed))
      throw Complaint{1, std::string(needed) + ": is missing; a range file needs it"};
  std::sort(r.tensors.begin(), r.tensors.end(),
            [](const TensorRange &a, const TensorRange &b) { return a.name < b.name; });
  return r;
}

} // namespace

const TensorRange *Ranges::find(const std::string &name) const {
  auto it = std::lower_bound(tensors.begin(), tensors.end(), name,
                             [](const TensorRange &t, const std::string &n) { return t.name < n; });
  return it != tensors.end() && it->name == name ? &*it : nullptr;
}

TensorRange rangeFrom(const std::string &name, const Magnitudes &values,
                      const std::vector<Magnitudes> &channels, const Method &method, Format format) {
  TensorRange r;
  r.name = name;
  r.range = rangeOf(values, method, format);
  r.largest = values.getLargest();
  r.typical = values.quantile(kTypicalShare);
  r.outlying = values.shareAbove(r.range);
  r.notFinite = values.getNans() + values.getInfs();
  for (const Magnitudes &m : channels)
    r.channels.push_back(rangeOf(m, method, format));
  return r;
}

std::string textOf(const Ranges &ranges) {
  YAML::Emitter out;
  out << YAML::Comment(
      "range: the magnitude that becomes the largest value of the format; 0 where nothing but "
      "zeros was seen.\noutlying: share of the values beyond it. typical: 99.9 % do not "
      "exceed it.");
  out << YAML::BeginMap << YAML::Key << "format" << YAML::Value << nameOf(ranges.format) << YAML::Key
      << "method" << YAML::Value << nameOf(ranges.method) << YAML::Key << "runs" << YAML::Value << ranges.runs
      << YAML::Key << "tensors" << YAML::Value << YAML::BeginSeq;
  for (const TensorRange &t : ranges.tensors) {
    out << YAML::BeginMap << YAML::Key << "name" << YAML::Value << YAML::DoubleQuoted << t.name;
    auto field = [&](const char *key, double value) {
      out << YAML::Key << key << YAML::Value << text(value);
    };
    field("range", t.range);
    field("largest", t.largest);
    field("typical", t.typical);
    if (t.outlying > 0)
      field("outlying", t.outlying);
    if (t.notFinite)
      out << YAML::Key << "not_finite" << YAML::Value << t.notFinite;
    if (!t.channels.empty()) {
      out << YAML::Key << "channels" << YAML::Value << YAML::Flow << YAML::BeginSeq;
      for (double c : t.channels)
        out << text(c);
      out << YAML::EndSeq;
    }
    out << YAML::EndMap;
  }
  out << YAML::EndSeq << YAML::EndMap << YAML::Newline;
  return out.c_str();
}

StatusOr<Ranges> parseRanges(const std::string &text, const std::string &name) {
  auto r = yaml::read(text, name, "a range file", rangesFrom);
  if (r.ok())
    r->file = name;
  return r;
}

StatusOr<Ranges> loadRanges(const std::string &path) {
  QUAVER_ASSIGN_OR_RETURN(
      std::string text,
      fileText(path, "the range file cannot be read; `quaver calibrate` writes such files"));
  return parseRanges(text, path);
}

Status saveRanges(const Ranges &ranges, const std::string &path) {
  return write_file_atomically(path, textOf(ranges));
}

float scaleOf(double range, Format format) {
  return scale_of(default_spec(ScaleRecipe::PerTensor, elementOf(format)), float(range));
}

std::vector<std::string> lintRanges(const Ranges &ranges) {
  std::vector<std::string> all;
  double max = decode(elementOf(ranges.format), encode(elementOf(ranges.format), INFINITY));
  for (const TensorRange &t : ranges.tensors) {
    std::string who = "range of \"" + t.name + "\": ",
                keep =
                    "a rule {match: \"" + t.name.substr(0, t.name.rfind(':')) + "\", scaling: dynamic, ...}";
    if (t.notFinite)
      all.push_back(who + std::to_string(t.notFinite) +
                    " values were NaN or Inf and are not counted: look for their source in the data or the "
                    "model before you trust this range");
    if (t.range == 0)
      all.push_back(who + "is 0, nothing but zeros was seen in " + std::to_string(ranges.runs) +
                    " runs, so its scale says nothing: calibrate with inputs that reach this op, or write " +
                    keep);
    else if (t.range / max < double(std::numeric_limits<float>::min()))
      all.push_back(
          who + text(t.range) + " would give the subnormal scale " + text(t.range / max) +
          "; the smallest normal one is taken instead: check that the op is computed at all, or write " +
          keep);
    else if (t.typical > 0 && t.range > kFarOut * t.typical)
      all.push_back(
          who + text(t.range) + " is " + text(std::round(t.range / t.typical)) +
          " times what 99.9 % of the values stay "
          "below (" +
          text(t.typical) +
          "), which leaves them few codes: calibrate with the method percentile:99.9 or mse, or write " +
          keep);
    size_t dead = size_t(std::count(t.channels.begin(), t.channels.end(), 0.0));
    if (dead && t.range > 0)
      all.push_back(who + std::to_string(dead) + " of its " + std::to_string(t.channels.size()) +
                    " channels held nothing but zeros: prune them, or calibrate with inputs that reach them");
  }
  return all;
}

} // namespace quaver::precision
