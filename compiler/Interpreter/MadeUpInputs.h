// Inputs for an entry when nobody gives any.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>
#include <string>
#include <vector>

namespace quaver::interpreter {

/// `specs` ("name=spec", as tensorFromSpec reads them) and one more for every input of the entry that they do
/// not name: floats normal(0, 1), indices of an embedding within its rows, other integers and bools 1. A size
/// that is a symbol is 1 if it is the first of its input, else 16, within its range in `dims` (inclusive); a
/// symbol has one size in all inputs.
std::vector<std::string> completeSpecs(mlir::func::FuncOp entry, std::vector<std::string> specs,
                                       const std::map<std::string, std::pair<int64_t, int64_t>> &dims);

} // namespace quaver::interpreter
