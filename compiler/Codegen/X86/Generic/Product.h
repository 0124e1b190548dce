// A dispatch around one product, as the matrix kernels see it.
#pragma once
#include "compiler/Codegen/Common/KernelEmission.h"
#include "compiler/Codegen/X86/Heuristics/MatmulHeuristics.h"
#include "compiler/Dispatch/Views.h"

namespace quaver::codegen {

/// Scales of an operand's codes: element (i, j) has the one at i / rowBlock * rowStride + j / columnBlock *
/// columnStride. A stride of 0: one for all.
struct OperandScales {
  mlir::BlockArgument source;
  bool isE8m0 = false;                   // else f32
  int64_t rowBlock = 0, columnBlock = 0; // 0: one block
  graph::DimExpr rowStride = 0, columnStride = 0;
};

/// An operand that lies in a binding: what it is a view of, and its sizes and strides there.
struct ProductOperand {
  mlir::BlockArgument source;
  ElementType type = ElementType::F32;
  dispatch::StridedView view;
  std::optional<OperandScales> scales; // of FP8 codes

  const graph::DimExpr &rows() const { return view.dims[view.dims.size() - 2]; }
  const graph::DimExpr &columns() const { return view.dims.back(); }
  const graph::DimExpr &rowStride() const { return *view.strides[view.strides.size() - 2]; }
  const graph::DimExpr &columnStride() const { return *view.strides.back(); }
};

/// The operand `v` of a matmul as views, or a dequantize and views, of block arguments; nullopt and one
/// clause in `why` where it is more than that.
std::optional<ProductOperand> productOperand(mlir::Value v, graph::ShapeAnalysis &shapes, std::string &why);

struct Product {
  graph::MatmulOp op;
  ProductOperand lhs, rhs;
  x86::MatmulConfig config;
  std::optional<x86::DenseView> packed;       // how the right side lies in its weight, which is packed ahead
  llvm::SmallVector<graph::DimExpr, 4> batch; // the leading dimensions
  bool rowsMerged = false;                    // they are counted as rows: one matrix

  /// The right side has one scale for each column: the epilogue multiplies by it.
  bool hasColumnScales() const {
    return rhs.scales && !rhs.scales->isE8m0 && rhs.scales->columnBlock == 1 && !rhs.scales->rowBlock;
  }
};

/// The product of a dispatch and the kernel that computes it. nullopt where the generic path must: `why` then
/// says the reason (one clause), or is empty where there is no product.
std::optional<Product> findProduct(plan_ir::DispatchOp dispatch, graph::ShapeAnalysis &shapes,
                                   const Target &target, std::string &why);

/// Emits the dispatch of a product with the contract of emitGenericKernel.
mlir::LogicalResult emitProduct(Product &product, plan_ir::DispatchOp dispatch, graph::ShapeAnalysis &shapes,
                                const Target &target, mlir::ModuleOp kernels, llvm::StringRef symbol);

} // namespace quaver::codegen
