#include "compiler/Precision/Policy/Yaml.h"
#include <cmath>
#include <fstream>
#include <sstream>

namespace quaver::precision::yaml {

std::string shortened(std::string s) {
  for (char &c : s)
    if (static_cast<unsigned char>(c) < 32)
      c = '?';
  return s.size() > 60 ? s.substr(0, 57) + "..." : s;
}

std::string scalar(const std::string &key, const YAML::Node &n) {
  if (!n.IsScalar())
    throw Complaint{lineOf(n), key + ": must be one word or number"};
  return n.Scalar();
}

int64_t number(const std::string &key, const YAML::Node &n) {
  std::string text = scalar(key, n);
  int64_t value = 0;
  bool fits = !text.empty() && text.size() < 18;
  for (char c : text) {
    fits = fits && c >= '0' && c <= '9';
    value = fits ? value * 10 + (c - '0') : value;
  }
  if (!fits)
    throw Complaint{lineOf(n),
                    key + ": \"" + shortened(text) + "\" is no number; allowed: a whole number, at least 0"};
  return value;
}

double real(const std::string &key, const YAML::Node &n) {
  std::string text = scalar(key, n);
  char *end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end || !std::isfinite(value) || value < 0)
    throw Complaint{lineOf(n),
                    key + ": \"" + shortened(text) + "\" is no number; allowed: a finite number, at least 0"};
  return value;
}

StatusOr<std::string> fileText(const std::string &path, const std::string &hint) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  if (file && (text << file.rdbuf()))
    return text.str();
  // An empty file makes `<<` fail, too: it was opened, so it is told apart.
  return file.is_open() ? StatusOr<std::string>(std::string())
                        : StatusOr<std::string>(NotFoundError(path, ": ", hint));
}

} // namespace quaver::precision::yaml
