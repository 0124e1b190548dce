// The `graph` dialect: what is computed. Summaries and descriptions here are what ops mean; ../Spec.md numbers the constraints.
#ifndef QUAVER_GRAPH_BASE_TD
#define QUAVER_GRAPH_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "GraphInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

def Graph_Dialect : Dialect {
  let name = "graph";
  let cppNamespace = "::quaver::graph";
  let summary = "what is computed: tensors, no kernels, no buffers, no devices";
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
}

class Graph_I32Enum<string name, list<I32EnumAttrCase> cases> : I32EnumAttr<name, "", cases> {
  let cppNamespace = "::quaver::graph";
  let genSpecializedAttr = 0;
}

def Graph_CompareKindEnum : Graph_I32Enum<"CompareKind", [
    I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>, I32EnumAttrCase<"lt", 2>,
    I32EnumAttrCase<"le", 3>, I32EnumAttrCase<"gt", 4>, I32EnumAttrCase<"ge", 5>]>;
def Graph_CompareKind : EnumAttr<Graph_Dialect, Graph_CompareKindEnum, "compare_kind"> { let assemblyFormat = "`<` $value `>`"; }

def Graph_ReduceKindEnum : Graph_I32Enum<"ReduceKind", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"mean", 1>, I32EnumAttrCase<"max", 2>,
    I32EnumAttrCase<"min", 3>, I32EnumAttrCase<"prod", 4>]>;
def Graph_ReduceKind : EnumAttr<Graph_Dialect, Graph_ReduceKindEnum, "reduce_kind"> { let assemblyFormat = "`<` $value `>`"; }

def Graph_ScatterKindEnum : Graph_I32Enum<"ScatterKind", [
    I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"add", 1>, I32EnumAttrCase<"mul", 2>,
    I32EnumAttrCase<"max", 3>, I32EnumAttrCase<"min", 4>]>;
def Graph_ScatterKind : EnumAttr<Graph_Dialect, Graph_ScatterKindEnum, "scatter_kind"> { let assemblyFormat = "`<` $value `>`"; }

def Graph_PadModeEnum : Graph_I32Enum<"PadMode", [
    I32EnumAttrCase<"constant", 0>, I32EnumAttrCase<"reflect", 1>, I32EnumAttrCase<"edge", 2>,
    I32EnumAttrCase<"wrap", 3>]>;
def Graph_PadMode : EnumAttr<Graph_Dialect, Graph_PadModeEnum, "pad_mode"> { let assemblyFormat = "`<` $value `>`"; }

def Graph_PoolKindEnum : Graph_I32Enum<"PoolKind", [
    I32EnumAttrCase<"max", 0>, I32EnumAttrCase<"average", 1>, I32EnumAttrCase<"average_with_padding", 2>]>;
def Graph_PoolKind : EnumAttr<Graph_Dialect, Graph_PoolKindEnum, "pool_kind"> { let assemblyFormat = "`<` $value `>`"; }

// How a float becomes E8M0 (ONNX opset 24): runtime/numerics names the same policies.
def Graph_RoundModeEnum : Graph_I32Enum<"RoundMode", [
    I32EnumAttrCase<"nearest", 0>, I32EnumAttrCase<"up", 1>, I32EnumAttrCase<"down", 2>]>;
def Graph_RoundMode : EnumAttr<Graph_Dialect, Graph_RoundModeEnum, "round_mode"> { let assemblyFormat = "`<` $value `>`"; }

// How amax / max becomes a scale: runtime/numerics/scale_recipe.h, which is the rule.
def Graph_ScaleRoundingEnum : Graph_I32Enum<"ScaleRounding", [
    I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"power_of_two", 1>, I32EnumAttrCase<"floor", 2>]>;
def Graph_ScaleRounding : EnumAttr<Graph_Dialect, Graph_ScaleRoundingEnum, "scale_rounding"> { let assemblyFormat = "`<` $value `>`"; }

def Graph_Tensor : AnyTypeOf<[AnyRankedTensor, AnyUnrankedTensor]>;   // unranked only while a graph is being built

class Graph_Op<string mnemonic, list<Trait> traits = []> : Op<Graph_Dialect, mnemonic, traits> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
class Graph_PureOp<string mnemonic, list<Trait> traits = []> : Graph_Op<mnemonic, !listconcat([Pure], traits)>;

#endif
