//===- tensor_exchange.h - Python objects and the runtime's tensors ---------===//
#pragma once

#include "runtime/api/quaver.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <string>
#include <vector>

namespace quaver::python {

namespace nb = nanobind;

/// Raises quaver's exception for a failed status.
void check(qv_status *status);

/// Inputs as the C interface takes them, and what keeps their memory alive.
class Feed {
public:
  /// inputs: {name: (uint8 array, type number, shape) or an object with __dlpack__ in CPU memory}.
  explicit Feed(nb::dict inputs);
  const std::vector<qv_input> &inputs() const { return inputs_; }

private:
  using Any = nb::ndarray<nb::ro, nb::device::cpu>;
  struct Kept {
    std::string name;
    std::vector<int64_t> shape;
    Any array;
  };
  void add_bytes(Kept &kept, nb::tuple parts);
  void add_dlpack(Kept &kept, nb::handle object);

  std::vector<Kept> kept_;
  std::vector<qv_input> inputs_;
};

/// An array of no framework, with __dlpack__.
using Tensor = nb::ndarray<nb::array_api, nb::device::cpu>;

/// (uint8 array of one dimension, type number, shape); takes the output's buffer.
nb::tuple to_bytes(const qv_output &output);
/// An array with __dlpack__; takes the output's buffer.
nb::object to_dlpack(const qv_output &output);

} // namespace quaver::python
