#include "compiler/Interpreter/Inputs.h"
#include "dialects/Graph/IR/GraphDialect.h"
#include "runtime/base/mapped_file.h"
#include "runtime/numerics/npy_types.h"
#include "runtime/numerics/tensor_spec.h"

using namespace mlir;

namespace quaver::interpreter {

StatusOr<Tensor> tensorFromArray(NpyArray array, ElementType type, const std::string &where) {
  if (!npy_holds(array.descr, type))
    return InvalidArgumentError(where, "holds elements of '", array.descr, "', but the input is ",
                                mlir_name(type), " ('", npy_descr(type),
                                "'); convert it with numpy's astype");
  auto owned = std::make_shared<std::vector<char>>(std::move(array.bytes));
  return Tensor::borrow(type, array.shape, owned->data(), owned);
}

StatusOr<Tensor> readTensor(const std::string &path, ElementType type) {
  QUAVER_ASSIGN_OR_RETURN(NpyArray array, read_npy(path));
  return tensorFromArray(std::move(array), type, path + ": ");
}

Status writeTensor(const std::string &path, const Tensor &t) {
  return write_npy(path, std::string(npy_descr(t.type())),
                   std::span<const int64_t>(t.shape().data(), t.shape().size()),
                   std::span<const char>(t.data(), size_t(t.bytes())));
}

StatusOr<Tensor> tensorFromSpec(StringRef spec, ElementType type, uint64_t seed) {
  if (spec.consume_front("@"))
    return readTensor(spec.str(), type);
  QUAVER_ASSIGN_OR_RETURN(SpelledTensor spelled, parse_tensor_spec(std::string_view(spec), seed));
  if (spelled.type != type)
    return InvalidArgumentError("'", spec.str(), "' gives ", mlir_name(spelled.type), ", but the input is ",
                                mlir_name(type));
  auto owned = std::make_shared<std::vector<char>>(std::move(spelled.bytes));
  return Tensor::borrow(type, spelled.shape, owned->data(), owned);
}

std::string inputName(func::FuncOp entry, unsigned i) {
  auto name = entry.getArgAttrOfType<StringAttr>(i, "graph.name");
  return name ? name.str() : "input" + std::to_string(i);
}
std::string outputName(func::FuncOp entry, unsigned i) {
  auto name = entry.getResultAttrOfType<StringAttr>(i, "graph.name");
  return name ? name.str() : "output" + std::to_string(i);
}

StatusOr<SmallVector<Tensor>> inputsFromSpecs(func::FuncOp entry, ArrayRef<std::string> specs,
                                              uint64_t seed) {
  std::map<std::string, StringRef> given;
  for (StringRef s : specs) {
    auto [name, spec] = s.split('=');
    if (spec.empty())
      return InvalidArgumentError("input '", s.str(), "': expected NAME=@FILE.npy or NAME=SHAPExTYPE=VALUE");
    given[name.str()] = spec;
  }
  SmallVector<Tensor> inputs;
  std::string missing;
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    std::string name = inputName(entry, i);
    auto it = given.find(name);
    if (it == given.end()) {
      missing += (missing.empty() ? "" : ", ") + name;
      continue;
    }
    auto tensor = tensorFromSpec(
        it->second, elementTypeOf(getElementTypeOrSelf(entry.getArgument(i).getType())), seed + i);
    if (!tensor.ok())
      return Status(tensor.status().code(), "input '" + name + "': " + tensor.status().message());
    inputs.push_back(*tensor);
    given.erase(it);
  }
  if (!missing.empty())
    return InvalidArgumentError("no value for input ", missing, "; give NAME=@FILE.npy");
  if (!given.empty()) {
    std::string names;
    for (unsigned i = 0; i < entry.getNumArguments(); ++i)
      names += (i ? ", " : "") + inputName(entry, i);
    return InvalidArgumentError("the model has no input '", given.begin()->first, "'; it has ", names);
  }
  return inputs;
}

StatusOr<func::FuncOp> findEntry(ModuleOp module, StringRef name) {
  func::FuncOp found;
  std::string names;
  for (auto f : module.getOps<func::FuncOp>()) {
    if (f.isExternal())
      continue;
    if (!names.empty() && name.empty())
      return InvalidArgumentError("the module has several entries: name one of ", names, ", @",
                                  f.getName().str());
    names += (names.empty() ? "@" : ", @") + f.getName().str();
    if (name.empty() || f.getName() == name)
      found = f;
  }
  if (!found)
    return NotFoundError("no entry @", name.str(), "; there is ", names.empty() ? "none" : names);
  return found;
}

Status loadWeights(ModuleOp module, const std::string &folder, WeightStore &weights) {
  std::map<std::string, std::shared_ptr<MappedFile>> files;
  for (auto w : module.getOps<graph::WeightOp>()) {
    if (w.getFile().empty())
      continue;
    std::string path =
        w.getFile().starts_with("/") || folder.empty() ? w.getFile().str() : folder + "/" + w.getFile().str();
    auto &file = files[path];
    if (!file) {
      QUAVER_ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::open(path));
      file = std::make_shared<MappedFile>(std::move(mapped));
    }
    auto type = cast<RankedTensorType>(w.getType());
    uint64_t offset = w.getOffset(), bytes = uint64_t(storageBytes(type)), size = file->bytes().size();
    if (offset > size || bytes > size - offset)
      return DataLossError("weight @", w.getSymName().str(), ": bytes ", offset, " to ", offset + bytes,
                           " are past the end of ", path, " (", size, " bytes)");
    ArrayRef<char> span(reinterpret_cast<const char *>(file->bytes().data()) + offset, bytes);
    std::string name = weights.add(w.getSymName(), WeightData{type, span, w.getSourceName().str(), "", file});
    if (name != w.getSymName())
      return InvalidArgumentError("weight @", w.getSymName().str(), " cannot be held under its name");
  }
  return OkStatus();
}

static void printRows(const Tensor &t, int64_t d, int64_t &at, std::string &s) {
  if (d == t.rank()) {
    char text[40];
    if (is_float(t.type()))
      std::snprintf(text, sizeof text, "%.9g", t.number(at));
    else if (t.type() == ElementType::U64)
      std::snprintf(text, sizeof text, "%llu", static_cast<unsigned long long>(t.integer(at)));
    else
      std::snprintf(text, sizeof text, "%lld", static_cast<long long>(t.integer(at)));
    s += text;
    ++at;
    return;
  }
  s += "[";
  for (int64_t i = 0; i < t.dim(d); ++i) {
    if (i)
      s += ", ";
    printRows(t, d + 1, at, s);
  }
  s += "]";
}

std::string toText(const Tensor &t) {
  std::string s = t.typeString() + " ";
  int64_t at = 0;
  printRows(t, 0, at, s);
  return s;
}

} // namespace quaver::interpreter
