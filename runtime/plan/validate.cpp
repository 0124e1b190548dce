#include "runtime/plan/validate.h"
#include "runtime/plan/element_type.h"
#include "runtime/plan/expr_printer.h"
#include "runtime/plan/validate_sizes.h"
#include <optional>
#include <set>

namespace quaver::plan {
namespace {

constexpr uint32_t kMaxBlockThreads = 1024,
                   kMaxSharedBytes = 227 * 1024; // CUDA programming guide, compute capability 9.0
constexpr int kMaxDepth = 24;                    // protobuf stops at 100 messages, three a level
constexpr int kMaxRank = 64;

class Validator {
public:
  explicit Validator(const Plan &plan) : plan_(plan) {}
  Status run();

private:
  template <class... P> Status bad(const P &...parts) const {
    return DataLossError("the plan is broken: ", where_, parts...);
  }
  /// An index of an expression that has a value as far as is known now.
  Status expr(uint32_t e, const char *what) const;
  /// An expression that must not be negative.
  Status size(uint32_t e, const char *what) const;
  Status names(const google::protobuf::RepeatedPtrField<TensorType> &tensors, const char *what) const;
  Status blobs() const;
  Status exprs() const;
  Status dims() const;
  Status weights() const;
  Status tensor(const TensorType &t) const;
  Status target(const Target &t);
  Status entry(const Target &t, const Entry &e);
  Status binding(const Entry &e, const Binding &b, const char *what) const;
  /// Are the `bytes` that an instruction uses there within the buffer, as far as both are constants?
  Status room(const Entry &e, const Binding &b, std::optional<int64_t> bytes, const char *what) const;
  Status condition(const Entry &e, const Binding &b, const char *what) const;
  Status read_back(const Entry &e, const ReadBack &r) const;
  Status launch(const Target &t, const Entry &e, const Launch &l) const;
  Status block(const Target &t, const Entry &e, const Block &b, int depth) const;

