#include "compiler/Precision/Calibrate/Dataset.h"
#include "compiler/Interpreter/Inputs.h"
#include "dialects/Graph/Analysis/DimExpr.h"
#include "runtime/base/npz.h"
#include <filesystem>

using namespace mlir;

namespace quaver::precision {

using interpreter::Tensor;

namespace {

std::string namesOf(func::FuncOp entry) {
  std::string names;
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    names += (i ? ", " : "") + interpreter::inputName(entry, i);
  return names.empty() ? "none" : names;
}

/// Sizes of the dimension symbols, as the inputs of one run bind them, and which input did.
class Symbols {
public:
  Status bind(func::FuncOp entry, unsigned i, const Tensor &t, const std::string &where) {
    auto dims = entry.getArgAttrOfType<ArrayAttr>(i, "graph.dims");
    for (int64_t d = 0; dims && d < t.rank() && d < int64_t(dims.size()); ++d) {
      auto expr = graph::DimExpr::parse(cast<StringAttr>(dims[d]).getValue());
      auto symbol = expr ? expr->getSymbol() : std::nullopt;
      if (!symbol)
        continue;
      auto [it, isNew] = sizes.try_emplace(*symbol, std::pair(t.dim(d), interpreter::inputName(entry, i)));
      if (it->second.first != t.dim(d))
        return InvalidArgumentError(where, "has size ", t.dim(d), " in dimension ", d, ", which is \"",
                                    *symbol, "\", but in \"", it->second.second, "\" that is ",
                                    it->second.first);
    }
    return OkStatus();
  }

private:
  std::map<std::string, std::pair<int64_t, std::string>> sizes;
};

Status checkShape(RankedTensorType type, const Tensor &t, const std::string &where) {
  bool fits = t.rank() == type.getRank();
  for (int64_t d = 0; fits && d < t.rank(); ++d)
    fits = type.isDynamicDim(d) || type.getDimSize(d) == t.dim(d);
  if (fits)
    return OkStatus();
  std::string want;
  llvm::raw_string_ostream(want) << type;
  return InvalidArgumentError(where, "is ", t.typeString(), ", but the model takes ", want);
}

} // namespace

StatusOr<Dataset> Dataset::open(const std::string &path) {
  namespace fs = std::filesystem;
  Dataset data;
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    if (!fs::exists(path, error))
      return NotFoundError(path, ": there is no such file or folder; inputs are an .npz file (one run; its "
                                 "arrays have the names of the model's inputs) or a folder of them");
    if (!path.ends_with(".npz"))
      return InvalidArgumentError(path,
                                  ": is no .npz file; write the inputs with numpy.savez, one file a run");
    data.files = {path};
    return data;
  }
  fs::directory_iterator folder(path, error);
  if (error)
    return InvalidArgumentError(path, ": cannot be read: ", error.message());
  for (const fs::directory_entry &file : folder)
    if (file.path().extension() == ".npz")
      data.files.push_back(file.path().string());
  if (data.files.empty())
    return NotFoundError(path, ": the folder holds no .npz files; each would be one run");
  std::sort(data.files.begin(), data.files.end());
  return data;
}

StatusOr<SmallVector<Tensor>> Dataset::read(size_t run, func::FuncOp entry) const {
  assert(run < files.size() && "there are size() runs");
  const std::string &file = files[run];
  QUAVER_ASSIGN_OR_RETURN(auto arrays, read_npz(file));
  SmallVector<Tensor> inputs;
  Symbols symbols;
  std::string missing;
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    std::string name = interpreter::inputName(entry, i), where = file + ": array \"" + name + "\" ";
    auto it = arrays.find(name);
    if (it == arrays.end()) {
      missing += (missing.empty() ? "\"" : ", \"") + name + "\"";
      continue;
    }
    auto type = cast<RankedTensorType>(entry.getArgument(i).getType());
    QUAVER_ASSIGN_OR_RETURN(
        Tensor tensor, interpreter::tensorFromArray(
                           std::move(it->second), interpreter::elementTypeOf(type.getElementType()), where));
    arrays.erase(it);
    QUAVER_RETURN_IF_ERROR(checkShape(type, tensor, where));
    QUAVER_RETURN_IF_ERROR(symbols.bind(entry, i, tensor, where));
    inputs.push_back(std::move(tensor));
  }
  if (!missing.empty())
    return InvalidArgumentError(file, ": has no array ", missing, "; the model's inputs are ",
                                namesOf(entry));
  if (!arrays.empty())
    return InvalidArgumentError(file, ": array \"", arrays.begin()->first,
                                "\" is no input of the model; its inputs are ", namesOf(entry));
  return inputs;
}

} // namespace quaver::precision
