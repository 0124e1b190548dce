// Converts what it reads on stdin: convert_stdin FROM TO saturate|propagate, types by short name. For tests
// in Python.
#include "runtime/numerics/codec.h"

#include <cstdio>
#include <string_view>
#include <vector>

int main(int argc, char **argv) {
  using namespace quaver;
  if (argc != 4)
    return 2;
  const auto from = element_type_from_short_name(argv[1]), to = element_type_from_short_name(argv[2]);
  if (!from || !to)
    return 2;
  std::vector<char> in;
  char block[1 << 16];
  for (size_t n; (n = std::fread(block, 1, sizeof block, stdin)) > 0;)
    in.insert(in.end(), block, block + n);
  const size_t count = in.size() / size_t(bytes_of(*from));
  std::vector<char> out(count * size_t(bytes_of(*to)));
  const CastPolicy policy = std::string_view(argv[3]) == "saturate" ? kSaturate : kPropagate;
  convert(*from, in.data(), *to, out.data(), count, policy);
  return std::fwrite(out.data(), 1, out.size(), stdout) == out.size() ? 0 : 1;
}
