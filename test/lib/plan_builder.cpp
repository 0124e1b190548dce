//===- plan_builder.cpp - plans written by hand, for tests of the runtime ---===//
#include "test/lib/plan_builder.h"

#include "runtime/plan/element_type.h"
#include "test/lib/test_kernels.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace quaver::test {
namespace {

constexpr const char *kModulePath = "targets/x86-64-v3/test_kernels.so";

void set(plan::Binding *binding, const B &from, bool written) {
  binding->set_buffer(from.buffer);
  binding->set_offset(from.offset.index);
  binding->set_written(written);
}

} // namespace

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

plan::Launch &BlockBuilder::launch(const std::string &kernel, std::vector<B> bindings,
                                   std::vector<E> constants, E workgroups, E scratch, E grain) {
  plan::Launch &launch = *block_.add_instructions()->mutable_launch();
  launch.set_kernel(plan_.kernel(kernel));
  launch.set_workgroups(workgroups.index);
  for (const B &binding : bindings)
    set(launch.add_bindings(), binding, binding.written);
  for (E constant : constants)
    launch.add_constants(constant.index);
  launch.set_scratch_bytes(scratch.index);
  launch.set_grain(grain.index);
  launch.set_label(kernel);
  return launch;
}

void BlockBuilder::copy(B from, B to, E bytes) {
  plan::Copy &copy = *block_.add_instructions()->mutable_copy();
  set(copy.mutable_from(), from, false);
  set(copy.mutable_to(), to, true);
  copy.set_bytes(bytes.index);
}

void BlockBuilder::fill(B to, E bytes, uint8_t byte) {
  plan::Fill &fill = *block_.add_instructions()->mutable_fill();
  set(fill.mutable_to(), to, true);
  fill.set_bytes(bytes.index);
  fill.set_byte(byte);
}

void BlockBuilder::read_back(uint32_t dim, B from, uint32_t element) {
  plan::ReadBack &read = *block_.add_instructions()->mutable_read_back();
  read.set_dim(dim);
  set(read.mutable_from(), from, false);
  read.set_element(element);
}

void BlockBuilder::check(E condition, const std::string &message) {
  plan::Check &check = *block_.add_instructions()->mutable_check();
  check.set_condition(condition.index);
  check.set_message(message);
}

std::pair<BlockBuilder, BlockBuilder> BlockBuilder::branch(B condition) {
  plan::If &branch = *block_.add_instructions()->mutable_if_();
  set(branch.mutable_condition(), condition, false);
  return {BlockBuilder(plan_, *branch.mutable_then_block()),
          BlockBuilder(plan_, *branch.mutable_else_block())};
}

