//===- runtime.cpp - the runtime's C interface for Python -------------------===//
// As thin as it can be: names, defaults and conversions of arrays are in session.py.
#include "python/quaver/tensor_exchange.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>

namespace quaver::python {
namespace {

const char *or_null(const std::string &text) { return text.empty() ? nullptr : text.c_str(); }

template <typename T, void (*Release)(T *)> class Handle {
public:
  explicit Handle(T *handle) : handle_(handle, Release) {}
  T *get() const { return handle_.get(); }

private:
  std::unique_ptr<T, void (*)(T *)> handle_;
};

using Bytes = nb::ndarray<uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

class States {
public:
  explicit States(qv_states *states) : states_(states) {}
  qv_states *get() const { return states_.get(); }

  void reset(const std::optional<std::string> &name) {
    check(qv_states_reset(get(), name ? name->c_str() : nullptr));
  }

  nb::object save(const std::string &name) {
    size_t bytes = 0;
    check(qv_states_bytes(get(), name.c_str(), &bytes));
    nb::object array = nb::module_::import_("numpy").attr("empty")(bytes, "uint8");
    check(qv_states_save(get(), name.c_str(), nb::cast<Bytes>(array).data(), bytes));
    return array;
  }

  void load(const std::string &name,
            nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> from) {
    check(qv_states_load(get(), name.c_str(), from.data(), from.nbytes()));
  }

private:
  Handle<qv_states, qv_states_release> states_;
};

class Session {
public:
  Session(const std::string &path, const std::string &device, const std::string &target, int threads,
          uint64_t seed) {
    nb::gil_scoped_release release;
    qv_model *model = nullptr;
    qv_status *status = qv_model_open(path.c_str(), &model);
    Handle<qv_model, qv_model_release> keep(model);
    qv_session_options options{sizeof(qv_session_options), device.c_str(), or_null(target), threads, seed};
    qv_session *session = nullptr;
    if (!status)
      status = qv_session_create(model, &options, &session);
    session_.reset(session);
    nb::gil_scoped_acquire acquire;
    check(status);
  }

  /// ([input], [output]), each (name, type number, [(dimension name, size)]).
  nb::tuple describe(const std::string &entry) {
    nb::list inputs, outputs;
    qv_tensor_info info;
    // The first query fails for an unknown entry, with the message that names the known ones.
    size_t input_count = qv_session_input_count(get(), or_null(entry));
    size_t output_count = qv_session_output_count(get(), or_null(entry));
    if (input_count + output_count == 0)
      check_entry(entry);
    for (size_t i = 0; i < input_count; ++i) {
      check(qv_session_input(get(), or_null(entry), i, &info));
      inputs.append(describe_tensor(info));
    }
    for (size_t i = 0; i < output_count; ++i) {
      check(qv_session_output(get(), or_null(entry), i, &info));
      outputs.append(describe_tensor(info));
    }
    return nb::make_tuple(inputs, outputs);
  }

  nb::list describe_states() {
    nb::list states;
    for (size_t i = 0; i < qv_state_count(get()); ++i) {
      qv_tensor_info info;
      check(qv_state_info(get(), i, &info));
      states.append(describe_tensor(info));
    }
    return states;
  }

  nb::list run(const std::string &entry, nb::dict inputs, const std::vector<std::string> &names,
               const States *states) {
    nb::list results;
    for (const qv_output &output : run_allocating(entry, inputs, names, states))
      results.append(to_bytes(output));
    return results;
  }

  nb::list run_dlpack(const std::string &entry, nb::dict inputs, const std::vector<std::string> &names,
                      const States *states) {
    nb::list results;
    for (const qv_output &output : run_allocating(entry, inputs, names, states))
      results.append(to_dlpack(output));
    return results;
  }

  void run_into(const std::string &entry, nb::dict inputs, nb::dict into, const States *states) {
    std::vector<std::string> names;
    std::vector<Bytes> arrays;
    for (auto [name, array] : into) {
      names.push_back(nb::cast<std::string>(name));
      arrays.push_back(nb::cast<Bytes>(array));
    }
    std::vector<qv_output> outputs(names.size());
    for (size_t i = 0; i < names.size(); ++i) {
      outputs[i].name = names[i].c_str();
      outputs[i].data = arrays[i].data();
      outputs[i].capacity = arrays[i].nbytes();
    }
    run_outputs(entry, inputs, outputs, states);
  }

