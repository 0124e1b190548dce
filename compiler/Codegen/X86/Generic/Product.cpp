#include "compiler/Codegen/X86/Generic/Product.h"
#include "compiler/Codegen/X86/Generic/CallKernel.h"

using namespace mlir;
using quaver::graph::DimExpr;

namespace quaver::codegen {

static bool isOne(const DimExpr &e) { return e == DimExpr(1); }

// One matrix by another: the right side has no leading dimensions, and the rows of the left side lie at one
// distance.
static bool canMergeRows(const Product &p) {
  if (!llvm::all_of(ArrayRef(p.rhs.view.dims).drop_back(2), isOne))
    return false;
  DimExpr rows = p.lhs.rows();
  size_t leading = p.lhs.view.dims.size() - 2;
  if (leading > p.batch.size())
    return false;
  size_t missing = p.batch.size() - leading;
  for (size_t i = p.batch.size(); i-- > 0;) {
    if (isOne(p.batch[i]))
      continue;
    if (i < missing || p.lhs.view.dims[i - missing] != p.batch[i])
      return false;
    auto stride = p.lhs.view.strides[i - missing];
    if (!stride || *stride != p.lhs.rowStride() * rows)
      return false;
    rows = rows * p.batch[i];
  }
  return true;
}

// Is the binding a constant of the module, read by nothing but the product?
static bool isWeight(const ProductOperand &x, Value operand, plan_ir::DispatchOp dispatch) {
  for (Value v = operand;; v = v.getDefiningOp()->getOperand(0)) {
    if (!v.hasOneUse())
      return false;
    if (v == x.source)
      break;
  }
  Value v = dispatch.getInputs()[x.source.getArgNumber()];
  while (Operation *op = v.getDefiningOp()) {
    if (isa<graph::GetWeightOp, graph::ConstantOp>(op))
      return true;
    if (dispatch::classify(op) != dispatch::OpClass::Alias || isa<graph::BitcastOp>(op))
      return false;
    v = op->getOperand(0);
  }
  return false;
}

// The right side as k and n with constant strides.
static std::optional<x86::DenseView> denseView(const ProductOperand &x) {
  auto k = x.rows().getConstant(), n = x.columns().getConstant(), ks = x.rowStride().getConstant(),
       ns = x.columnStride().getConstant();
  if (!k || !n || !ks || !ns)
    return std::nullopt;
  return x86::DenseView{*k, *n, *ks, *ns};
}

static bool isMx(const Product &p) { return p.rhs.scales && p.rhs.scales->isE8m0; }

// Why no kernel reads these scales (one clause); empty when one does.
static std::string whyNotScales(const Product &p) {
  auto isBlock = [](int64_t block, int64_t want) { return block == 0 || block == want; };
  if (isMx(p)) {
    bool fits = isBlock(p.rhs.scales->rowBlock, 32) && isBlock(p.rhs.scales->columnBlock, 1) &&
                (!p.lhs.scales || (p.lhs.scales->isE8m0 && isBlock(p.lhs.scales->rowBlock, 1) &&
                                   isBlock(p.lhs.scales->columnBlock, 32)));
    return fits ? "" : "E8M0 scales are not in blocks of 1x32 and 32x1 on the two sides";
  }
  if (p.lhs.scales && p.lhs.scales->isE8m0)
    return "the left side's scales are E8M0, the right side's are not";
  if (p.lhs.scales && !(isBlock(p.lhs.scales->rowBlock, 1) && isBlock(p.lhs.scales->columnBlock, 128)))
    return "the left side's scales are not in blocks of 1x128";
  if (p.rhs.scales && !p.hasColumnScales() &&
      !(isBlock(p.rhs.scales->rowBlock, 128) && isBlock(p.rhs.scales->columnBlock, 128)))
    return "the right side's scales are not in blocks of 128x128, nor one for each column";
  return "";
}

// The kernel for a product by a weight, which it wants packed; else the one for any two tensors.
static bool chooseKernel(Product &p, plan_ir::DispatchOp dispatch, x86::FeatureSet features,
                         std::string &why) {
  x86::MatmulDesc desc;
  desc.features = features, desc.lhs = p.lhs.type, desc.rhs = p.rhs.type;
  desc.inBf16 =
      p.lhs.type == ElementType::BF16 && p.rhs.type != ElementType::F32 && p.rhs.type != ElementType::F16;
  desc.isMx = isMx(p);
  std::string refusal = whyNotScales(p);
  bool isPackable = refusal.empty() && p.rowsMerged && isWeight(p.rhs, p.op.getRhs(), dispatch);
  auto view = isPackable ? denseView(p.rhs) : std::nullopt;
  if (view) {
    desc.n = view->n, desc.k = view->k;
    if (auto config = x86::chooseMatmul(desc, refusal))
      return p.config = *config, p.packed = *view, true;
  }
  if (p.lhs.scales || p.rhs.scales)
    return why = refusal.empty() ? "codes are multiplied only by weights" : refusal, false;
  desc.source = x86::RhsSource::Strided;
  auto config = x86::chooseMatmul(desc, why);
  if (!config)
    return false;
  p.config = *config;
  if (!refusal.empty())
    p.config.why += "; the weight is not packed: " + refusal;
  return true;
}

std::optional<Product> findProduct(plan_ir::DispatchOp dispatch, graph::ShapeAnalysis &shapes,
                                   const Target &target, std::string &why) {
  Product p;
  for (Operation &op : dispatch.getBody().front())
    if (auto m = dyn_cast<graph::MatmulOp>(op)) {
      if (p.op)
        return why = "two products in one dispatch", std::nullopt;
      p.op = m;
    }
  if (!p.op)
    return std::nullopt;
  auto features = x86::featureSetOfTarget(target.name);
  if (!features)
    return why = "there are none for " + target.name, std::nullopt;
  if (!wideType(p.op.getResult()))
    return why = "its sums are not f32", std::nullopt;
  if (auto no = whyNotEpilogue(dispatch, p.op, shapes))
    return why = *no, std::nullopt;
  auto lhs = productOperand(p.op.getLhs(), shapes, why);
  auto rhs = lhs ? productOperand(p.op.getRhs(), shapes, why) : std::nullopt;
  if (!rhs)
    return std::nullopt;
  p.lhs = *lhs, p.rhs = *rhs;
  const auto &d = shapes.get(p.op.getResult()).dims;
  p.batch.assign(d.begin(), d.end() - 2);
  p.rowsMerged = canMergeRows(p);
  if (!chooseKernel(p, dispatch, *features, why))
    return std::nullopt;
  return p;
}

} // namespace quaver::codegen
