// Inputs that somebody recorded: what calibrating and comparing run a model on.
#pragma once
#include "compiler/Interpreter/Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/base/status.h"
#include <string>
#include <vector>

namespace quaver::precision {

/// Runs of a model: one .npz file is one run, its arrays have the names of the model's inputs. Only the
/// files' names are held; each run is read when it is asked for.
class Dataset {
public:
  /// An .npz file (one run), or a folder: its .npz files are the runs, in the order of their names compared
  /// byte by byte (run10 comes before run2). Other files of a folder are ignored; a folder without any is an
  /// error.
  static StatusOr<Dataset> open(const std::string &path);

  size_t size() const { return files.size(); }
  /// The file of a run.
  const std::string &getFile(size_t run) const { return files[run]; }

  /// The inputs of `entry` in its order. An error names the file and the array, and says what was expected:
  /// a name that the entry does not have or that is missing, another element type, another rank or size; a
  /// dimension symbol must have one size in all inputs of a run.
  StatusOr<llvm::SmallVector<interpreter::Tensor>> read(size_t run, mlir::func::FuncOp entry) const;

private:
  std::vector<std::string> files;
};

} // namespace quaver::precision
