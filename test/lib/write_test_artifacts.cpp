//===- write_test_artifacts.cpp - test artifacts for other languages --------===//
// quaver_test_artifacts_writer FOLDER
#include "test/lib/test_artifacts.h"

#include <cstdio>
#include <string>

int main(int argc, char **argv) {
  using namespace quaver::test;
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  const std::string folder = std::string(argv[1]) + "/";
  matmul_plan().write_to(folder + "matmul.quaver");
  nonzero_plan().write_to(folder + "nonzero.quaver");
  counter_plan().write_to(folder + "counter.quaver");
  control_plan().write_to(folder + "control.quaver");
  range_plan(false).write_to(folder + "range.quaver");
  copy_plan().write_to(folder + "copy.quaver");
  return 0;
}
