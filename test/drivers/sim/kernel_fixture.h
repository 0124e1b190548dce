// Runs a kernel that a test writes as PTX.
#pragma once
#include "runtime/drivers/sim/machine/launch.h"
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace quaver::sim {

/// A module made of one kernel "k" with 64-bit parameters p0, p1, ...; `body` is what stands between its
/// braces.
inline std::string kernel_text(const std::string &body, int parameters, const std::string &before = "") {
  std::string text = ".version 8.0\n.target sm_90a\n.address_size 64\n" + before + "\n.visible .entry k(";
  for (int i = 0; i < parameters; ++i)
    text += (i ? ", " : "") + std::string(".param .u64 p") + std::to_string(i);
  return text + ")\n{\n" + body + "\n}\n";
}

struct KernelRun {
  Memory memory;
  std::vector<uint64_t> buffers; // addresses, given as parameters
  LaunchOptions options;
  std::vector<std::string> notes;

  /// A buffer of never-written words.
  void add(size_t words) {
    buffers.push_back(*memory.allocate(words * 4, "buffer " + std::to_string(buffers.size())));
  }
  void add(const std::vector<uint32_t> &words) {
    add(words.size());
    memory.copy_in(buffers.back(), words.data(), words.size() * 4).ignore_error();
  }
  std::vector<uint32_t> words(size_t buffer, size_t count) const {
    std::vector<uint32_t> out(count);
    const Status copied = memory.copy_out(out.data(), buffers[buffer], count * 4);
    EXPECT_TRUE(copied.ok()) << copied.message();
    return out;
  }
  StatusOr<Counters> run(const std::string &text, Dim3 grid, Dim3 block, uint32_t shared = 0) {
    QUAVER_ASSIGN_OR_RETURN(std::shared_ptr<Module> module, Module::parse(text, "test.ptx"));
    QUAVER_ASSIGN_OR_RETURN(std::shared_ptr<LoadedModule> loaded, LoadedModule::load(module, memory));
    options.notes = &notes;
    return launch(*loaded, "k", grid, block, shared, std::as_bytes(std::span(buffers)), options);
  }
};

/// The message of a fault; empty when there is none.
inline std::string fault_of(const StatusOr<Counters> &result) {
  return result.ok() ? "" : result.status().message();
}

} // namespace quaver::sim
