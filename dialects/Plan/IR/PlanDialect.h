// The plan dialect: one header for its ops and types.
#pragma once
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Plan/IR/PlanDialect.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Plan/IR/PlanTypes.h.inc"
#define GET_OP_CLASSES
#include "dialects/Plan/IR/PlanOps.h.inc"
