// LLVM IR of kernels -> machine code -> shared ELF. Shared by this room's files only.
#pragma once
#include "compiler/Codegen/Common/KernelEmission.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>
#include <string>
#include <vector>

namespace quaver::codegen {

class ObjectEmitter {
public:
  /// `error` is set where LLVM does not know the target.
  ObjectEmitter(const Target &target, std::string &error);
  /// Links the manifest kernels that the module calls, gives every function the target's attributes, and
  /// hides everything that was not defined with external linkage before.
  bool linkManifestKernels(llvm::Module &module, std::string &error);
  void optimize(llvm::Module &module);
  bool emit(llvm::Module &module, llvm::SmallVectorImpl<char> &object, std::string &error);

private:
  void unifyAttributes(llvm::Module &module);
  Target target;
  std::unique_ptr<llvm::TargetMachine> machine;
};

/// Links objects, and the memory functions where needed, to a shared ELF without any undefined symbol.
bool linkShared(llvm::ArrayRef<llvm::StringRef> objects, std::vector<char> &elf, std::string &error);

} // namespace quaver::codegen
