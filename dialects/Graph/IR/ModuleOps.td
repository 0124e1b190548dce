// Symbols of a module (dimensions, weights, state) and control flow.
#ifndef QUAVER_GRAPH_MODULE_TD
#define QUAVER_GRAPH_MODULE_TD
include "GraphBase.td"

def Graph_DimOp : Graph_Op<"dim", [Symbol]> {
  let summary = "a dimension symbol: graph.dim @seq {min = 1, max = 4096, multiple_of = 1}";
  let description = "max absent: no bound is stated.";
  let arguments = (ins SymbolNameAttr:$sym_name, DefaultValuedAttr<I64Attr, "0">:$min, OptionalAttr<I64Attr>:$max,
                       DefaultValuedAttr<I64Attr, "1">:$multiple_of);
  let assemblyFormat = "$sym_name attr-dict";
  let hasVerifier = 1;
}
def Graph_WeightOp : Graph_Op<"weight", [Symbol]> {
  let summary = "a constant tensor outside the IR: its place is file, offset, bytes";
  let description = [{
    `file` empty: the bytes are held by the compilation's weight store under the symbol's name (spans of the mapped model, or what
    a weight program made). `source_name` is the name in the source model.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$type, StrAttr:$source_name,
                       DefaultValuedAttr<StrAttr, "\"\"">:$file, DefaultValuedAttr<I64Attr, "0">:$offset,
                       DefaultValuedAttr<I64Attr, "0">:$bytes);
  let assemblyFormat = "$sym_name `:` $type attr-dict";
  let hasVerifier = 1;
}
def Graph_GetWeightOp : Graph_PureOp<"get_weight", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the value of a weight";
  let arguments = (ins FlatSymbolRefAttr:$weight);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$weight attr-dict `:` type($result)";
}
def Graph_StateOp : Graph_Op<"state", [Symbol]> {
  let summary = "a tensor that lives across runs; starts as zeros or as a weight";
  let description = "`dims` spells each size as graph.dims does on arguments; dynamic sizes need it.";
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$type, OptionalAttr<FlatSymbolRefAttr>:$init,
                       OptionalAttr<StrArrayAttr>:$dims);
  let assemblyFormat = "$sym_name `:` $type attr-dict";
  let hasVerifier = 1;
}
def Graph_ReadStateOp : Graph_Op<"read_state", [DeclareOpInterfaceMethods<SymbolUserOpInterface>,
                                                MemoryEffects<[MemRead]>]> {
  let summary = "the state's value now";
  let arguments = (ins FlatSymbolRefAttr:$state);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$state attr-dict `:` type($result)";
}
def Graph_UpdateStateOp : Graph_Op<"update_state", [DeclareOpInterfaceMethods<SymbolUserOpInterface>,
                                                    MemoryEffects<[MemWrite]>]> {
  let summary = "what the state is from here on";
  let arguments = (ins FlatSymbolRefAttr:$state, Graph_Tensor:$value);
  let assemblyFormat = "$state `,` $value attr-dict `:` type($value)";
}

def Graph_IfOp : Graph_Op<"if", [RecursiveMemoryEffects, NoRegionArguments, SingleBlock]> {
  let summary = "runs one of two regions by a one-element i1 tensor";
  let arguments = (ins Graph_Tensor:$condition);
  let results = (outs Variadic<Graph_Tensor>:$results);
  let regions = (region SizedRegion<1>:$then_region, SizedRegion<1>:$else_region);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results) $then_region `else` $else_region";
  let hasVerifier = 1;
}
def Graph_WhileOp : Graph_Op<"while", [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "carried values go through `before`, which yields (i1, values...), then through `body` while the i1 holds";
  let description = [{
    Both regions take the carried values; `body` yields the next ones. Results are the values that `before` yielded when it said
    false. Carried types are fixed; a size that changes between iterations is a data-dependent dimension.
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$inits);
  let results = (outs Variadic<Graph_Tensor>:$results);
  let regions = (region SizedRegion<1>:$before, SizedRegion<1>:$body);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results) $before `do` $body";
  let hasVerifier = 1;
}
def Graph_YieldOp : Graph_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["IfOp", "WhileOp"]>]> {
  let summary = "ends a region with its values";
  let arguments = (ins Variadic<Graph_Tensor>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}
#endif
