#include "runtime/plan/printer.h"
#include "runtime/plan/element_type.h"
#include "runtime/plan/expr_printer.h"
#include "runtime/plan/lifetimes.h"
#include <sstream>

namespace quaver::plan {

std::string print_tensor_type(const Plan &plan, const TensorType &t) {
  std::string s = std::string(element_name(t.type())) + "[";
  for (int i = 0; i < t.shape_size(); ++i)
    s += (i ? ", " : "") + (t.dim_names_size() ? t.dim_names(i) : print_expr(plan, t.shape(i)));
  return s + "]";
}

const char *memory_name(Buffer::Memory m) {
  switch (m) {
  case Buffer::ARENA:
    return "arena";
  case Buffer::INPUT:
    return "input";
  case Buffer::OUTPUT:
    return "output";
  case Buffer::WEIGHT:
    return "weight";
  case Buffer::STATE:
    return "state";
  case Buffer::DYNAMIC:
    return "dynamic";
  default:
    return "?";
  }
}

namespace {

class Printer {
public:
  explicit Printer(const Plan &plan) : plan_(plan) {}
  void plan(bool instructions);
  std::ostringstream out;

private:
  void dim(const Dim &d);
  void entry(const Target &t, const Entry &e, bool instructions);
  void buffers(const Entry &e);
  void block(const Target &t, const Entry &e, const Block &b, int indent, int &number);
  void launch(const Target &t, const Entry &e, const Launch &l);
  std::string expr(uint32_t e) const { return print_expr(plan_, e); }

  /// `%3`, `%3+64`, or what it is called where it is not a temporary.
  std::string place(const Entry &e, const Binding &b) const {
    const Buffer &x = e.buffers(int(b.buffer()));
    std::string s = str_cat("%", b.buffer());
    if (x.memory() != Buffer::ARENA && x.memory() != Buffer::DYNAMIC)
      s += str_cat(":", owner(e, x));
    if (std::string offset = expr(b.offset()); offset != "0")
      s += "+(" + offset + ")";
    return s;
  }
  std::string owner(const Entry &e, const Buffer &b) const {
    int i = int(b.index());
    switch (b.memory()) {
    case Buffer::INPUT:
      return e.inputs(i).name();
    case Buffer::OUTPUT:
      return e.outputs(i).name();
    case Buffer::WEIGHT:
      return plan_.weights(i).name();
    case Buffer::STATE:
      return plan_.states(i).type().name();
    default:
      return b.label();
    }
  }

