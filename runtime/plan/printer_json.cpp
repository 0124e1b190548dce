#include "runtime/plan/element_type.h"
#include "runtime/plan/expr_printer.h"
#include "runtime/plan/lifetimes.h"
#include "runtime/plan/printer.h"
#include <nlohmann/json.hpp>

namespace quaver::plan {
namespace {

using nlohmann::json;

class JsonPrinter {
public:
  explicit JsonPrinter(const Plan &plan) : plan_(plan) {}

  json plan() const {
    json j = {{"model", plan_.model_name()},  {"precision", plan_.precision()},
              {"producer", plan_.producer()}, {"version", {plan_.major(), plan_.minor()}},
              {"dims", json::array()},        {"weights", json::array()},
              {"states", json::array()},      {"targets", json::array()}};
    for (const Dim &d : plan_.dims())
      j["dims"].push_back(dim(d));
    for (const Weight &w : plan_.weights())
      j["weights"].push_back(weight(w));
    for (const State &s : plan_.states()) {
      json state = tensor(s.type());
      state["capacity_bytes"] = expr(s.capacity());
      j["states"].push_back(state);
    }
    for (const Target &t : plan_.targets())
      j["targets"].push_back(target(t));
    return j;
  }

private:
  std::string expr(uint32_t e) const { return print_expr(plan_, e, 4000); }

  json dim(const Dim &d) const {
    json j = {{"name", d.name()}, {"min", d.min()}, {"data_dependent", d.data_dependent()}};
    j["max"] = d.max() ? json(d.max()) : json();
    j["multiple_of"] = d.multiple_of() > 1 ? d.multiple_of() : 1;
    if (d.upper_bound_plus_1())
      j["upper_bound"] = expr(d.upper_bound_plus_1() - 1);
    return j;
  }

  json weight(const Weight &w) const {
    json j = {{"name", w.name()},
              {"type", element_name(w.type())},
              {"shape", std::vector<int64_t>(w.shape().begin(), w.shape().end())},
              {"storage", w.storage()},
              {"packing", std::vector<int64_t>(w.packing().begin(), w.packing().end())},
              {"recipe", w.recipe()},
              {"bytes", plan_.blobs(int(w.blob())).bytes()},
              {"program", w.program()}};
    if (w.scales_plus_1())
      j["scales"] = plan_.weights(int(w.scales_plus_1() - 1)).name();
    return j;
  }

  json tensor(const TensorType &t) const {
    json shape = json::array();
    for (int i = 0; i < t.shape_size(); ++i)
      shape.push_back(t.dim_names_size() ? t.dim_names(i) : expr(t.shape(i)));
    return {{"name", t.name()}, {"type", element_name(t.type())}, {"shape", shape}};
  }

  json target(const Target &t) const {
    json j = {{"name", t.name()},
              {"features", std::vector<std::string>(t.features().begin(), t.features().end())},
              {"kernels", json::array()},
              {"entries", json::array()}};
    for (const Kernel &k : t.kernels())
      j["kernels"].push_back({{"symbol", k.symbol()}, {"description", k.description()}});
    for (const Entry &e : t.entries())
      j["entries"].push_back(entry(t, e));
    return j;
  }

  json entry(const Target &t, const Entry &e) const {
    json j = {{"name", e.name()},          {"peak_bytes", expr(e.arena_bytes())},
              {"inputs", json::array()},   {"outputs", json::array()},
              {"buffers", json::array()},  {"launches", json::array()},
              {"instructions", int64_t(0)}};
    for (const TensorType &x : e.inputs())
      j["inputs"].push_back(tensor(x));
    for (const TensorType &x : e.outputs())
      j["outputs"].push_back(tensor(x));
    std::vector<Lifetime> lives = buffer_lifetimes(e);
    for (int i = 0; i < e.buffers_size(); ++i) {
      const Buffer &b = e.buffers(i);
      json buffer = {
          {"memory", memory_name(b.memory())}, {"index", b.index()}, {"bytes", expr(b.bytes())},
          {"type", element_name(b.type())},    {"label", b.label()}, {"first_use", lives[size_t(i)].first},
          {"last_use", lives[size_t(i)].last}};
      if (b.memory() == Buffer::ARENA)
        buffer["offset"] = expr(b.offset());
      j["buffers"].push_back(buffer);
    }
    int count = 0;
    visit_instructions(e.body(), [&](const Instruction &i, int number) {
      ++count;
      if (!i.has_launch())
        return;
      const Launch &l = i.launch();
      json reads = json::array(), writes = json::array();
      for (const Binding &b : l.bindings())
        (b.written() ? writes : reads).push_back(b.buffer());
      j["launches"].push_back({{"instruction", number},
                               {"kernel", t.kernels(int(l.kernel())).symbol()},
                               {"workgroups", expr(l.workgroups())},
                               {"reads", reads},
                               {"writes", writes},
                               {"label", l.label()}});
    });
    j["instructions"] = count;
    return j;
  }

  const Plan &plan_;
};

// Names come from models and paths: bytes that are no UTF-8 are replaced instead of thrown at.
std::string dump(const json &j) { return j.dump(2, ' ', false, json::error_handler_t::replace) + "\n"; }

} // namespace

std::string plan_json(const Plan &plan) { return dump(JsonPrinter(plan).plan()); }

std::string print_json(const Artifact &artifact) {
  json j = JsonPrinter(artifact.plan()).plan();
  j["path"] = artifact.path();
  j["bytes"] = artifact.bytes();
  j["entries"] = json::array();
  for (const ArchiveEntry &e : artifact.entries())
    j["entries"].push_back({{"name", e.name}, {"bytes", e.bytes}});
  return dump(j);
}

} // namespace quaver::plan
