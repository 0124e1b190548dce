# LLVM/MLIR 22.1: found, checked, linked as the two shared libraries only (mixing in static archives gives two TypeIDs).
find_package(MLIR 22.1 REQUIRED CONFIG PATHS /usr/lib/llvm-22/lib/cmake/mlir NO_DEFAULT_PATH)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
set(QUAVER_LLVM_BIN ${LLVM_TOOLS_BINARY_DIR})
separate_arguments(QUAVER_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")

include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS}) # tblgen reads these
add_library(quaver_mlir INTERFACE)
target_include_directories(quaver_mlir SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_compile_options(quaver_mlir INTERFACE ${QUAVER_LLVM_DEFINITIONS})
target_link_libraries(quaver_mlir INTERFACE MLIR LLVM)

# One precompiled header for everything that sees MLIR: 4 s of headers become 0.4 s.
file(WRITE ${PROJECT_BINARY_DIR}/pch_anchor.cpp "// Anchor of the precompiled header.\n")
add_library(quaver_pch STATIC ${PROJECT_BINARY_DIR}/pch_anchor.cpp)
target_link_libraries(quaver_pch PUBLIC quaver_mlir)
target_precompile_headers(quaver_pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/pch.h)

# quaver_mlir_library(NAME SOURCES ... [DEPS ...]): a compiler room; uses the precompiled header.
function(quaver_mlir_library name)
  quaver_library(${name} ${ARGN})
  target_link_libraries(${name} PUBLIC quaver_mlir)
  target_precompile_headers(${name} REUSE_FROM quaver_pch)
endfunction()

# quaver_dialect(DIR FILE NAMESPACE): tblgen of dialects/<DIR>/IR/<FILE>.td into <FILE>{Dialect,Types,Attrs,Enums,Ops}.{h,cpp}.inc.
function(quaver_dialect dir mnemonic)
  set(LLVM_TARGET_DEFINITIONS ${dir}.td)
  mlir_tablegen(${dir}Dialect.h.inc -gen-dialect-decls -dialect=${mnemonic})
  mlir_tablegen(${dir}Dialect.cpp.inc -gen-dialect-defs -dialect=${mnemonic})
  mlir_tablegen(${dir}Types.h.inc -gen-typedef-decls -typedefs-dialect=${mnemonic})
  mlir_tablegen(${dir}Types.cpp.inc -gen-typedef-defs -typedefs-dialect=${mnemonic})
  mlir_tablegen(${dir}Attrs.h.inc -gen-attrdef-decls -attrdefs-dialect=${mnemonic})
  mlir_tablegen(${dir}Attrs.cpp.inc -gen-attrdef-defs -attrdefs-dialect=${mnemonic})
  mlir_tablegen(${dir}Enums.h.inc -gen-enum-decls)
  mlir_tablegen(${dir}Enums.cpp.inc -gen-enum-defs)
  mlir_tablegen(${dir}Ops.h.inc -gen-op-decls -dialect=${mnemonic})
  mlir_tablegen(${dir}Ops.cpp.inc -gen-op-defs -dialect=${mnemonic})
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${dir}Interfaces.td)
    set(LLVM_TARGET_DEFINITIONS ${dir}Interfaces.td)
    mlir_tablegen(${dir}Interfaces.h.inc -gen-op-interface-decls)
    mlir_tablegen(${dir}Interfaces.cpp.inc -gen-op-interface-defs)
  endif()
  add_public_tablegen_target(quaver_${mnemonic}_tblgen)
endfunction()

# quaver_passes(NAME): tblgen of Passes.td beside the caller into Passes.h.inc.
function(quaver_passes name)
  set(LLVM_TARGET_DEFINITIONS Passes.td)
  mlir_tablegen(Passes.h.inc -gen-pass-decls -name ${name})
  add_public_tablegen_target(quaver_${name}_passes_tblgen)
endfunction()
