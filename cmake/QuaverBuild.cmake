# The functions every room uses. A library is one room; its tests live in test/, mirrored.
include(CheckCXXCompilerFlag)
find_package(Threads REQUIRED)
find_program(QUAVER_CCACHE ccache)
if(QUAVER_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # A clang PCH is cacheable only when its timestamp is left out and macros in it are trusted.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${QUAVER_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

# Assertions stay on everywhere: a wrong number is worse than a few percent.
add_compile_options(-Wall -Wextra -Wno-unused-parameter -gline-tables-only -UNDEBUG
                    -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
  add_link_options(-fuse-ld=lld)
else()
  get_directory_property(all COMPILE_OPTIONS)
  list(TRANSFORM all REPLACE "-gline-tables-only" "-g1")
  set_directory_properties(PROPERTIES COMPILE_OPTIONS "${all}")
endif()
if(NOT CMAKE_BUILD_TYPE)
  add_compile_options(-O2)
endif()
if(QUAVER_SANITIZE)
  add_compile_options(-fsanitize=${QUAVER_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${QUAVER_SANITIZE})
endif()
if(QUAVER_BUILD_FUZZ) # coverage of every library, which guides the fuzzer; beside ASan, which has its symbols
  if(NOT QUAVER_SANITIZE MATCHES address)
    message(FATAL_ERROR "QUAVER_BUILD_FUZZ needs QUAVER_SANITIZE=address,undefined")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
include_directories(${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})

# quaver_library(NAME SOURCES a.cpp ... [DEPS lib ...]): a static, position-independent library.
function(quaver_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC ${arg_DEPS} Threads::Threads)
endfunction()

# quaver_test(NAME SOURCES a.cpp ... [DEPS lib ...] [ARGS ...]): a GoogleTest program run by ctest as one test.
function(quaver_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS;ARGS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_DEPS} GTest::gtest_main GTest::gtest Threads::Threads)
  add_test(NAME ${name} COMMAND ${name} ${arg_ARGS})
endfunction()

# quaver_proto(NAME FILE.proto): a static library of protobuf-lite C++; include "path/of/FILE.pb.h".
function(quaver_proto name proto)
  find_package(Protobuf REQUIRED)
  file(RELATIVE_PATH rel ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${proto})
  string(REGEX REPLACE "\\.proto$" "" stem ${rel})
  add_custom_command(
    OUTPUT ${PROJECT_BINARY_DIR}/${stem}.pb.cc ${PROJECT_BINARY_DIR}/${stem}.pb.h
    COMMAND protobuf::protoc --cpp_out=${PROJECT_BINARY_DIR} -I ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/${rel}
    DEPENDS ${PROJECT_SOURCE_DIR}/${rel} VERBATIM)
  add_library(${name} STATIC ${PROJECT_BINARY_DIR}/${stem}.pb.cc ${PROJECT_BINARY_DIR}/${stem}.pb.h)
  target_compile_options(${name} PRIVATE -w)
  target_link_libraries(${name} PUBLIC protobuf::libprotobuf-lite)
endfunction()