std::pair<BlockBuilder, BlockBuilder> BlockBuilder::loop(B condition) {
  plan::While &loop = *block_.add_instructions()->mutable_while_();
  set(loop.mutable_condition(), condition, false);
  return {BlockBuilder(plan_, *loop.mutable_before()), BlockBuilder(plan_, *loop.mutable_body())};
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

E EntryBuilder::tensor(plan::TensorType &to, const std::string &name, plan::ElementType type,
                       const std::vector<E> &dims) {
  to.set_name(name);
  to.set_type(type);
  E bytes = plan_.constant(static_cast<int64_t>(plan::element_bytes(type)));
  for (E dim : dims) {
    to.add_shape(dim.index);
    const plan::Expr &expr = plan_.plan.exprs(static_cast<int>(dim.index));
    to.add_dim_names(expr.kind() == plan::Expr::DIM ? plan_.plan.dims(static_cast<int>(expr.value())).name()
                     : expr.kind() == plan::Expr::CONSTANT ? std::to_string(expr.value())
                                                           : "expression");
    bytes = plan_.mul(bytes, dim);
  }
  return bytes;
}

uint32_t EntryBuilder::add(plan::Buffer::Memory memory, uint32_t index, plan::ElementType type, E bytes,
                           const std::string &label) {
  plan::Buffer &buffer = *entry_.add_buffers();
  buffer.set_memory(memory);
  buffer.set_index(index);
  buffer.set_bytes(bytes.index);
  buffer.set_type(type);
  buffer.set_label(label);
  return static_cast<uint32_t>(entry_.buffers_size() - 1);
}

uint32_t EntryBuilder::input(const std::string &name, plan::ElementType type, std::vector<E> dims) {
  E bytes = tensor(*entry_.add_inputs(), name, type, dims);
  return add(plan::Buffer::INPUT, static_cast<uint32_t>(entry_.inputs_size() - 1), type, bytes, name);
}

uint32_t EntryBuilder::output(const std::string &name, plan::ElementType type, std::vector<E> dims) {
  E bytes = tensor(*entry_.add_outputs(), name, type, dims);
  return add(plan::Buffer::OUTPUT, static_cast<uint32_t>(entry_.outputs_size() - 1), type, bytes, name);
}

uint32_t EntryBuilder::arena(plan::ElementType type, E bytes, E offset) {
  uint32_t buffer = add(plan::Buffer::ARENA, 0, type, bytes, "temporary");
  entry_.mutable_buffers(static_cast<int>(buffer))->set_offset(offset.index);
  return buffer;
}

uint32_t EntryBuilder::dynamic(plan::ElementType type, E bytes) {
  return add(plan::Buffer::DYNAMIC, 0, type, bytes, "dynamic");
}

uint32_t EntryBuilder::weight(uint32_t index, E bytes) {
  return add(plan::Buffer::WEIGHT, index, plan_.plan.weights(static_cast<int>(index)).type(), bytes,
             "weight");
}

uint32_t EntryBuilder::state(uint32_t index, plan::ElementType type, E bytes) {
  return add(plan::Buffer::STATE, index, type, bytes, "state");
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

PlanBuilder::PlanBuilder() {
  plan.set_producer("test");
  plan.set_model_name("by hand");
  plan.set_precision("fp32");
  constant(0);
  plan::Target &target = *plan.add_targets();
  target.set_name("x86-64-v3");
}

E PlanBuilder::constant(int64_t value) {
  for (int i = 0; i < plan.exprs_size(); ++i)
    if (plan.exprs(i).kind() == plan::Expr::CONSTANT && plan.exprs(i).value() == value)
      return {static_cast<uint32_t>(i)};
  plan.add_exprs()->set_value(value);
  return {static_cast<uint32_t>(plan.exprs_size() - 1)};
}

E PlanBuilder::dim(const std::string &name, int64_t min, int64_t max, int64_t multiple_of) {
  plan::Dim &dim = *plan.add_dims();
  dim.set_name(name);
  dim.set_min(min);
  dim.set_max(max);
  dim.set_multiple_of(multiple_of);
  plan::Expr &expr = *plan.add_exprs();
  expr.set_kind(plan::Expr::DIM);
  expr.set_value(plan.dims_size() - 1);
  return {static_cast<uint32_t>(plan.exprs_size() - 1)};
}

E PlanBuilder::late_dim(const std::string &name, E upper_bound, uint32_t *out_index) {
  E expr = dim(name);
  *out_index = static_cast<uint32_t>(plan.dims_size() - 1);
  plan.mutable_dims(plan.dims_size() - 1)->set_data_dependent(true);
  plan.mutable_dims(plan.dims_size() - 1)->set_upper_bound_plus_1(upper_bound.index + 1);
  return expr;
}

E PlanBuilder::unbounded_dim(const std::string &name, uint32_t *out_index) {
  E expr = dim(name);
  *out_index = static_cast<uint32_t>(plan.dims_size() - 1);
  plan.mutable_dims(plan.dims_size() - 1)->set_data_dependent(true);
  return expr;
}

E PlanBuilder::binary(plan::Expr::Kind kind, E a, E b) {
  plan::Expr &expr = *plan.add_exprs();
  expr.set_kind(kind);
  expr.set_a(a.index);
  expr.set_b(b.index);
  return {static_cast<uint32_t>(plan.exprs_size() - 1)};
}

E PlanBuilder::select(E condition, E then, E otherwise) {
  E expr = binary(plan::Expr::SELECT, condition, then);
  plan.mutable_exprs(static_cast<int>(expr.index))->set_c(otherwise.index);
  return expr;
}

uint32_t PlanBuilder::kernel(const std::string &symbol) {
  plan::Target &target = *plan.mutable_targets(0);
  for (int i = 0; i < target.kernels_size(); ++i)
    if (target.kernels(i).symbol() == symbol)
      return static_cast<uint32_t>(i);
  target.add_kernels()->set_symbol(symbol);
  return static_cast<uint32_t>(target.kernels_size() - 1);
}

uint32_t PlanBuilder::weight(const std::string &name, plan::ElementType type, std::vector<int64_t> shape,
                             std::span<const std::byte> bytes) {
  blobs_.push_back(std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end()));
  plan::Weight &weight = *plan.add_weights();
  weight.set_name(name);
  weight.set_type(type);
  for (int64_t dim : shape)
    weight.add_shape(dim);
  weight.set_blob(writer_.add_blob(&plan, *blobs_.back()));
  weight.set_storage("dense");
  return static_cast<uint32_t>(plan.weights_size() - 1);
}

uint32_t PlanBuilder::state(const std::string &name, plan::ElementType type, std::vector<E> dims, E capacity,
                            int init_weight) {
  plan::State &state = *plan.add_states();
  state.mutable_type()->set_name(name);
  state.mutable_type()->set_type(type);
  for (E dim : dims) {
    state.mutable_type()->add_shape(dim.index);
    state.mutable_type()->add_dim_names("n");
  }
  state.set_capacity(capacity.index);
  state.set_init_plus_1(static_cast<uint32_t>(init_weight + 1));
  return static_cast<uint32_t>(plan.states_size() - 1);
}

EntryBuilder PlanBuilder::entry(const std::string &name) {
  plan::Entry &entry = *plan.mutable_targets(0)->add_entries();
  entry.set_name(name);
  return EntryBuilder(*this, entry);
}

void PlanBuilder::write_to(const std::string &path) {
  plan::Target &target = *plan.mutable_targets(0);
  if (target.modules_size() == 0)
    writer_.add_module(target.add_modules(), kModulePath, test_kernels());
  Status status = writer_.write(path, &plan);
  if (!status.ok()) {
    std::fprintf(stderr, "cannot write %s: %s\n", path.c_str(), status.message().c_str());
    std::abort();
  }
}

std::string PlanBuilder::write() {
  static std::atomic<int> next{0};
  std::string path = testing::TempDir() + "quaver-test-" + std::to_string(getpid()) + "-" +
                     std::to_string(next.fetch_add(1)) + ".quaver";
  write_to(path);
  return path;
}

} // namespace quaver::test
