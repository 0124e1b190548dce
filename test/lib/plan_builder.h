//===- plan_builder.h - plans written by hand, for tests of the runtime -----===//
#pragma once

#include "runtime/plan/artifact_writer.h"
#include "runtime/plan/plan.pb.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace quaver::test {

/// An index into Plan.exprs.
struct E {
  uint32_t index;
};

class PlanBuilder;

/// A binding: buffer, offset, written.
struct B {
  uint32_t buffer;
  bool written = false;
  E offset{0};
};
inline B out(uint32_t buffer) { return {buffer, true}; }

/// Appends instructions to a block.
class BlockBuilder {
public:
  BlockBuilder(PlanBuilder &plan, plan::Block &block) : plan_(plan), block_(block) {}

  plan::Launch &launch(const std::string &kernel, std::vector<B> bindings, std::vector<E> constants,
                       E workgroups, E scratch = {0}, E grain = {0});
  void copy(B from, B to, E bytes);
  void fill(B to, E bytes, uint8_t byte);
  void read_back(uint32_t dim, B from, uint32_t element = 0);
  void check(E condition, const std::string &message);
  /// (then, else) and (before, body).
  std::pair<BlockBuilder, BlockBuilder> branch(B condition);
  std::pair<BlockBuilder, BlockBuilder> loop(B condition);

private:
  PlanBuilder &plan_;
  plan::Block &block_;
};

class EntryBuilder {
public:
  EntryBuilder(PlanBuilder &plan, plan::Entry &entry)
      : body(plan, *entry.mutable_body()), plan_(plan), entry_(entry) {}

  /// Buffers of an input and output; dims are expressions.
  uint32_t input(const std::string &name, plan::ElementType type, std::vector<E> dims);
  uint32_t output(const std::string &name, plan::ElementType type, std::vector<E> dims);
  uint32_t arena(plan::ElementType type, E bytes, E offset);
  uint32_t dynamic(plan::ElementType type, E bytes);
  uint32_t weight(uint32_t index, E bytes);
  uint32_t state(uint32_t index, plan::ElementType type, E bytes);
  void arena_bytes(E bytes) { entry_.set_arena_bytes(bytes.index); }

  BlockBuilder body;

private:
  uint32_t add(plan::Buffer::Memory memory, uint32_t index, plan::ElementType type, E bytes,
               const std::string &label);
  E tensor(plan::TensorType &to, const std::string &name, plan::ElementType type, const std::vector<E> &dims);

  PlanBuilder &plan_;
  plan::Entry &entry_;
};

/// One target, `x86-64-v3` without stated features, with the module test_kernels.so.
class PlanBuilder {
public:
  PlanBuilder();

  plan::Plan plan;

  E constant(int64_t value);
  E dim(const std::string &name, int64_t min = 0, int64_t max = 0, int64_t multiple_of = 0);
  /// A data-dependent dimension; `out_index` gets its number for read_back.
  E late_dim(const std::string &name, E upper_bound, uint32_t *out_index);
  E unbounded_dim(const std::string &name, uint32_t *out_index);
  E binary(plan::Expr::Kind kind, E a, E b);
  E select(E condition, E then, E otherwise);
  E add(E a, E b) { return binary(plan::Expr::ADD, a, b); }
  E mul(E a, E b) { return binary(plan::Expr::MUL, a, b); }
  E mul(E a, int64_t b) { return mul(a, constant(b)); }
  E ceil_div(E a, int64_t b) { return binary(plan::Expr::CEIL_DIV, a, constant(b)); }
  /// a rounded up to a multiple of 64.
  E align(E a) { return mul(ceil_div(a, 64), 64); }

  uint32_t kernel(const std::string &symbol);
  uint32_t weight(const std::string &name, plan::ElementType type, std::vector<int64_t> shape,
                  std::span<const std::byte> bytes);
  uint32_t state(const std::string &name, plan::ElementType type, std::vector<E> dims, E capacity,
                 int init_weight = -1);
  EntryBuilder entry(const std::string &name);

  /// Writes the artifact; exits on failure.
  void write_to(const std::string &path);
  /// Writes it to a fresh file in the temporary folder and returns its path.
  std::string write();

private:
  std::vector<std::shared_ptr<std::vector<std::byte>>>
      blobs_; // writer_ points into them, copies of this object too
  plan::ArtifactWriter writer_;
};

} // namespace quaver::test