  const Plan &plan_;
};

void Printer::launch(const Target &t, const Entry &e, const Launch &l) {
  out << "launch " << t.kernels(int(l.kernel())).symbol() << "(";
  for (int k = 0; k < l.bindings_size(); ++k)
    out << (k ? ", " : "") << (l.bindings(k).written() ? "out " : "") << place(e, l.bindings(k));
  for (int k = 0; k < l.constants_size(); ++k)
    out << (k ? ", " : "; ") << expr(l.constants(k));
  out << ") x " << expr(l.workgroups());
  if (std::string scratch = expr(l.scratch_bytes()); scratch != "0")
    out << ", scratch " << scratch;
  out << "  // " << l.label() << "\n";
}

void Printer::block(const Target &t, const Entry &e, const Block &b, int indent, int &number) {
  std::string pad(size_t(indent), ' ');
  for (const Instruction &i : b.instructions()) {
    out << pad << number++ << ": ";
    switch (i.kind_case()) {
    case Instruction::kLaunch:
      launch(t, e, i.launch());
      break;
    case Instruction::kCopy:
      out << "copy " << place(e, i.copy().from()) << " -> " << place(e, i.copy().to()) << ", "
          << expr(i.copy().bytes()) << " bytes\n";
      break;
    case Instruction::kFill:
      out << "fill " << place(e, i.fill().to()) << ", " << expr(i.fill().bytes()) << " bytes of "
          << i.fill().byte() << "\n";
      break;
    case Instruction::kReadBack:
      out << "read_back " << plan_.dims(int(i.read_back().dim())).name() << " <- "
          << place(e, i.read_back().from()) << "[" << i.read_back().element() << "]\n";
      break;
    case Instruction::kCheck:
      out << "check " << expr(i.check().condition()) << "  // " << i.check().message() << "\n";
      break;
    case Instruction::kIf:
      out << "if " << place(e, i.if_().condition()) << "\n";
      block(t, e, i.if_().then_block(), indent + 2, number);
      out << pad << "else\n";
      block(t, e, i.if_().else_block(), indent + 2, number);
      break;
    case Instruction::kWhile:
      out << "loop\n";
      block(t, e, i.while_().before(), indent + 2, number);
      out << pad << "while " << place(e, i.while_().condition()) << "\n";
      block(t, e, i.while_().body(), indent + 2, number);
      break;
    case Instruction::KIND_NOT_SET:
      out << "?\n";
      break;
    }
  }
}

void Printer::buffers(const Entry &e) {
  std::vector<Lifetime> lives = buffer_lifetimes(e);
  for (int i = 0; i < e.buffers_size(); ++i) {
    const Buffer &b = e.buffers(i);
    out << "    %" << i << " " << memory_name(b.memory());
    if (b.memory() == Buffer::ARENA)
      out << " at " << expr(b.offset());
    out << ", " << expr(b.bytes()) << " bytes of " << element_name(b.type());
    if (lives[size_t(i)].first >= 0)
      out << ", used " << lives[size_t(i)].first << ".." << lives[size_t(i)].last;
    else
      out << ", unused";
    out << "  // " << owner(e, b) << "\n";
  }
}

void Printer::entry(const Target &t, const Entry &e, bool instructions) {
  out << "  entry " << e.name() << "\n";
  for (const TensorType &x : e.inputs())
    out << "    input  " << x.name() << ": " << print_tensor_type(plan_, x) << "\n";
  for (const TensorType &x : e.outputs())
    out << "    output " << x.name() << ": " << print_tensor_type(plan_, x) << "\n";
  int launches = 0, count = 0;
  visit_instructions(e.body(), [&](const Instruction &i, int) { ++count, launches += i.has_launch(); });
  out << "    " << count << " instructions, " << launches << " launches\n    peak memory "
      << expr(e.arena_bytes()) << " bytes\n";
  if (!instructions)
    return;
  buffers(e);
  int number = 0;
  block(t, e, e.body(), 4, number);
}

void Printer::dim(const Dim &d) {
  out << "dimension " << d.name() << ": " << d.min() << ".." << (d.max() ? std::to_string(d.max()) : "");
  if (d.multiple_of() > 1)
    out << ", a multiple of " << d.multiple_of();
  if (d.data_dependent())
    out << ", depends on data, "
        << (d.upper_bound_plus_1() ? "at most " + expr(d.upper_bound_plus_1() - 1) : "without a bound");
  out << "\n";
}

void Printer::plan(bool instructions) {
  for (const Dim &d : plan_.dims())
    dim(d);
  uint64_t bytes = 0;
  for (const Blob &b : plan_.blobs())
    bytes += b.bytes();
  out << plan_.weights_size() << " weights in " << plan_.blobs_size() << " blobs, " << bytes << " bytes\n";
  for (const State &s : plan_.states())
    out << "state " << s.type().name() << ": " << print_tensor_type(plan_, s.type()) << ", room for "
        << expr(s.capacity()) << " bytes\n";
  for (const Target &t : plan_.targets()) {
    out << "target " << t.name() << ": ";
    for (const std::string &f : t.features())
      out << (&f == &t.features(0) ? "needs " : " ") << f;
    out << (t.features_size() ? "; " : "") << t.kernels_size() << " kernels\n";
    if (instructions)
      for (const Kernel &k : t.kernels())
        out << "  kernel " << k.symbol() << ": " << k.description() << "\n";
    for (const Entry &e : t.entries())
      entry(t, e, instructions);
  }
}

} // namespace

std::string print_plan(const Plan &plan, bool instructions) {
  Printer p(plan);
  p.plan(instructions);
  return std::move(p.out).str();
}

std::string print_artifact(const Artifact &artifact, bool instructions) {
  const Plan &plan = artifact.plan();
  return str_cat(artifact.path(), ": ", artifact.bytes(), " bytes, model ",
                 plan.model_name().empty() ? "(unnamed)" : plan.model_name(), ", precision ",
                 plan.precision(), ", made by ", plan.producer(), ", format ", plan.major(), ".",
                 plan.minor(), "\n", print_plan(plan, instructions));
}

std::string print_weights(const Plan &plan) {
  std::ostringstream out;
  for (const Weight &w : plan.weights()) {
    out << w.name() << ": " << element_name(w.type()) << "[";
    for (int i = 0; i < w.shape_size(); ++i)
      out << (i ? ", " : "") << w.shape(i);
    out << "], " << w.storage();
    if (!w.recipe().empty())
      out << ", scales " << w.recipe();
    if (w.scales_plus_1())
      out << " in " << plan.weights(int(w.scales_plus_1() - 1)).name();
    out << ", " << plan.blobs(int(w.blob())).bytes() << " bytes";
    if (!w.program().empty())
      out << "  // " << w.program();
    out << "\n";
  }
  return std::move(out).str();
}

} // namespace quaver::plan
