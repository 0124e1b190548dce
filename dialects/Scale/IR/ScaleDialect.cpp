#include "dialects/Scale/IR/ScaleDialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace quaver::scale;

#include "dialects/Scale/IR/ScaleDialect.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Scale/IR/ScaleTypes.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Scale/IR/ScaleAttrs.cpp.inc"

void ScaleDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Scale/IR/ScaleTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Scale/IR/ScaleAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Scale/IR/ScaleOps.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "dialects/Scale/IR/ScaleOps.cpp.inc"