  const Plan &plan_;
  std::string where_;
  std::optional<int64_t> constant(uint32_t e) const {
    return constants_->is_known(e) ? std::optional((*constants_)[e]) : std::nullopt;
  }
  std::optional<ExprValues> constants_; // what is known without any dimension
  std::vector<ExprValues> samples_;
};

Status Validator::expr(uint32_t e, const char *what) const {
  if (e >= uint32_t(plan_.exprs_size()))
    return bad(what, " is expression ", e, " of ", plan_.exprs_size());
  ExprOutcome outcome = constants_->outcome(e);
  if (outcome == ExprOutcome::kOverflow || outcome == ExprOutcome::kDivisionByZero)
    return bad(what, ": ", constants_->get(e).status().message());
  return OkStatus();
}

Status Validator::size(uint32_t e, const char *what) const {
  QUAVER_RETURN_IF_ERROR(expr(e, what));
  if (constants_->is_known(e) && (*constants_)[e] < 0)
    return bad(what, " is ", print_expr(plan_, e), " = ", (*constants_)[e]);
  return OkStatus();
}

Status Validator::names(const google::protobuf::RepeatedPtrField<TensorType> &tensors,
                        const char *what) const {
  std::set<std::string_view> names;
  for (const TensorType &t : tensors)
    if (t.name().empty() || !names.insert(t.name()).second)
      return bad("the name \"", t.name(), "\" of an ", what, " is empty or taken");
  return OkStatus();
}

Status Validator::blobs() const {
  for (const Blob &b : plan_.blobs()) {
    if (b.path().empty() == b.file().empty())
      return bad("a blob must have either an archive entry or a file");
    if (b.offset() % 64)
      return bad("blob ", b.path(), b.file(), " starts at ", b.offset(), ", not at a multiple of 64");
    if (b.file().starts_with("/") || ("/" + b.file() + "/").find("/../") != std::string::npos)
      return bad("the file ", b.file(), " of a blob lies outside of the artifact's folder");
  }
  return OkStatus();
}

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
    bool is_size = !d.data_dependent(); // a value that the run reads may be negative
    if ((is_size && d.min() < 0) || (d.max() && d.max() < d.min()) || d.multiple_of() < 0)
      return bad("dimension ", d.name(), " has limits ", d.min(), "..", d.max(), " by ", d.multiple_of());
    if (d.upper_bound_plus_1() > (d.data_dependent() ? uint32_t(plan_.exprs_size()) : 0))
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
    QUAVER_RETURN_IF_ERROR(size(e, "a dimension"));
  return OkStatus();
}

Status Validator::weights() const {
  std::set<std::string> names;
  for (const Weight &w : plan_.weights()) {
    if (!names.insert(w.name()).second)
      return bad("two weights are called ", w.name());
    if (!element_bytes(w.type()))
      return bad("weight ", w.name(), " has unknown element type ", int(w.type()));
    if (w.blob() >= uint32_t(plan_.blobs_size()))
      return bad("weight ", w.name(), " names blob ", w.blob());
    if (w.storage().empty())
      return bad("weight ", w.name(), " has no storage");
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
    QUAVER_RETURN_IF_ERROR(size(s.capacity(), "a state's capacity"));
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
  QUAVER_RETURN_IF_ERROR(size(b.offset(), "a binding's offset"));
  return room(e, b, 0, what);
}

Status Validator::room(const Entry &e, const Binding &b, std::optional<int64_t> bytes,
                       const char *what) const {
  std::optional<int64_t> offset = constant(b.offset()), have = constant(e.buffers(int(b.buffer())).bytes());
  if (offset && have && bytes && (*offset > *have || *bytes > *have - *offset))
    return bad(what, " uses ", *bytes, " bytes at ", *offset, " of buffer ", b.buffer(), " (",
               e.buffers(int(b.buffer())).label(), "), which has ", *have);
  return OkStatus();
}

Status Validator::condition(const Entry &e, const Binding &b, const char *what) const {
  QUAVER_RETURN_IF_ERROR(binding(e, b, what));
  const Buffer &buffer = e.buffers(int(b.buffer()));
  if (buffer.type() != BOOL)
    return bad("the condition of ", what, " is of type ", element_name(buffer.type()), ", not bool");
  return room(e, b, 1, what);
}

Status Validator::read_back(const Entry &e, const ReadBack &r) const {
  QUAVER_RETURN_IF_ERROR(binding(e, r.from(), "a read-back"));
  if (r.dim() >= uint32_t(plan_.dims_size()) || !plan_.dims(int(r.dim())).data_dependent())
    return bad("a read-back binds dimension ", r.dim(), ", which is not data-dependent");
  ElementType type = e.buffers(int(r.from().buffer())).type();
  if (type < I64 || type > U8)
    return bad("a read-back of dimension ", plan_.dims(int(r.dim())).name(), " reads type ",
               element_name(type), ", not an integer");
  return room(e, r.from(), int64_t(element_bytes(type)) * (int64_t(r.element()) + 1), "a read-back");
}

Status Validator::launch(const Target &t, const Entry &e, const Launch &l) const {
  if (l.kernel() >= uint32_t(t.kernels_size()))
    return bad("a launch names kernel ", l.kernel(), " of ", t.kernels_size());
  QUAVER_RETURN_IF_ERROR(size(l.workgroups(), "workgroups"));
  QUAVER_RETURN_IF_ERROR(size(l.scratch_bytes(), "scratch bytes"));
  QUAVER_RETURN_IF_ERROR(size(l.grain(), "grain"));
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
      QUAVER_RETURN_IF_ERROR(size(i.copy().bytes(), "a copy's bytes"));
      QUAVER_RETURN_IF_ERROR(room(e, i.copy().from(), constant(i.copy().bytes()), "a copy"));
      QUAVER_RETURN_IF_ERROR(room(e, i.copy().to(), constant(i.copy().bytes()), "a copy"));
      break;
    case Instruction::kFill:
      if (!i.fill().to().written())
        return bad("a fill's target is not marked as written");
      QUAVER_RETURN_IF_ERROR(binding(e, i.fill().to(), "a fill"));
      QUAVER_RETURN_IF_ERROR(size(i.fill().bytes(), "a fill's bytes"));
      QUAVER_RETURN_IF_ERROR(room(e, i.fill().to(), constant(i.fill().bytes()), "a fill"));
      if (i.fill().byte() > 255)
        return bad("a fill's byte is ", i.fill().byte());
      break;
    case Instruction::kReadBack:
      QUAVER_RETURN_IF_ERROR(read_back(e, i.read_back()));
      break;
    case Instruction::kCheck:
      QUAVER_RETURN_IF_ERROR(expr(i.check().condition(), "a check"));
      break;
    case Instruction::kIf:
      QUAVER_RETURN_IF_ERROR(condition(e, i.if_().condition(), "an if"));
      QUAVER_RETURN_IF_ERROR(block(t, e, i.if_().then_block(), depth + 1));
      QUAVER_RETURN_IF_ERROR(block(t, e, i.if_().else_block(), depth + 1));
      break;
    case Instruction::kWhile:
      QUAVER_RETURN_IF_ERROR(block(t, e, i.while_().before(), depth + 1));
      QUAVER_RETURN_IF_ERROR(condition(e, i.while_().condition(), "a while"));
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
  QUAVER_RETURN_IF_ERROR(names(e.inputs(), "input"));
  QUAVER_RETURN_IF_ERROR(names(e.outputs(), "output"));
  for (const TensorType &x : e.inputs())
    QUAVER_RETURN_IF_ERROR(tensor(x));
  for (const TensorType &x : e.outputs())
    QUAVER_RETURN_IF_ERROR(tensor(x));
  QUAVER_RETURN_IF_ERROR(size(e.arena_bytes(), "arena bytes"));
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
    QUAVER_RETURN_IF_ERROR(size(b.offset(), "a buffer's offset"));
    QUAVER_RETURN_IF_ERROR(size(b.bytes(), "a buffer's bytes"));
    if (std::optional<int64_t> offset = constant(b.offset()); offset && *offset % 64)
      return bad("buffer ", i, " has offset ", *offset, ", not a multiple of 64");
    if (std::optional<int64_t> bytes = constant(b.bytes()); bytes && b.memory() == Buffer::WEIGHT) {
      const Weight &w = plan_.weights(int(b.index()));
      if (uint64_t(*bytes) > plan_.blobs(int(w.blob())).bytes())
        return bad("buffer ", i, " has ", *bytes, " bytes, its weight ", w.name(), " only ",
                   plan_.blobs(int(w.blob())).bytes());
    }
  }
  QUAVER_RETURN_IF_ERROR(block(t, e, e.body(), 0));
  if (Status placed = check_arena(plan_, e, samples_); !placed.ok())
    return bad(placed.message());
  return OkStatus();
}

Status Validator::target(const Target &t) {
  where_ = "target " + t.name() + ": ";
  for (const Module &m : t.modules())
    if (m.path().empty())
      return bad("a module has no archive entry");
  for (const Kernel &k : t.kernels())
    if (k.module() >= uint32_t(t.modules_size()) || k.symbol().empty())
      return bad("kernel \"", k.symbol(), "\" has no module");
  for (const Kernel &k : t.kernels())
    if (k.block_threads() > kMaxBlockThreads || k.shared_bytes() > kMaxSharedBytes)
      return bad("kernel \"", k.symbol(), "\" wants blocks of ", k.block_threads(), " threads with ",
                 k.shared_bytes(), " bytes of shared memory; no GPU has more than ", kMaxBlockThreads,
                 " and ", kMaxSharedBytes);
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
  std::vector<std::optional<int64_t>> unbound(size_t(plan_.dims_size()));
  constants_.emplace(plan_, unbound);
  samples_ = sample_sizes(plan_);
  QUAVER_RETURN_IF_ERROR(blobs());
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
