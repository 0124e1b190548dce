//===- describe.cpp - inputs, outputs and states for the C interface --------===//
#include "runtime/api/handles.h"

#include "runtime/plan/element_type.h"

namespace quaver::api {
namespace {

qv_dim describe_dim(const plan::Plan &plan, const plan::TensorType &type, int axis) {
  const plan::Expr &expr = plan.exprs(static_cast<int>(type.shape(axis)));
  qv_dim dim{axis < type.dim_names_size() ? type.dim_names(axis).c_str() : "", -1, 0, 0, 1};
  if (expr.kind() == plan::Expr::CONSTANT) {
    dim.size = dim.min = dim.max = expr.value();
  } else if (expr.kind() == plan::Expr::DIM) {
    const plan::Dim &symbol = plan.dims(static_cast<int>(expr.value()));
    dim.min = symbol.min();
    dim.max = symbol.max();
    dim.multiple_of = symbol.multiple_of() > 0 ? symbol.multiple_of() : 1;
  }
  return dim;
}

EntryDescription::Tensor describe_tensor(const plan::Plan &plan, const plan::TensorType &type) {
  EntryDescription::Tensor tensor;
  for (int axis = 0; axis < type.shape_size(); ++axis)
    tensor.dims.push_back(describe_dim(plan, type, axis));
  // The vector's storage stays where it is when the Tensor is moved.
  tensor.info = {type.name().c_str(), static_cast<qv_type>(type.type()), type.shape_size(),
                 tensor.dims.data()};
  return tensor;
}

} // namespace

void describe(SharedSession &shared) {
  const plan::Plan &plan = shared.model->plan();
  for (const EntryProgram &program : shared.session->entries()) {
    EntryDescription entry;
    for (const plan::TensorType &input : program.entry().inputs())
      entry.inputs.push_back(describe_tensor(plan, input));
    for (const plan::TensorType &output : program.entry().outputs())
      entry.outputs.push_back(describe_tensor(plan, output));
    entry.peak_formula = program.peak_formula();
    shared.entries.push_back(std::move(entry));
  }
  for (const plan::State &state : plan.states())
    shared.states.push_back(describe_tensor(plan, state.type()));
}

} // namespace quaver::api

size_t qv_type_bytes(qv_type type) {
  return quaver::plan::element_bytes(static_cast<quaver::plan::ElementType>(type));
}

const char *qv_type_name(qv_type type) {
  return quaver::plan::element_name(static_cast<quaver::plan::ElementType>(type)).data();
}
