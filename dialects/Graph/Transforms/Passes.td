#ifndef QUAVER_GRAPH_PASSES_TD
#define QUAVER_GRAPH_PASSES_TD
include "mlir/Pass/PassBase.td"

def FoldShapesPass : Pass<"quaver-fold-shapes", "mlir::func::FuncOp"> {
  let summary = "Replace small integer tensors whose elements are known by graph.constant or graph.sizes";
  let description = [{
    Shape -> Gather -> Concat -> Reshape chains of real exports become `graph.reshape %x, %sizes`; what only fed them is dead. Values
    that depend on data stay.
    Before: %s = graph.shape %x; %0 = graph.gather %s, %zero; %1 = graph.concat %0, %c
    After:  %1 = graph.sizes ["batch", "64"]
  }];
  let statistics = [Statistic<"folded", "folded", "integer tensors replaced">];
}

def DecomposePass : Pass<"quaver-decompose", "mlir::func::FuncOp"> {
  let summary = "Replace composites by what they mean in simpler ops";
  let description = [{
    Repeats until no composite is left but those named in `keep`. `for-kernels` leaves what kernels compute as it is: dequantize of
    FP8 codes that only products read (through transposes), and dynamic_quantize to E4M3 in blocks of 1x128.
    Before: %1 = graph.softmax %0 {axis = 1}
    After:  max, sub, exp, sum, div
  }];
  let options = [ListOption<"keep", "keep", "std::string", "ops (without the dialect's name) that stay, none by default">,
                 Option<"forKernels", "for-kernels", "bool", "false", "leave composites that have kernels">];
  let statistics = [Statistic<"decomposed", "decomposed", "composites replaced">];
}
#endif