  std::vector<std::string> entries() {
    std::vector<std::string> names;
    for (size_t i = 0; i < qv_session_entry_count(get()); ++i)
      names.emplace_back(qv_session_entry_name(get(), i));
    return names;
  }

  std::unique_ptr<States> own_states() {
    qv_states *states = nullptr;
    check(qv_session_states(get(), &states));
    return std::make_unique<States>(states);
  }
  std::unique_ptr<States> create_states() {
    qv_states *states = nullptr;
    check(qv_states_create(get(), &states));
    return std::make_unique<States>(states);
  }

  nb::dict memory() {
    qv_memory_use use{};
    check(qv_session_memory(get(), &use));
    nb::dict result;
    result["weights"] = use.weights;
    result["states"] = use.states;
    result["arenas"] = use.arenas;
    result["arenas_high_water"] = use.arenas_high_water;
    result["run_high_water"] = use.run_high_water;
    result["dynamic_high_water"] = use.dynamic_high_water;
    return result;
  }

  std::string peak_formula(const std::string &entry) {
    const char *formula = qv_session_peak_formula(get(), or_null(entry));
    if (!formula)
      check_entry(entry);
    return formula ? formula : "";
  }

  std::string target() { return qv_session_target(get()); }
  int threads() { return qv_session_threads(get()); }

private:
  qv_session *get() const { return session_.get(); }

  static nb::tuple describe_tensor(const qv_tensor_info &info) {
    nb::list dims;
    for (int32_t i = 0; i < info.rank; ++i)
      dims.append(nb::make_tuple(info.dims[i].name, info.dims[i].size));
    return nb::make_tuple(info.name, static_cast<int>(info.type), dims);
  }

  /// Raises for an unknown entry; does nothing for one without inputs and outputs.
  void check_entry(const std::string &entry) {
    qv_tensor_info info;
    qv_status *status = qv_session_input(get(), or_null(entry), 0, &info);
    bool is_known = false;
    for (const std::string &name : entries())
      is_known |= entry.empty() || name == entry;
    if (is_known)
      qv_status_release(status);
    else
      check(status);
  }

  std::vector<qv_output> run_allocating(const std::string &entry, nb::dict inputs,
                                        const std::vector<std::string> &names, const States *states) {
    std::vector<qv_output> outputs(names.size());
    for (size_t i = 0; i < names.size(); ++i)
      outputs[i].name = names[i].c_str();
    run_outputs(entry, inputs, outputs, states);
    return outputs;
  }

  void run_outputs(const std::string &entry, nb::dict inputs, std::vector<qv_output> &outputs,
                   const States *states) {
    Feed feed(inputs);
    qv_run_options options{sizeof(qv_run_options), nullptr, nullptr, states ? states->get() : nullptr};
    qv_status *status;
    {
      nb::gil_scoped_release release;
      status = qv_run(get(), or_null(entry), feed.inputs().data(), feed.inputs().size(), outputs.data(),
                      outputs.size(), &options);
    }
    check(status);
  }

  std::unique_ptr<qv_session, void (*)(qv_session *)> session_{nullptr, qv_session_release};
};

} // namespace

NB_MODULE(_runtime, m) {
  m.doc() = "Binds runtime/api/quaver.h; use the quaver package.";
  m.def("version", [] { return std::string(qv_version()); });
  nb::class_<States>(m, "States")
      .def("reset", &States::reset, nb::arg("name").none())
      .def("save", &States::save)
      .def("load", &States::load);
  nb::class_<Session>(m, "Session")
      .def(nb::init<const std::string &, const std::string &, const std::string &, int, uint64_t>())
      .def("describe", &Session::describe)
      .def("describe_states", &Session::describe_states)
      .def("run", &Session::run, nb::arg("entry"), nb::arg("inputs"), nb::arg("names"),
           nb::arg("states").none())
      .def("run_dlpack", &Session::run_dlpack, nb::arg("entry"), nb::arg("inputs"), nb::arg("names"),
           nb::arg("states").none())
      .def("run_into", &Session::run_into, nb::arg("entry"), nb::arg("inputs"), nb::arg("outputs"),
           nb::arg("states").none())
      .def("entries", &Session::entries)
      .def("own_states", &Session::own_states)
      .def("create_states", &Session::create_states)
      .def("memory", &Session::memory)
      .def("peak_formula", &Session::peak_formula)
      .def("target", &Session::target)
      .def("threads", &Session::threads);
}

} // namespace quaver::python
