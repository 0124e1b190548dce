//===- input_shapes.cpp - from input shapes to dimension symbols ------------===//
#include "runtime/executor/input_shapes.h"

#include "runtime/plan/element_type.h"

namespace quaver {
namespace {

std::string quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

std::string list_names(const plan::Entry &entry) {
  std::string text;
  for (const plan::TensorType &input : entry.inputs())
    text += (text.empty() ? "" : ", ") + quoted(input.name());
  return text.empty() ? "none" : text;
}

std::string describe_shape(std::span<const int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::string describe_dims(const plan::TensorType &type) {
  std::string text = "[";
  for (int i = 0; i < type.shape_size(); ++i)
    text += (i ? ", " : "") + (i < type.dim_names_size() ? type.dim_names(i) : "?");
  return text + "]";
}

/// "input 'x', dimension 1 ('sequence')"
std::string where(const plan::TensorType &input, int axis) {
  std::string text = "input " + quoted(input.name()) + ", dimension " + std::to_string(axis);
  if (axis < input.dim_names_size())
    text += " (" + quoted(input.dim_names(axis)) + ")";
  return text;
}

Status check_limits(const plan::Dim &dim, int64_t got, const plan::TensorType &input, int axis) {
  bool fits = got >= dim.min() && (dim.max() == 0 || got <= dim.max()) &&
              (dim.multiple_of() <= 1 || got % dim.multiple_of() == 0);
  if (fits)
    return OkStatus();
  std::string text = where(input, axis) + " is " + std::to_string(got) + ", but " + quoted(dim.name());
  if (got < dim.min())
    return InvalidArgumentError(text + " must be at least " + std::to_string(dim.min()));
  if (dim.max() != 0 && got > dim.max())
    return InvalidArgumentError(text + " must be at most " + std::to_string(dim.max()) +
                                ": compile with --dim " + dim.name() + "=MIN:MAX for other limits");
  return InvalidArgumentError(text + " must be a multiple of " + std::to_string(dim.multiple_of()));
}

} // namespace

Status match_inputs(const plan::Entry &entry, std::span<const RunInput> inputs,
                    std::vector<const TensorView *> *out_inputs) {
  out_inputs->assign(entry.inputs_size(), nullptr);
  for (size_t given = 0; given < inputs.size(); ++given) {
    const RunInput &input = inputs[given];
    // Callers mostly keep the entry's order, so look at the same place first.
    int index = -1;
    if (given < static_cast<size_t>(entry.inputs_size()) &&
        entry.inputs(static_cast<int>(given)).name() == input.name)
      index = static_cast<int>(given);
    for (int i = 0; index < 0 && i < entry.inputs_size(); ++i)
      if (entry.inputs(i).name() == input.name)
        index = i;
    if (index < 0)
      return InvalidArgumentError("there is no input " + quoted(input.name) + "; entry " +
                                  quoted(entry.name()) + " takes " + list_names(entry));
    if ((*out_inputs)[index])
      return InvalidArgumentError("input " + quoted(input.name) + " is given twice");
    (*out_inputs)[index] = &input.tensor;
  }
  for (int i = 0; i < entry.inputs_size(); ++i)
    if (!(*out_inputs)[i])
      return InvalidArgumentError("input " + quoted(entry.inputs(i).name()) + " is missing; entry " +
                                  quoted(entry.name()) + " takes " + list_names(entry));
  return OkStatus();
}

Status check_ranks(const plan::Entry &entry, std::span<const TensorView *const> inputs) {
  for (int i = 0; i < entry.inputs_size(); ++i) {
    const plan::TensorType &want = entry.inputs(i);
    if (inputs[i]->shape.size() != static_cast<size_t>(want.shape_size()))
      return InvalidArgumentError("input " + quoted(want.name()) + " has shape " +
                                  describe_shape(inputs[i]->shape) + " of rank " +
                                  std::to_string(inputs[i]->shape.size()) + ", expected rank " +
                                  std::to_string(want.shape_size()) + ": " + describe_dims(want));
  }
  return OkStatus();
}

Status check_inputs(const plan::Entry &entry, std::span<const TensorView *const> inputs) {
  QUAVER_RETURN_IF_ERROR(check_ranks(entry, inputs));
  for (int i = 0; i < entry.inputs_size(); ++i) {
    const plan::TensorType &want = entry.inputs(i);
    const TensorView &got = *inputs[i];
    std::string name = "input " + quoted(want.name());
    if (got.type != want.type())
      return InvalidArgumentError(name + " has element type " + std::string(plan::element_name(got.type)) +
                                  ", expected " + std::string(plan::element_name(want.type())));
    size_t element = plan::element_bytes(want.type()), bytes = element;
    for (int64_t dim : got.shape)
      if (dim < 0 || __builtin_mul_overflow(bytes, static_cast<size_t>(dim), &bytes))
        return InvalidArgumentError(name + " has the impossible shape " + describe_shape(got.shape));
    if (got.bytes != bytes)
      return InvalidArgumentError(name + " of shape " + describe_shape(got.shape) + " has " +
                                  std::to_string(got.bytes) + " bytes, expected " + std::to_string(bytes));
    if (bytes && !got.data)
      return InvalidArgumentError(name + " has no data");
    if (reinterpret_cast<uintptr_t>(got.data) % element != 0)
      return InvalidArgumentError(name + " is not aligned to its elements of " + std::to_string(element) +
                                  " bytes: copy it to aligned memory first");
  }
  return OkStatus();
}

Status bind_input_shapes(const plan::Plan &plan, const EntryProgram &program,
                         std::span<const TensorView *const> inputs, SizeValues &values) {
  const plan::Entry &entry = program.entry();
  const SizeProgram &sizes = program.sizes();
  sizes.prepare(values);
  struct Place {
    int input = 0, axis = 0;
  };
  std::vector<Place> bound_by(plan.dims_size());
  for (int i = 0; i < entry.inputs_size(); ++i)
    for (int axis = 0; axis < entry.inputs(i).shape_size(); ++axis) {
      const plan::Expr &expr = plan.exprs(static_cast<int>(entry.inputs(i).shape(axis)));
      if (expr.kind() != plan::Expr::DIM)
        continue;
      int64_t got = inputs[i]->shape[axis];
      size_t dim = static_cast<size_t>(expr.value());
      if (values.dim_bound[dim]) {
        if (values.dims[dim] != got)
          return InvalidArgumentError(where(entry.inputs(i), axis) + " is " + std::to_string(got) +
                                      ", expected " + std::to_string(values.dims[dim]) + " as in " +
                                      where(entry.inputs(bound_by[dim].input), bound_by[dim].axis));
        continue;
      }
      QUAVER_RETURN_IF_ERROR(check_limits(plan.dims(static_cast<int>(dim)), got, entry.inputs(i), axis));
      values.dims[dim] = got;
      values.dim_bound[dim] = 1;
      bound_by[dim] = {i, axis};
    }
  sizes.evaluate(values);
  for (int i = 0; i < entry.inputs_size(); ++i)
    for (int axis = 0; axis < entry.inputs(i).shape_size(); ++axis) {
      uint32_t slot = sizes.slot(entry.inputs(i).shape(axis));
      int64_t got = inputs[i]->shape[axis];
      if (values.states[slot] != SizeState::kKnown)
        return sizes.explain(values, slot, where(entry.inputs(i), axis));
      if (values.values[slot] != got)
        return InvalidArgumentError(where(entry.inputs(i), axis) + " is " + std::to_string(got) +
                                    ", expected " + std::to_string(values.values[slot]));
    }
  return OkStatus();
}

} // namespace quaver
