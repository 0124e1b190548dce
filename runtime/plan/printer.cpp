#include "runtime/plan/printer.h"
#include "runtime/plan/element_type.h"
#include "runtime/plan/expr_printer.h"
#include <functional>
#include <iomanip>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

namespace quaver::plan {
namespace {

std::string shape_text(const Plan &plan, const TensorType &t) {
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

/// First and last instruction (numbered depth first) that touches each buffer.
using Lifetimes = std::map<uint32_t, std::pair<int, int>>;

void walk(const Block &block, int &number, const std::function<void(const Instruction &, int)> &visit) {
  for (const Instruction &i : block.instructions()) {
    visit(i, number++);
    if (i.has_if_())
      walk(i.if_().then_block(), number, visit), walk(i.if_().else_block(), number, visit);
    if (i.has_while_())
      walk(i.while_().before(), number, visit), walk(i.while_().body(), number, visit);
  }
}

Lifetimes lifetimes(const Entry &e) {
  Lifetimes l;
  int number = 0;
  walk(e.body(), number, [&](const Instruction &i, int n) {
    auto use = [&](const Binding &b) {
      auto [it, inserted] = l.try_emplace(b.buffer(), n, n);
      it->second.second = n;
    };
    if (i.has_launch())
      for (const Binding &b : i.launch().bindings())
        use(b);
    if (i.has_copy())
      use(i.copy().from()), use(i.copy().to());
    if (i.has_fill())
      use(i.fill().to());
    if (i.has_read_back())
      use(i.read_back().from());
    if (i.has_if_())
      use(i.if_().condition());
    if (i.has_while_())
      use(i.while_().condition());
  });
  return l;
}

class Printer {
public:
  explicit Printer(const Plan &plan) : plan_(plan) {}
  void entry(const Target &t, const Entry &e, bool instructions);
  void block(const Target &t, const Entry &e, const Block &b, int indent);
  std::ostringstream out;

private:
  std::string expr(uint32_t e) const { return print_expr(plan_, e); }
  std::string buffer(const Entry &e, const Binding &b) const {
    const Buffer &x = e.buffers(int(b.buffer()));
    return std::string("%") + std::to_string(b.buffer()) +
           (x.memory() == Buffer::ARENA ? "" : str_cat(":", memory_name(x.memory()), x.index()));
  }
  const Plan &plan_;
};

void Printer::block(const Target &t, const Entry &e, const Block &b, int indent) {
  std::string pad(size_t(indent), ' ');
  for (const Instruction &i : b.instructions()) {
    out << pad;
    if (i.has_launch()) {
      const Launch &l = i.launch();
      out << "launch " << t.kernels(int(l.kernel())).symbol() << "(";
      for (int k = 0; k < l.bindings_size(); ++k)
        out << (k ? ", " : "") << (l.bindings(k).written() ? "out " : "") << buffer(e, l.bindings(k));
      out << ") x " << expr(l.workgroups()) << "  // " << l.label() << "\n";
    } else if (i.has_copy()) {
      out << "copy " << buffer(e, i.copy().from()) << " -> " << buffer(e, i.copy().to()) << ", "
          << expr(i.copy().bytes()) << " bytes\n";
    } else if (i.has_fill()) {
      out << "fill " << buffer(e, i.fill().to()) << ", " << expr(i.fill().bytes()) << " bytes of "
          << i.fill().byte() << "\n";
    } else if (i.has_read_back()) {
      out << "read_back " << plan_.dims(int(i.read_back().dim())).name() << " <- "
          << buffer(e, i.read_back().from()) << "[" << i.read_back().element() << "]\n";
    } else if (i.has_check()) {
      out << "check " << expr(i.check().condition()) << "  // " << i.check().message() << "\n";
    } else if (i.has_if_()) {
      out << "if " << buffer(e, i.if_().condition()) << "\n";
      block(t, e, i.if_().then_block(), indent + 2);
      out << pad << "else\n";
      block(t, e, i.if_().else_block(), indent + 2);
    } else if (i.has_while_()) {
      out << "while " << buffer(e, i.while_().condition()) << " after\n";
      block(t, e, i.while_().before(), indent + 2);
      out << pad << "do\n";
      block(t, e, i.while_().body(), indent + 2);
    }
  }
}

void Printer::entry(const Target &t, const Entry &e, bool instructions) {
  out << "  entry " << e.name() << "\n";
  for (const TensorType &x : e.inputs())
    out << "    input  " << x.name() << ": " << shape_text(plan_, x) << "\n";
  for (const TensorType &x : e.outputs())
    out << "    output " << x.name() << ": " << shape_text(plan_, x) << "\n";
  int launches = 0, number = 0;
  walk(e.body(), number, [&](const Instruction &i, int) { launches += i.has_launch(); });
  out << "    " << number << " instructions, " << launches << " launches\n    peak memory "
      << expr(e.arena_bytes()) << " bytes\n";
  if (!instructions)
    return;
  Lifetimes lives = lifetimes(e);
  for (int i = 0; i < e.buffers_size(); ++i) {
    const Buffer &b = e.buffers(i);
    if (b.memory() != Buffer::ARENA && b.memory() != Buffer::DYNAMIC)
      continue;
    out << "    %" << i << " " << memory_name(b.memory()) << " at " << expr(b.offset()) << ", "
        << expr(b.bytes()) << " bytes of " << element_name(b.type());
    if (auto it = lives.find(uint32_t(i)); it != lives.end())
      out << ", lives " << it->second.first << ".." << it->second.second;
    out << "  // " << b.label() << "\n";
  }
  block(t, e, e.body(), 4);
}

} // namespace

std::string print_artifact(const Artifact &artifact, bool instructions) {
  const Plan &plan = artifact.plan();
  Printer p(plan);
  p.out << artifact.path() << ": " << artifact.bytes() << " bytes, model "
        << (plan.model_name().empty() ? "(unnamed)" : plan.model_name()) << ", precision " << plan.precision()
        << ", made by " << plan.producer() << "\n";
  for (const Dim &d : plan.dims()) {
    p.out << "dimension " << d.name() << ": " << d.min() << ".." << (d.max() ? std::to_string(d.max()) : "");
    if (d.multiple_of() > 1)
      p.out << ", a multiple of " << d.multiple_of();
    if (d.data_dependent())
      p.out << ", depends on data, "
            << (d.upper_bound_plus_1() ? "at most " + print_expr(plan, d.upper_bound_plus_1() - 1)
                                       : "without a bound");
    p.out << "\n";
  }
  uint64_t weight_bytes = 0;
  for (const Blob &b : plan.blobs())
    weight_bytes += b.bytes();
  p.out << plan.weights_size() << " weights in " << plan.blobs_size() << " blobs, " << weight_bytes
        << " bytes\n";
  for (const Target &t : plan.targets()) {
    p.out << "target " << t.name() << ": needs";
    for (const std::string &f : t.features())
      p.out << " " << f;
    p.out << "; " << t.kernels_size() << " kernels\n";
    if (instructions)
      for (const Kernel &k : t.kernels())
        p.out << "  kernel " << k.symbol() << ": " << k.description() << "\n";
    for (const Entry &e : t.entries())
      p.entry(t, e, instructions);
  }
  return p.out.str();
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
    out << ", " << plan.blobs(int(w.blob())).bytes() << " bytes";
    if (!w.program().empty())
      out << "  // " << w.program();
    out << "\n";
  }
  return out.str();
}

std::string print_json(const Artifact &artifact) {
  using nlohmann::json;
  const Plan &plan = artifact.plan();
  auto tensor = [&](const TensorType &t) {
    json shape = json::array();
    for (int i = 0; i < t.shape_size(); ++i)
      shape.push_back(t.dim_names_size() ? t.dim_names(i) : print_expr(plan, t.shape(i)));
    return json{{"name", t.name()}, {"type", element_name(t.type())}, {"shape", shape}};
  };
  json j = {{"path", artifact.path()},     {"bytes", artifact.bytes()},
            {"model", plan.model_name()},  {"precision", plan.precision()},
            {"producer", plan.producer()}, {"version", {plan.major(), plan.minor()}}};
  for (const Dim &d : plan.dims())
    j["dims"].push_back(
        {{"name", d.name()}, {"min", d.min()}, {"max", d.max()}, {"data_dependent", d.data_dependent()}});
  for (const Weight &w : plan.weights())
    j["weights"].push_back({{"name", w.name()},
                            {"type", element_name(w.type())},
                            {"shape", std::vector<int64_t>(w.shape().begin(), w.shape().end())},
                            {"storage", w.storage()},
                            {"recipe", w.recipe()},
                            {"bytes", plan.blobs(int(w.blob())).bytes()},
                            {"program", w.program()}});
  for (const Target &t : plan.targets()) {
    json target = {{"name", t.name()},
                   {"features", std::vector<std::string>(t.features().begin(), t.features().end())}};
    for (const Kernel &k : t.kernels())
      target["kernels"].push_back({{"symbol", k.symbol()}, {"description", k.description()}});
    for (const Entry &e : t.entries()) {
      json entry = {{"name", e.name()}, {"peak_bytes", print_expr(plan, e.arena_bytes(), 1 << 20)}};
      for (const TensorType &x : e.inputs())
        entry["inputs"].push_back(tensor(x));
      for (const TensorType &x : e.outputs())
        entry["outputs"].push_back(tensor(x));
      int number = 0;
      walk(e.body(), number, [&](const Instruction &i, int) {
        if (i.has_launch())
          entry["launches"].push_back({{"kernel", t.kernels(int(i.launch().kernel())).symbol()},
                                       {"workgroups", print_expr(plan, i.launch().workgroups())},
                                       {"label", i.launch().label()}});
      });
      target["entries"].push_back(entry);
    }
    j["targets"].push_back(target);
  }
  return j.dump(2) + "\n";
}

} // namespace quaver::plan
