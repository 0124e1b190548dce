// Reading YAML that people write, with the line of every complaint: what policies and range files share.
#pragma once
#include "runtime/base/status.h"
#include <cstdint>
#include <string>
#include <vector>
#include <yaml-cpp/yaml.h>

namespace quaver::precision::yaml {

/// What is wrong, and where. Thrown by the readers below and caught by `read` only.
struct Complaint {
  int line; // counted from 1
  std::string what;
};

/// Counted from 1.
inline int lineOf(const YAML::Node &n) { return std::max(n.Mark().line, 0) + 1; }
/// At most 60 characters, none of them a control character: what a message may quote of a file.
std::string shortened(std::string s);

template <class List> std::string joined(const List &list) {
  std::string s;
  for (const auto &x : list)
    s += (s.empty() ? "" : ", ") + std::string(x);
  return s;
}

/// Each throws a Complaint "key: what, and what is allowed" unless the node is what its name says.
std::string scalar(const std::string &key, const YAML::Node &n);
int64_t number(const std::string &key, const YAML::Node &n); // whole, at least 0
double real(const std::string &key, const YAML::Node &n);    // finite, at least 0

template <class Allowed>
std::string oneOf(const std::string &key, const YAML::Node &n, const Allowed &allowed) {
  std::string value = scalar(key, n);
  for (const char *a : allowed)
    if (value == a)
      return value;
  throw Complaint{lineOf(n), key + ": \"" + shortened(value) + "\" is unknown; allowed: " + joined(allowed)};
}

/// One word, or a list of them.
template <class Allowed>
std::vector<std::string> someOf(const std::string &key, const YAML::Node &n, const Allowed &allowed) {
  if (!n.IsSequence())
    return {oneOf(key, n, allowed)};
  std::vector<std::string> all;
  for (const YAML::Node &item : n)
    all.push_back(oneOf(key, item, allowed));
  if (all.empty())
    throw Complaint{lineOf(n), key + ": an empty list selects nothing; allowed: " + joined(allowed)};
  return all;
}

/// Parses `text` and gives its root to `from`. An error is "NAME:LINE: what"; `kind` says what the text
/// should have been ("a policy").
template <class From>
auto read(const std::string &text, const std::string &name, const char *kind, From from)
    -> StatusOr<decltype(from(YAML::Node()))> {
  auto complain = [&](int line, const std::string &what) {
    return InvalidArgumentError(name, ":", std::to_string(line), ": ", what);
  };
  if (text.find('\0') != std::string::npos)
    return complain(1, std::string("is not text, but ") + kind + " is a YAML file");
  try {
    return from(YAML::Load(text));
  } catch (const Complaint &c) {
    return complain(c.line, c.what);
  } catch (const YAML::Exception &e) {
    return complain(std::max(e.mark.line, 0) + 1, "is not YAML: " + shortened(e.msg));
  }
}

/// The text of a file; `hint` ends the message of one that cannot be read.
StatusOr<std::string> fileText(const std::string &path, const std::string &hint);

} // namespace quaver::precision::yaml
