// Compiles the first plan.dispatch of a module and runs it in this process.
#pragma once
#include "dialects/Plan/IR/Packing.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace quaver::test {

struct CompiledKernel {
  using Function = void (*)(void *const *, const int64_t *, int64_t, int64_t, void *);
  Function run = nullptr;
  int64_t workgroups = 0, scratch = 0;
  std::vector<int64_t> constants;
  std::vector<plan_ir::Packing> packings;
  std::string error, description;
  double milliseconds = 0;
};

/// `dispatch` is the text of a func.func @f with `graph.dims` on its arguments and one plan.dispatch; `dims`
/// binds the symbols.
CompiledKernel compileKernel(const std::string &text, const std::map<std::string, int64_t> &dims,
                             const std::string &target = "x86-64-v3");

/// Runs the whole range, in pieces of `piece` workgroups.
void runKernel(const CompiledKernel &kernel, const std::vector<void *> &bindings, int64_t piece = 1 << 30);

} // namespace quaver::test
