#include "mlir/IR/Verifier.h"
// quaver-import-dump MODEL.onnx: imports a model and prints the module, or the error. For tests and for
// looking.
#include "compiler/Import/Onnx/ImportOnnx.h"

int main(int argc, char **argv) {
  mlir::MLIRContext context;
  auto model = quaver::import::importOnnx(context, argv[argc - 1]);
  if (!model.ok()) {
    llvm::errs() << "error: " << model.status().message() << "\n";
    return 1;
  }
  if (argc == 2)
    model->module->print(llvm::outs());
  return mlir::failed(mlir::verify(*model->module));
}
