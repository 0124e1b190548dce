//===- tensor.h - what callers hand in and get back -------------------------===//
#pragma once

#include "runtime/hal/buffer.h"
#include "runtime/plan/plan.pb.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quaver {

/// Where a caller's bytes lie. On the host device both are the same.
enum class MemorySpace { kHost, kDevice };

/// A dense row-major tensor that the caller owns. It stays valid and unchanged until the run has completed.
struct TensorView {
  plan::ElementType type = plan::ELEMENT_INVALID;
  std::span<const int64_t> shape;
  const void *data = nullptr; // aligned for its elements
  size_t bytes = 0;
  MemorySpace space = MemorySpace::kHost;
};

/// An input of a run, by name.
struct RunInput {
  std::string_view name;
  TensorView tensor;
};

/// An output of a run, by name. With `data` set the result is written there (its size is known beforehand
/// from Session::output_bytes); without, the run allocates memory of `space` and leaves it in `allocated`.
struct RunOutput {
  std::string_view name;
  void *data = nullptr;
  size_t capacity = 0; // bytes at `data`
  MemorySpace space = MemorySpace::kHost;

  // Results, valid when run() returns without an error; the bytes once the run has completed.
  plan::ElementType type = plan::ELEMENT_INVALID;
  std::vector<int64_t> shape;
  size_t bytes = 0;
  std::unique_ptr<hal::Buffer> allocated;
};

} // namespace quaver
