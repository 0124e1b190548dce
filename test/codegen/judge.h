// Compiles a cluster and compares its results with the interpreter's.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace quaver::test {

using Sizes = std::map<std::string, int64_t>;

struct Argument {
  std::string name, type; // "?x?xf32"
  std::vector<std::string> dims;
  int64_t low = -3, high = 3; // of integers
  bool isWeight = false;      // a graph.weight of the module
};
struct Case {
  std::string name;
  std::vector<Argument> arguments;
  std::string body;                                         // ends in plan.yield
  std::vector<std::pair<std::string, std::string>> results; // value, type
  std::vector<Sizes> sizes;
  double tolerance = 0;    // relative to max(1, |want|)
  std::string kernel = {}; // what the kernel's description must name
};

/// Fails the current test where a result differs, writes past its end, or depends on how workgroups are
/// split.
void judge(const Case &c, const std::string &target);
/// On every x86 target whose kernels this machine runs.
void judgeOnAllTargets(const Case &c);

} // namespace quaver::test
