// Where the interpreter's tensors come from and go to: .npy files, random specifications, modules in files.
#pragma once
#include "compiler/Interpreter/Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "runtime/base/npy.h"
#include "runtime/base/status.h"

namespace quaver::interpreter {

/// Reads an .npy file that must hold elements of `type` (what numpy cannot name, like bf16, is known from the
/// entry).
StatusOr<Tensor> readTensor(const std::string &path, ElementType type);
/// An array that was read, as a tensor; `where` begins the message of another element type ("x.npy: ").
StatusOr<Tensor> tensorFromArray(NpyArray array, ElementType type, const std::string &where);
Status writeTensor(const std::string &path, const Tensor &tensor);

/// "@file.npy"; or SHAPExTYPE=VALUE as in "1x128xi64=rand(0,32000)", VALUE being rand(LOW,HIGH) (HIGH
/// excluded), normal(MEAN,DEVIATION) or a number. Random values depend on seed and position only.
StatusOr<Tensor> tensorFromSpec(llvm::StringRef spec, ElementType type, uint64_t seed);

/// Inputs of an entry in its order from "name=spec" texts; an entry's input without one is an error that
/// lists the names.
StatusOr<llvm::SmallVector<Tensor>> inputsFromSpecs(mlir::func::FuncOp entry,
                                                    llvm::ArrayRef<std::string> specs, uint64_t seed);
/// graph.name of an argument or result; "input0" or "output0" where there is none.
std::string inputName(mlir::func::FuncOp entry, unsigned i);
std::string outputName(mlir::func::FuncOp entry, unsigned i);
/// The entry of that name, or the only one when it is empty.
StatusOr<mlir::func::FuncOp> findEntry(mlir::ModuleOp module, llvm::StringRef name);

/// Maps the bytes of weights that name a file (relative to `folder`) into the store under their symbols.
Status loadWeights(mlir::ModuleOp module, const std::string &folder, WeightStore &weights);

/// The tensor as text: rows in brackets, %.9g.
std::string toText(const Tensor &tensor);

} // namespace quaver::interpreter
