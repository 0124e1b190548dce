//===- matrix_move.cpp - ldmatrix, stmatrix, movmatrix ----------------------===//
// PTX ISA 9.0, sections 9.7.14.5.15 to 9.7.14.5.17. An 8x8 matrix of 16-bit elements: row addresses come from
// lanes 8j to 8j+7 for matrix j; lane l holds the elements 2(l%4) and 2(l%4)+1 of row l/4, or, transposed, of
// column l/4.
//
#include "runtime/drivers/sim/machine/instructions/instruction_groups.h"
#include "runtime/drivers/sim/machine/instructions/lanewise.h"
#include "runtime/drivers/sim/machine/observe.h"
#include "runtime/drivers/sim/machine/scheduler.h"

namespace quaver::sim {
namespace {

using ptx::Type;

constexpr int kRows = 8, kRowBytes = 16;
using Matrix = uint16_t[kRows][8];

uint32_t element_pair(const Matrix &m, int lane, bool transposed) {
  const int g = lane / 4, t = lane % 4 * 2;
  return transposed ? m[t][g] | uint32_t{m[t + 1][g]} << 16 : m[g][t] | uint32_t{m[g][t + 1]} << 16;
}

bool whole_warp(Context &c, const Instruction &in) {
  if (c.mask == kAllLanes)
    return true;
  c.fault(in, __builtin_ctz(c.mask), "all 32 lanes of the warp must execute it, lane ",
          __builtin_ctz(~c.mask), " does not");
  return false;
}

// What is counted and checked for races: the rows of `count` matrices.
Outcome observe_rows(Context &c, const Instruction &in, const uint64_t addresses[kLanes], int count,
                     AccessKind kind) {
  const LaunchOptions &options = c.block.launch.options;
  if (!options.counters && !options.races)
    return Outcome::kNext;
  const LaneMask all = c.mask;
  c.mask = count == 4 ? kAllLanes : (LaneMask{1} << kRows * count) - 1;
  const Outcome seen = observe_access(c, in, in.space, addresses, kRowBytes, kind);
  c.mask = all;
  return seen;
}

Outcome load_matrices(Context &c, const Instruction &in) {
  if (!whole_warp(c, in))
    return Outcome::kFault;
  uint64_t addresses[kLanes];
  c.addresses(in, in.operands[in.results], addresses);
  for (int j = 0; j < in.results; ++j) {
    Matrix m;
    for (int row = 0; row < kRows; ++row) {
      const int lane = kRows * j + row;
      const std::byte *from =
          c.access(in, in.space, addresses[lane], kRowBytes, kRowBytes, Access::kRead, lane);
      if (!from)
        return Outcome::kFault;
      std::memcpy(m[row], from, kRowBytes);
    }
    uint32_t result[kLanes];
    for (int lane = 0; lane < kLanes; ++lane)
      result[lane] = element_pair(m, lane, in.variant);
    c.set(in.operands[j], result);
  }
  return observe_rows(c, in, addresses, in.results, AccessKind::kLoad);
}

Outcome store_matrices(Context &c, const Instruction &in) {
  if (!whole_warp(c, in))
    return Outcome::kFault;
  uint64_t addresses[kLanes];
  c.addresses(in, in.operands[0], addresses);
  for (int j = 0; j < in.elements; ++j) {
    uint32_t room[kLanes];
    const uint32_t *pairs = c.lanes(in.operands[1 + j], room);
    Matrix m;
    for (int lane = 0; lane < kLanes; ++lane)
      for (int i = 0; i < 2; ++i)
        (in.variant ? m[lane % 4 * 2 + i][lane / 4] : m[lane / 4][lane % 4 * 2 + i]) =
            uint16_t(pairs[lane] >> 16 * i);
    for (int row = 0; row < kRows; ++row) {
      const int lane = kRows * j + row;
      std::byte *to = c.access(in, in.space, addresses[lane], kRowBytes, kRowBytes, Access::kWrite, lane);
      if (!to)
        return Outcome::kFault;
      std::memcpy(to, m[row], kRowBytes);
    }
  }
  return observe_rows(c, in, addresses, in.elements, AccessKind::kStore);
}

Outcome transpose_matrix(Context &c, const Instruction &in) {
  if (!whole_warp(c, in))
    return Outcome::kFault;
  uint32_t room[kLanes], result[kLanes];
  const uint32_t *pairs = c.lanes(in.operands[1], room);
  Matrix m;
  for (int lane = 0; lane < kLanes; ++lane)
    for (int i = 0; i < 2; ++i)
      m[lane / 4][lane % 4 * 2 + i] = uint16_t(pairs[lane] >> 16 * i);
  for (int lane = 0; lane < kLanes; ++lane)
    result[lane] = element_pair(m, lane, true);
  c.set(in.operands[0], result);
  return Outcome::kNext;
}

void decode_matrix_access(Decoder &d, bool is_load) {
  const bool synced = d.take("sync") && d.take("aligned");
  const bool shape = d.take("m8n8");
  const int count = d.take("x1") ? 1 : d.take("x2") ? 2 : d.take("x4") ? 4 : 0;
  d.out.variant = d.take("trans");
  d.out.space = d.take_space();
  if (!synced || !shape || !count || d.take_type() != Type::kB16)
    return d.unsupported("'", d.source.opcode,
                         "' in this form; there is .sync.aligned.m8n8.x1/.x2/.x4{.trans}{.shared}.b16");
  if (d.out.space == ptx::Space::kGeneric && d.take("shared::cluster"))
    d.unsupported("'", d.source.opcode, "' of .shared::cluster");
  d.expect_operands(2, 2);
  d.out.elements = uint8_t(count);
  d.out.element_bytes = 2;
  d.out.convergence = Convergence::kWarp;
  d.out.execute = is_load ? load_matrices : store_matrices;
  if (is_load) {
    d.result_vector(0, Type::kB32, count);
    d.address(1);
  } else {
    d.address(0);
    d.value_vector(1, Type::kB32, count);
  }
  if (d.out.space != ptx::Space::kGeneric && d.out.space != ptx::Space::kShared)
    d.invalid("'", d.source.opcode, "' works on shared memory");
}
void decode_ldmatrix(Decoder &d) { decode_matrix_access(d, true); }
void decode_stmatrix(Decoder &d) { decode_matrix_access(d, false); }

void decode_movmatrix(Decoder &d) {
  if (!d.take("sync") || !d.take("aligned") || !d.take("m8n8") || !d.take("trans") ||
      d.take_type() != Type::kB16)
    d.invalid("'movmatrix' is movmatrix.sync.aligned.m8n8.trans.b16");
  d.expect_operands(2, 2);
  d.out.convergence = Convergence::kWarp;
  d.out.execute = transpose_matrix;
  d.result(0, Type::kB32);
  d.value(1, Type::kB32);
}

constexpr InstructionFamily kTable[] = {
    {"ldmatrix", InstructionClass::kLoad, decode_ldmatrix},
    {"stmatrix", InstructionClass::kStore, decode_stmatrix},
    {"movmatrix", InstructionClass::kWarp, decode_movmatrix},
};

} // namespace

std::span<const InstructionFamily> matrix_move_instructions() { return kTable; }

} // namespace quaver::sim
