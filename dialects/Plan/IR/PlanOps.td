// The `plan` dialect: where and when. At entry dispatch regions over tensors, at exit buffers and launches.
#ifndef QUAVER_PLAN_OPS_TD
#define QUAVER_PLAN_OPS_TD
include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::quaver::plan_ir";
  let summary = "dispatches over tensors, then buffers and launches";
  let useDefaultTypePrinterParser = 1;
}
class Plan_Op<string mnemonic, list<Trait> traits = []> : Op<Plan_Dialect, mnemonic, traits>;

def Plan_BufferType : TypeDef<Plan_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "a range of one memory: arena, input, output, weight, state or dynamic";
}

def Plan_DispatchOp : Plan_Op<"dispatch", [Pure, IsolatedFromAbove, SingleBlock]> {
  let summary = "one launch: a cluster of graph and scale ops over tensors";
  let description = [{
    Block arguments are the operands. Codegen fills the attributes: `kernel`, and as dimension expressions (strings that
    DimExpr parses) `workgroups`, `constants` (in the kernel ABI's order), `scratch` (bytes a worker), `grain`. Operands and
    results are the kernel's bindings, in that order. A last result of type tensor<1xi64> may carry a data-dependent count.
    `block_threads`: threads of a GPU's block, which computes one workgroup; absent on the host.
    `packings` names constant operands that the kernel wants packed: {operand, storage, parameters, bytes}, see Packing.h.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, OptionalAttr<StrAttr>:$kernel, OptionalAttr<StrAttr>:$workgroups,
                       OptionalAttr<StrArrayAttr>:$constants, OptionalAttr<StrAttr>:$scratch, OptionalAttr<StrAttr>:$grain,
                       OptionalAttr<I64Attr>:$block_threads,
                       OptionalAttr<StrAttr>:$label, OptionalAttr<StrAttr>:$description, OptionalAttr<DictArrayAttr>:$packings);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results) $body";
  let hasVerifier = 1;
}
def Plan_YieldOp : Plan_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "the results of a dispatch, or the end of a plan block";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

// ---- Exit form: no tensor anywhere ----

def Plan_EntryOp : Plan_Op<"entry", [IsolatedFromAbove, Symbol, SingleBlock, NoTerminator]> {
  let summary = "an entry in buffer form; peak is the arena's bytes as a dimension expression";
  let description = "inputs and outputs are arrays of {name, type, dims}; dims are dimension expressions.";
  let arguments = (ins SymbolNameAttr:$sym_name, ArrayAttr:$inputs, ArrayAttr:$outputs, StrAttr:$peak);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasVerifier = 1;
}
def Plan_BufferOp : Plan_Op<"buffer", [Pure]> {
  let summary = "a range of a memory: its index there, its offset (arena), its bytes, what it holds";
  let arguments = (ins StrAttr:$memory, I64Attr:$index, StrAttr:$offset, StrAttr:$bytes, TypeAttr:$element, StrAttr:$label);
  let results = (outs Plan_BufferType:$buffer);
  let assemblyFormat = "$memory `[` $index `]` `at` $offset `bytes` $bytes `of` $element $label attr-dict";
  let hasVerifier = 1;
}
def Plan_LaunchOp : Plan_Op<"launch"> {
  let summary = "a kernel over workgroups; the last `num_written` buffers are written";
  let arguments = (ins StrAttr:$kernel, Variadic<Plan_BufferType>:$buffers, I64Attr:$num_written, StrAttr:$workgroups,
                       StrArrayAttr:$constants, StrAttr:$scratch, StrAttr:$grain, StrAttr:$label, StrAttr:$description,
                       OptionalAttr<I64Attr>:$block_threads);
  let assemblyFormat = "$kernel `(` $buffers `)` attr-dict";
  let hasVerifier = 1;
}
def Plan_CopyOp : Plan_Op<"copy"> {
  let summary = "bytes from one buffer to another";
  let arguments = (ins Plan_BufferType:$from, Plan_BufferType:$to, StrAttr:$bytes);
  let assemblyFormat = "$from `to` $to `bytes` $bytes attr-dict";
}
def Plan_ReadBackOp : Plan_Op<"read_back"> {
  let summary = "binds a data-dependent dimension to one element of a buffer";
  let arguments = (ins StrAttr:$dim, Plan_BufferType:$from, I64Attr:$element);
  let assemblyFormat = "$dim `from` $from `[` $element `]` attr-dict";
}
def Plan_CheckOp : Plan_Op<"check"> {
  let summary = "fails the run with the message unless the expression is not 0";
  let arguments = (ins StrAttr:$condition, StrAttr:$message);
  let assemblyFormat = "$condition $message attr-dict";
}
def Plan_IfOp : Plan_Op<"if", [NoRegionArguments, SingleBlock, NoTerminator]> {
  let summary = "one of two blocks by a one-byte bool";
  let arguments = (ins Plan_BufferType:$condition);
  let regions = (region SizedRegion<1>:$then_region, SizedRegion<1>:$else_region);
  let assemblyFormat = "$condition attr-dict-with-keyword $then_region `else` $else_region";
}
def Plan_WhileOp : Plan_Op<"while", [NoRegionArguments, SingleBlock, NoTerminator]> {
  let summary = "runs before, stops when the bool is false, runs body, repeats";
  let arguments = (ins Plan_BufferType:$condition);
  let regions = (region SizedRegion<1>:$before, SizedRegion<1>:$body);
  let assemblyFormat = "$condition attr-dict-with-keyword $before `do` $body";
}
#endif
