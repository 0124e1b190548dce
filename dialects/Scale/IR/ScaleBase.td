// The `scale` dialect: in which numbers a model is computed. See ../Spec.md for the constraints that the verifiers name.
#ifndef QUAVER_SCALE_BASE_TD
#define QUAVER_SCALE_BASE_TD
include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/Graph/IR/GraphBase.td"

def Scale_Dialect : Dialect {
  let name = "scale";
  let cppNamespace = "::quaver::scale";
  let summary = "in which numbers: FP8 tensors with their scales, and each product's formats with the reason for them";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::quaver::graph::GraphDialect"];
}

def Scale_TensorType : TypeDef<Scale_Dialect, "ScaledTensor"> {
  let mnemonic = "tensor";
  let summary = "FP8 codes and their scales as one value";
  let description = [{
    `!scale.tensor<4096x7168xf8E4M3FN, scales = 128x128xf32>`: elements that lie in one block of 128 x 128 share one f32 scale, and
    stand for code * scale. `?` in the scales' sizes: a block is the whole dimension. The last block of a dimension may be short.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType, ArrayRefParameter<"int64_t">:$blocks,
                        "::mlir::Type":$scaleType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// A block that is the whole dimension.
    static constexpr int64_t kWhole = 0;
    int64_t getRank() const { return int64_t(getShape().size()); }
    /// The tensor of codes, and that of scales: ceil(size / block) along each dimension, 1 for a whole one.
    ::mlir::RankedTensorType getCodesType() const;
    ::mlir::RankedTensorType getScalesType() const;
    /// "128x128xf32": as the type prints it.
    std::string getLayout() const;
  }];
}

def Scale_PrecisionAttr : AttrDef<Scale_Dialect, "Precision"> {
  let mnemonic = "precision";
  let summary = "the formats of one product: operands, sums, result, and the recipe of the scales";
  let description = [{
    `recipe` names how the right operand (the weight) is scaled: 128x128, per_tensor, per_channel, mx32; the left one follows: 1x128
    for 128x128, per_tensor, per row for per_channel, mx32. Empty where no operand is FP8.
  }];
  let parameters = (ins "::mlir::Type":$lhs, "::mlir::Type":$rhs, "::mlir::Type":$accumulate, "::mlir::Type":$out,
                        StringRefParameter<>:$recipe);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Scale_AnyTensor : AnyTypeOf<[AnyRankedTensor, Scale_TensorType]>;

class Scale_Op<string mnemonic, list<Trait> traits = []>
    : Op<Scale_Dialect, mnemonic, !listconcat([Pure, DeclareOpInterfaceMethods<Graph_InferShapesInterface>], traits)> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
#endif
