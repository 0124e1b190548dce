#include "runtime/plan/validate.h"
#include "runtime/plan/element_type.h"
#include <set>

namespace quaver::plan {
namespace {

constexpr int kMaxDepth = 32;
constexpr int kMaxRank = 64;

class Validator {
public:
  explicit Validator(const Plan &plan) : plan_(plan) {}
  Status run();

private:
  template <class... P> Status bad(const P &...parts) const {
    return DataLossError("the plan is broken: ", where_, parts...);
  }
  Status expr(uint32_t e, const char *what) const {
    if (e < uint32_t(plan_.exprs_size()))
      return OkStatus();
    return bad(what, " is expression ", e, " of ", plan_.exprs_size());
  }
  Status exprs() const;
  Status dims() const;
  Status weights() const;
  Status tensor(const TensorType &t) const;
  Status target(const Target &t);
  Status entry(const Target &t, const Entry &e);
  Status binding(const Entry &e, const Binding &b, const char *what) const;
  Status launch(const Target &t, const Entry &e, const Launch &l) const;
  Status block(const Target &t, const Entry &e, const Block &b, int depth) const;

  const Plan &plan_;
  std::string where_;
};

Status Validator::exprs() const {
  for (int i = 0; i < plan_.exprs_size(); ++i) {
    const Expr &e = plan_.exprs(i);
    if (!Expr::Kind_IsValid(e.kind()))
      return bad("expression ", i, " has unknown kind ", int(e.kind()));
    if (e.kind() == Expr::CONSTANT)
      continue;
    if (e.kind() == Expr::DIM) {
      if (e.value() < 0 || e.value() >= plan_.dims_size())
        return bad("expression ", i, " names dimension ", e.value());
      continue;
    }
    bool three = e.kind() == Expr::SELECT;
    if (e.a() >= uint32_t(i) || e.b() >= uint32_t(i) || (three && e.c() >= uint32_t(i)))
      return bad("expression ", i, " uses one that does not come before it");
  }
  return OkStatus();
}

Status Validator::dims() const {
  std::set<std::string> names;
  for (const Dim &d : plan_.dims()) {
    if (d.name().empty() || !names.insert(d.name()).second)
      return bad("dimension name \"", d.name(), "\" is empty or taken");
    if (d.min() < 0 || (d.max() && d.max() < d.min()) || d.multiple_of() < 0)
      return bad("dimension ", d.name(), " has limits ", d.min(), "..", d.max(), " by ", d.multiple_of());
    if (d.upper_bound_plus_1() > uint32_t(plan_.exprs_size()))
      return bad("dimension ", d.name(), " has unknown bound ", d.upper_bound_plus_1());
  }
  return OkStatus();
}

Status Validator::tensor(const TensorType &t) const {
  if (!element_bytes(t.type()))
    return bad("tensor ", t.name(), " has unknown element type ", int(t.type()));
  if (t.shape_size() > kMaxRank)
    return bad("tensor ", t.name(), " has rank ", t.shape_size());
  if (t.dim_names_size() != 0 && t.dim_names_size() != t.shape_size())
    return bad("tensor ", t.name(), " has names for other dimensions");
  for (uint32_t e : t.shape())
    QUAVER_RETURN_IF_ERROR(expr(e, "a dimension"));
  return OkStatus();
}

Status Validator::weights() const {
  for (const Blob &b : plan_.blobs())
    if (b.path().empty() == b.file().empty())
      return bad("a blob must have either an archive entry or a file");
  std::set<std::string> names;
  for (const Weight &w : plan_.weights()) {
    if (!names.insert(w.name()).second)
      return bad("two weights are called ", w.name());
    if (!element_bytes(w.type()))
      return bad("weight ", w.name(), " has unknown element type ", int(w.type()));
    if (w.blob() >= uint32_t(plan_.blobs_size()))
      return bad("weight ", w.name(), " names blob ", w.blob());
    if (w.scales_plus_1() > uint32_t(plan_.weights_size()))
      return bad("weight ", w.name(), " names scales ", w.scales_plus_1());
    uint64_t bytes = element_bytes(w.type());
    for (int64_t d : w.shape())
      if (d < 0 || __builtin_mul_overflow(bytes, uint64_t(d), &bytes))
        return bad("weight ", w.name(), " has an impossible shape");
    if (w.storage() == "dense" && bytes != plan_.blobs(int(w.blob())).bytes())
      return bad("weight ", w.name(), " has ", bytes, " bytes by its shape, but its blob has ",
                 plan_.blobs(int(w.blob())).bytes());
  }
  for (const State &s : plan_.states()) {
    QUAVER_RETURN_IF_ERROR(tensor(s.type()));
    QUAVER_RETURN_IF_ERROR(expr(s.capacity(), "a state's capacity"));
    if (s.init_plus_1() > uint32_t(plan_.weights_size()))
      return bad("state ", s.type().name(), " starts from an unknown weight");
  }
  return OkStatus();
}

Status Validator::binding(const Entry &e, const Binding &b, const char *what) const {
  if (b.buffer() >= uint32_t(e.buffers_size()))
    return bad(what, " names buffer ", b.buffer(), " of ", e.buffers_size());
  const Buffer::Memory memory = e.buffers(int(b.buffer())).memory();
  if (b.written() && (memory == Buffer::INPUT || memory == Buffer::WEIGHT))
    return bad(what, " writes an input or a weight");
  return expr(b.offset(), "a binding's offset");
}

Status Validator::launch(const Target &t, const Entry &e, const Launch &l) const {
  if (l.kernel() >= uint32_t(t.kernels_size()))
    return bad("a launch names kernel ", l.kernel(), " of ", t.kernels_size());
  QUAVER_RETURN_IF_ERROR(expr(l.workgroups(), "workgroups"));
  QUAVER_RETURN_IF_ERROR(expr(l.scratch_bytes(), "scratch bytes"));
  QUAVER_RETURN_IF_ERROR(expr(l.grain(), "grain"));
  for (uint32_t c : l.constants())
    QUAVER_RETURN_IF_ERROR(expr(c, "a constant"));
  for (const Binding &b : l.bindings())
    QUAVER_RETURN_IF_ERROR(binding(e, b, "a launch"));
  return OkStatus();
}

Status Validator::block(const Target &t, const Entry &e, const Block &b, int depth) const {
  if (depth > kMaxDepth)
    return bad("blocks are nested more than ", kMaxDepth, " deep");
  for (const Instruction &i : b.instructions()) {
    switch (i.kind_case()) {
    case Instruction::kLaunch:
      QUAVER_RETURN_IF_ERROR(launch(t, e, i.launch()));
      break;
    case Instruction::kCopy:
      QUAVER_RETURN_IF_ERROR(binding(e, i.copy().from(), "a copy"));
      if (!i.copy().to().written())
        return bad("a copy's target is not marked as written");
      QUAVER_RETURN_IF_ERROR(binding(e, i.copy().to(), "a copy"));
      QUAVER_RETURN_IF_ERROR(expr(i.copy().bytes(), "a copy's bytes"));
      break;
    case Instruction::kFill:
      if (!i.fill().to().written())
        return bad("a fill's target is not marked as written");
      QUAVER_RETURN_IF_ERROR(binding(e, i.fill().to(), "a fill"));
      QUAVER_RETURN_IF_ERROR(expr(i.fill().bytes(), "a fill's bytes"));
      if (i.fill().byte() > 255)
        return bad("a fill's byte is ", i.fill().byte());
      break;
    case Instruction::kReadBack:
      QUAVER_RETURN_IF_ERROR(binding(e, i.read_back().from(), "a read-back"));
      if (i.read_back().dim() >= uint32_t(plan_.dims_size()) ||
          !plan_.dims(int(i.read_back().dim())).data_dependent())
        return bad("a read-back binds dimension ", i.read_back().dim(), ", which is not data-dependent");
      break;
    case Instruction::kCheck:
      QUAVER_RETURN_IF_ERROR(expr(i.check().condition(), "a check"));
      break;
    case Instruction::kIf:
      QUAVER_RETURN_IF_ERROR(binding(e, i.if_().condition(), "an if"));
      QUAVER_RETURN_IF_ERROR(block(t, e, i.if_().then_block(), depth + 1));
      QUAVER_RETURN_IF_ERROR(block(t, e, i.if_().else_block(), depth + 1));
      break;
    case Instruction::kWhile:
      QUAVER_RETURN_IF_ERROR(block(t, e, i.while_().before(), depth + 1));
      QUAVER_RETURN_IF_ERROR(binding(e, i.while_().condition(), "a while"));
      QUAVER_RETURN_IF_ERROR(block(t, e, i.while_().body(), depth + 1));
      break;
    case Instruction::KIND_NOT_SET:
      return bad("an instruction of an unknown kind");
    }
  }
  return OkStatus();
}

Status Validator::entry(const Target &t, const Entry &e) {
  where_ = "target " + t.name() + ", entry " + e.name() + ": ";
  for (const TensorType &x : e.inputs())
    QUAVER_RETURN_IF_ERROR(tensor(x));
  for (const TensorType &x : e.outputs())
    QUAVER_RETURN_IF_ERROR(tensor(x));
  QUAVER_RETURN_IF_ERROR(expr(e.arena_bytes(), "arena bytes"));
  for (int i = 0; i < e.buffers_size(); ++i) {
    const Buffer &b = e.buffers(i);
    if (!Buffer::Memory_IsValid(b.memory()))
      return bad("buffer ", i, " is in unknown memory ", int(b.memory()));
    int limit = b.memory() == Buffer::INPUT    ? e.inputs_size()
                : b.memory() == Buffer::OUTPUT ? e.outputs_size()
                : b.memory() == Buffer::WEIGHT ? plan_.weights_size()
                : b.memory() == Buffer::STATE  ? plan_.states_size()
                                               : 1;
    if (b.index() >= uint32_t(limit))
      return bad("buffer ", i, " has index ", b.index(), " of ", limit);
    if (!element_bytes(b.type()))
      return bad("buffer ", i, " has unknown element type ", int(b.type()));
    QUAVER_RETURN_IF_ERROR(expr(b.offset(), "a buffer's offset"));
    QUAVER_RETURN_IF_ERROR(expr(b.bytes(), "a buffer's bytes"));
    const Expr &offset = plan_.exprs(int(b.offset()));
    if (offset.kind() == Expr::CONSTANT && (offset.value() < 0 || offset.value() % 64))
      return bad("buffer ", i, " has offset ", offset.value(), ", not a multiple of 64");
  }
  return block(t, e, e.body(), 0);
}

Status Validator::target(const Target &t) {
  where_ = "target " + t.name() + ": ";
  for (const Kernel &k : t.kernels())
    if (k.module() >= uint32_t(t.modules_size()) || k.symbol().empty())
      return bad("kernel \"", k.symbol(), "\" has no module");
  std::set<std::string> names;
  for (const Entry &e : t.entries()) {
    if (!names.insert(e.name()).second)
      return bad("two entries are called ", e.name());
    QUAVER_RETURN_IF_ERROR(entry(t, e));
  }
  return OkStatus();
}

Status Validator::run() {
  for (const std::string &feature : plan_.features())
    return FailedPreconditionError("the plan needs feature \"", feature,
                                   "\", which this runtime does not know: update it");
  QUAVER_RETURN_IF_ERROR(exprs());
  QUAVER_RETURN_IF_ERROR(dims());
  QUAVER_RETURN_IF_ERROR(weights());
  std::set<std::string> names;
  for (const Target &t : plan_.targets()) {
    if (!names.insert(t.name()).second)
      return bad("two targets are called ", t.name());
    QUAVER_RETURN_IF_ERROR(target(t));
  }
  return OkStatus();
}

} // namespace

Status validate(const Plan &plan) { return Validator(plan).run(); }

} // namespace quaver::plan
