// A dispatch around one product, as the matrix kernels see it.
#pragma once
#include "compiler/Codegen/Common/KernelEmission.h"
#include "compiler/Codegen/X86/Heuristics/MatmulHeuristics.h"
#include "compiler/Dispatch/Views.h"

namespace quaver::codegen {

/// An operand that lies in a binding: what it is a view of, and its sizes and strides there.
struct ProductOperand {
  mlir::BlockArgument source;
  ElementType type;
  dispatch::StridedView view;

  const graph::DimExpr &rows() const { return view.dims[view.dims.size() - 2]; }
  const graph::DimExpr &columns() const { return view.dims.back(); }
  const graph::DimExpr &rowStride() const { return *view.strides[view.strides.size() - 2]; }
  const graph::DimExpr &columnStride() const { return *view.strides.back(); }
};

struct Product {
  graph::MatmulOp op;
  ProductOperand lhs, rhs;
  x86::MatmulConfig config;
  std::optional<x86::DenseView> packed;       // how the right side lies in its weight, which is packed ahead
  llvm::SmallVector<graph::DimExpr, 4> batch; // the leading dimensions
  bool rowsMerged = false;                    // they are counted as rows: one matrix
};

/// The product of a dispatch and the kernel that computes it. nullopt where the generic path must: `why` then says the reason (one
/// clause), or is empty where there is no product.
std::optional<Product> findProduct(plan_ir::DispatchOp dispatch, graph::ShapeAnalysis &shapes, const HostTarget &target, std::string &why);

/// Emits the dispatch of a product with the contract of emitGenericKernel.
mlir::LogicalResult emitProduct(Product &product, plan_ir::DispatchOp dispatch, graph::ShapeAnalysis &shapes, const HostTarget &target,
                                mlir::ModuleOp kernels, llvm::StringRef symbol);

} // namespace quaver::codegen
