// Composites become simpler ops: see Passes.td.
#include "dialects/Graph/IR/GraphDialect.h"
#include "dialects/Graph/Transforms/Passes.h"

using namespace mlir;

namespace quaver::graph {
#define GEN_PASS_DEF_DECOMPOSEPASS
#include "dialects/Graph/Transforms/Passes.h.inc"

namespace {
struct DecomposeComposites : impl::DecomposePassBase<DecomposeComposites> {
  using Base::Base;
  void runOnOperation() override {
    for (bool changed = true; changed;) { // a decomposition may hold composites
      changed = false;
      SmallVector<DecomposeInterface> composites;
      getOperation().walk([&](DecomposeInterface op) {
        StringRef name = op->getName().stripDialect();
        if (llvm::none_of(keep, [&](const std::string &k) { return name == k; }))
          composites.push_back(op);
      });
      for (DecomposeInterface op : composites) {
        OpBuilder b(op);
        auto values = op.decompose(b);
        if (failed(values))
          return signalPassFailure();
        op->replaceAllUsesWith(*values);
        op->erase();
        ++decomposed;
        changed = true;
      }
    }
  }
};
} // namespace
} // namespace quaver::graph
