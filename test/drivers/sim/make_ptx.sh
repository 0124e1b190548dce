#!/bin/bash
# Makes nvcc/<kernel>.<sm>.ptx from nvcc/<kernel>.cu again; needs a CUDA toolkit. The header, which names the build, goes.
set -euo pipefail
cd "$(dirname "$0")/nvcc"
make_one() {
  nvcc -ptx -std=c++17 -arch="$2" -o - "$1.cu" | sed '/^\/\/ \(Generated\|Compiler\|Cuda\|Based\)/d; /^\/\/$/d' | cat -s > "$1.$2.ptx"
}
export -f make_one
for kernel in ${*:-*.cu}; do
  for sm in sm_80 sm_89 sm_90a; do echo "${kernel%.cu} $sm"; done
done | xargs -P2 -n2 bash -c 'make_one "$0" "$1"'
