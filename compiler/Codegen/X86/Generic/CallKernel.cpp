#include "compiler/Codegen/X86/Generic/CallKernel.h"

using namespace mlir;

namespace quaver::codegen {

void callKernel(KernelFunction &k, StringRef name, ArrayRef<Value> arguments) {
  auto none = LLVM::LLVMVoidType::get(k.b.getContext());
  if (!k.kernels.lookupSymbol(name)) {
    OpBuilder b(k.b.getContext());
    b.setInsertionPointToStart(k.kernels.getBody());
    SmallVector<Type> types = llvm::map_to_vector(arguments, [](Value v) { return v.getType(); });
    LLVM::LLVMFuncOp::create(b, k.loc, name, LLVM::LLVMFunctionType::get(none, types));
  }
  LLVM::CallOp::create(k.b, k.loc, TypeRange(), name, ValueRange(arguments));
}

} // namespace quaver::codegen
