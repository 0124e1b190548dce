// Emits, compiles and runs the kernel of one loop-kind op in this process.
#pragma once
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace quaver::test {

using Bytes = std::vector<char>;
template <class T> Bytes bytesOf(std::vector<T> v) {
  Bytes out(v.size() * sizeof(T));
  if (!v.empty())
    std::memcpy(out.data(), v.data(), out.size());
  return out;
}
template <class T> std::vector<T> valuesOf(const Bytes &b) {
  std::vector<T> v(b.size() / sizeof(T));
  if (!b.empty())
    std::memcpy(v.data(), b.data(), b.size());
  return v;
}

struct LoopRun {
  std::string error; // empty: it ran
  std::vector<Bytes> outputs;
};

/// `region` is the dispatch: `plan.dispatch %a, %b : (...) -> (...) { ... }` inside a function of `arguments`
/// ("%a: tensor<?xf32> {graph.dims = [\"n\"]}"). Every workgroup runs alone, last first, on outputs of
/// `outputBytes` bytes filled with 0xA5 and scratch of exactly the stated size.
LoopRun runLoopKernel(const std::string &arguments, const std::string &region,
                      const std::map<std::string, int64_t> &symbols, const std::vector<Bytes> &inputs,
                      const std::vector<size_t> &outputBytes);

} // namespace quaver::test
