// What part of a model an op is: its layer kind, by structure first, then by name.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include <string>

namespace quaver::precision {

/// The kind (Policy.h, kKinds) of every product, every look-up in a table that is a weight, and every norm of
/// a module whose attention and expert composites are decomposed. By structure:
///   router             its result is ranked by top_k
///   expert             its weight is a slice of a stack of weights, or looked up in one
///   attention_product  two computed operands, its result goes into a softmax or its left operand comes out
///   of one attention_qkv      its result reaches an operand of an attention product; so does, before a norm,
///   a low-rank factor of one attention_output   its left operand comes from an attention product output_head
///   its weight is also a table, or its result is an output with at most elementwise ops behind it
///   outer_product      sums over one element
///   product            no weight on the right
///   ffn                any other weight, unless its name says more (expert, router, lm_head, q_proj, ...)
llvm::DenseMap<mlir::Operation *, std::string> layerKinds(mlir::ModuleOp module);

/// Source name of the weight that a constant value comes from; empty where there is none.
std::string weightNameOf(mlir::Value v);

} // namespace quaver::precision
