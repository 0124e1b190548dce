// The arguments of a kernel as the command line spells them.
#pragma once
#include "runtime/base/status.h"
#include "runtime/drivers/sim/machine/launch.h"
#include <string>
#include <vector>

namespace quaver::sim {

/// One --arg: what the kernel is given, and what becomes of it afterwards.
struct KernelArgument {
  enum class Kind { kMemory, kValue };
  Kind kind = Kind::kValue;
  std::string text;          // as written
  std::vector<char> bytes;   // the value, or the memory's contents; empty for out:
  uint64_t memory_bytes = 0; // kMemory
  std::string output;        // file written after the run; empty: none
  std::string descr;         // of the output
  std::vector<int64_t> shape;
  uint64_t address = 0; // once allocated
};

/// Parses one --arg:
///   @x.npy             pointer to memory with the file's data
///   out:f32x4x8@y.npy  pointer to never-written memory, saved to y.npy
///   inout:z.npy@z2.npy pointer to memory with z.npy's data, saved to z2.npy
///   i32:7, f32:0.5     a value; i8-i64, u8-u64, f16, bf16, f32, f64; f32:0x3f800000 gives the bits
///   value:x.npy        the file's data itself, for a parameter that is an array or struct
StatusOr<KernelArgument> parse_argument(const std::string &text);

/// "8", "8,2" or "8,2,1".
StatusOr<Dim3> parse_dimensions(const std::string &text);

/// Allocates the arguments' memory and lays out the parameter block.
StatusOr<std::vector<std::byte>> pass_arguments(const KernelInfo &kernel,
                                                std::vector<KernelArgument> &arguments, Memory &memory);

/// Writes the output files. Remarks of bytes that the kernel did not write are added to `notes`.
Status save_outputs(const std::vector<KernelArgument> &arguments, const Memory &memory,
                    std::vector<std::string> &notes);

} // namespace quaver::sim
