//===- wgmma.cpp - warpgroup products ---------------------------------------===//
// PTX ISA 9.0, section 9.7.15. A warpgroup is four warps; each computes its 16 rows when it executes the
// instruction. Matrices in shared memory are read through the asynchronous proxy. Results are in their
// registers at once, but until the warp has waited for the group a touch of them (or of A's registers) is a
// fault.
//
// Layouts (section 9.7.15.5.1), in bytes, for a swizzle of W = 1, 2, 4, 8 pieces of 16 bytes (none, 32, 64,
// 128 bytes):
//   K-major:  row r, byte b of k:  r % 8 * 16W + r / 8 * SBO + b / 16 * (W == 1 ? LBO : 16) + b % 16
//   MN-major: piece q = row / T:   q % W * 16 + q / W * (W == 1 ? SBO : LBO) + k % 8 * 16W + k / 8 * (W == 1
//   ? LBO : SBO)
// then address bits 4.. are exclusive-ored with bits 7.., as many as log2 W.
//
#include "runtime/drivers/sim/machine/instructions/instruction_groups.h"
#include "runtime/drivers/sim/machine/instructions/lanewise.h"
#include "runtime/drivers/sim/machine/instructions/matrix_product.h"
#include "runtime/drivers/sim/machine/observe.h"
#include "runtime/drivers/sim/machine/scheduler.h"

#include <bit>
#include <deque>
#include <set>

namespace quaver::sim {
namespace {

using ptx::Space;
using ptx::Type;

struct Wgmma {
  int n = 0, k = 0;
  Type d = Type::kF32, a = Type::kF16, b = Type::kF16;
  bool a_in_registers = false, saturate = false, a_transposed = false, b_transposed = false;
  float scale_a = 1, scale_b = 1;
  int d_registers = 0;
  BitOperation bits = BitOperation::kNone;
};

// Registers of a warp's products that nobody has waited for, by offset in the frame.
using Registers = std::set<uint32_t>;
struct WarpProducts {
  bool fenced = false;
  Registers open;
  std::deque<Registers> groups;
  bool has(uint32_t offset) const {
    if (open.count(offset))
      return true;
    for (const Registers &g : groups)
      if (g.count(offset))
        return true;
    return false;
  }
  bool empty() const { return open.empty() && groups.empty(); }
};
struct BlockProducts {
  WarpProducts warps[32];
};
WarpProducts &products(Context &c) { return c.block.state<BlockProducts>().warps[c.warp.index]; }

Outcome multiply(Context &c, const Instruction &in);

// Each instruction of a warp with products under way: does it touch their registers?
Outcome watch(Context &c, const Instruction &in) {
  if (in.execute == multiply)
    return Outcome::kNext;
  const WarpProducts &p = products(c);
  for (int i = 0; i < in.operand_count; ++i) {
    const Operand &o = in.operands[i];
    if (o.base == Operand::Base::kFrame && !o.is_sink && o.bytes && p.has(o.offset))
      return c.fault(in, -1,
                     "touches a register of wgmma.mma_async before wgmma.wait_group has waited for it");
  }
  return Outcome::kNext;
}

struct Descriptor {
  uint64_t start, lead, stride; // bytes
  int pieces, shift;            // W and log2 W
};

bool read_descriptor(Context &c, const Instruction &in, const Operand &o, Descriptor &out) {
  uint64_t room[kLanes];
  const uint64_t *lanes = c.lanes(o, room);
  const uint64_t bits = lanes[0];
  for (int i = 1; i < kLanes; ++i)
    if (lanes[i] != bits) {
      c.fault(in, i, "all lanes must give the same matrix descriptor");
      return false;
    }
  static constexpr int kShift[] = {0, 3, 2, 1}; // none, 128, 64, 32 bytes
  out.start = (bits & 0x3fff) << 4;
  out.lead = (bits >> 16 & 0x3fff) << 4;
  out.stride = (bits >> 32 & 0x3fff) << 4;
  out.shift = kShift[bits >> 62];
  out.pieces = 1 << out.shift;
  if (bits >> 49 & 7) {
    c.fault(in, 0,
            "a matrix descriptor with a base offset: the matrix must begin at a multiple of its swizzle's "
            "repeat here");
    return false;
  }
  return true;
}

uint64_t swizzled(uint64_t address, int shift) {
  const uint64_t mask = (uint64_t{1} << shift) - 1;
  return address ^ ((address >> 7 & mask) << 4);
}

// Address of element (row, k) of a matrix.
uint64_t element_address(const Descriptor &d, int row, int k, int bytes, bool transposed) {
  const uint64_t r = uint64_t(row), w = uint64_t(d.pieces);
  uint64_t offset;
  if (!transposed) {
    const uint64_t b = uint64_t(k) * uint64_t(bytes);
    offset = r % 8 * 16 * w + r / 8 * d.stride + b / 16 * (w == 1 ? d.lead : 16) + b % 16;
  } else {
    const uint64_t piece = r * uint64_t(bytes) / 16, p = uint64_t(k);
    offset = r * uint64_t(bytes) % 16 + piece % w * 16 + piece / w * (w == 1 ? d.stride : d.lead) +
             p % 8 * 16 * w + p / 8 * (w == 1 ? d.lead : d.stride);
  }
  return swizzled(d.start + offset, d.shift);
}

// Code of an element in shared memory. False: a fault.
bool load_element(Context &c, const Instruction &in, uint64_t address, int bytes, uint32_t &code) {
  uint8_t *known = nullptr;
  const std::byte *at =
      c.access(in, Space::kShared, address, uint32_t(bytes), uint32_t(bytes), Access::kRead, 0, &known);
  if (!at)
    return false;
  if (known[0] & shadow::kUnfenced) {
    c.fault(in, 0, "reads 0x", std::hex, address, std::dec, " through the asynchronous proxy, which warp ",
            known[0] >> shadow::kWriterShift, " wrote by an ordinary store with no fence.proxy.async since");
    return false;
  }
  code = 0;
  std::memcpy(&code, at, size_t(bytes));
  return true;
}

// Puts an element's value where the product expects it.
void put(MatrixProduct &p, bool is_a, int at, Type type, uint32_t code, float scale) {
  if (is_matrix_float(type))
    (is_a ? p.a : p.b)[at] = scale * matrix_element(type, code);
  else
    (is_a ? p.int_a : p.int_b)[at] = matrix_integer(type, code);
}

// A matrix's rows [first, first + rows) into a[row][k] or b[k][row].
bool load_rows(Context &c, const Instruction &in, const Wgmma &v, const Descriptor &d, bool is_a, int first,
               int rows, MatrixProduct &p) {
  const Type type = is_a ? v.a : v.b;
  const int bits = matrix_element_bits(type), bytes = std::max(bits / 8, 4 * (bits == 1));
  const int steps = bits == 1 ? v.k / 32 : v.k; // 32 bits at once
  for (int row = 0; row < rows; ++row)
    for (int k = 0; k < steps; ++k) {
      uint32_t code = 0;
      if (!load_element(c, in,
                        element_address(d, first + row, k, bytes, is_a ? v.a_transposed : v.b_transposed),
                        bytes, code))
        return false;
      for (int i = 0; i < (bits == 1 ? 32 : 1); ++i) {
        const int column = bits == 1 ? k * 32 + i : k;
        put(p, is_a, is_a ? row * v.k + column : column * rows + row, type, code >> i,
            is_a ? v.scale_a : v.scale_b);
      }
    }
  return true;
}

void load_registers(Context &c, const Wgmma &v, const Operand *operands, MatrixProduct &p) {
  const int bits = matrix_element_bits(v.a), e = 32 / bits;
  for (int r = 0; r < 4; ++r) {
    uint32_t room[kLanes];
    const uint32_t *words = c.lanes(operands[r], room);
    for (int lane = 0; lane < kLanes; ++lane)
      for (int i = 0; i < e; ++i) {
        const int row = lane / 4 + 8 * (r & 1), column = lane % 4 * e + i + 4 * e * (r >> 1);
        const uint32_t ones = bits == 32 ? ~0u : (1u << bits) - 1;
        put(p, true, row * v.k + column, v.a, words[lane] >> (i * bits % 32) & ones, v.scale_a);
      }
  }
}

// Adds columns [8j, 8j + 8) of the product to the accumulators, in place.
void accumulate(Context &c, const Instruction &in, const Wgmma &v, int j, bool add, MatrixProduct &p) {
  const bool packed = v.d == Type::kF16;
  const int registers = packed ? 2 : 4;
  uint32_t words[4][kLanes], room[kLanes];
  auto place = [&](int r, int lane, int i) {
    const int row = lane / 4 + 8 * (packed ? r : r / 2), column = lane % 4 * 2 + (packed ? i : r % 2);
    return row * 8 + column;
  };
  for (int r = 0; r < registers; ++r) {
    const uint32_t *old = c.lanes(in.operands[j * registers + r], room);
    for (int lane = 0; lane < kLanes; ++lane)
      for (int i = 0; i < (packed ? 2 : 1); ++i) {
        const int at = place(r, lane, i);
        if (v.d == Type::kS32)
          p.int_c[at] = add ? int32_t(old[lane]) : 0;
        else
          p.c[at] = !add     ? 0
                    : packed ? matrix_element(Type::kF16, old[lane] >> 16 * i)
                             : std::bit_cast<float>(old[lane]);
      }
  }
  if (is_matrix_float(v.a))
    multiply_floats(p, matrix_element_bits(v.a) == 8 ? c.block.launch.options.accumulation
                                                     : Accumulation::kExact);
  else
    multiply_integers(p, v.saturate, v.bits);
  for (int r = 0; r < registers; ++r) {
    for (int lane = 0; lane < kLanes; ++lane) {
      words[r][lane] = 0;
      for (int i = 0; i < (packed ? 2 : 1); ++i) {
        const int at = place(r, lane, i);
        words[r][lane] |= (v.d == Type::kS32 ? uint32_t(p.int_c[at]) : matrix_result(v.d, p.c[at])) << 16 * i;
      }
    }
    c.set(in.operands[j * registers + r], words[r]);
  }
}

Outcome multiply(Context &c, const Instruction &in) {
  const Wgmma &v = *static_cast<const Wgmma *>(in.extra);
  WarpProducts &state = products(c);
  if (c.mask != kAllLanes)
    return c.fault(in, __builtin_ctz(c.mask), "all 32 lanes of the warp must execute it");
  if ((c.warp.index | 3) >= c.block.warps.size())
    return c.fault(in, 0, "warp ", c.warp.index, " belongs to no whole warpgroup of four warps");
  if (!state.fenced)
    return c.fault(in, 0, "no wgmma.fence before the first wgmma.mma_async");
  static thread_local MatrixProduct p;
  p.m = 16;
  p.n = 8;
  p.k = v.k;
  const Operand *next = in.operands + v.d_registers;
  if (v.a_in_registers) {
    load_registers(c, v, next, p);
    for (int i = 0; i < 4; ++i)
      state.open.insert(next[i].offset);
    next += 4;
  } else {
    Descriptor a;
    if (!read_descriptor(c, in, *next++, a) ||
        !load_rows(c, in, v, a, true, 16 * int(c.warp.index % 4), 16, p))
      return Outcome::kFault;
  }
  Descriptor b;
  if (!read_descriptor(c, in, *next++, b))
    return Outcome::kFault;
  const LaneMask scale = c.predicate(*next);
  for (int j = 0; j < v.n / 8; ++j) {
    if (!load_rows(c, in, v, b, false, 8 * j, 8, p))
      return Outcome::kFault;
    accumulate(c, in, v, j, scale & 1, p);
  }
  for (int r = 0; r < v.d_registers; ++r)
    state.open.insert(in.operands[r].offset);
  c.warp.watch = watch;
  c.block.counters.tensor_core_flops += 2ull * 16 * uint64_t(v.n) * uint64_t(v.k);
  return Outcome::kNext;
}

Outcome fence(Context &c, const Instruction &) {
  products(c).fenced = true;
  return Outcome::kNext;
}
Outcome commit(Context &c, const Instruction &) {
  WarpProducts &p = products(c);
  p.groups.push_back(std::move(p.open));
  p.open.clear();
  return Outcome::kNext;
}
Outcome wait(Context &c, const Instruction &in) {
  WarpProducts &p = products(c);
  while (p.groups.size() > in.variant)
    p.groups.pop_front();
  if (p.empty())
    c.warp.watch = nullptr;
  return Outcome::kNext;
}

bool take_shape(Decoder &d, Wgmma &v) {
  for (std::string_view m : d.left()) {
    if (!m.starts_with("m64n"))
      continue;
    const size_t k = m.find('k');
    auto number = [](std::string_view digits) {
      int value = 0;
      for (char ch : digits)
        value = std::min(value * 10 + (ch - '0'), 1 << 20);
      return value;
    };
    if (k == std::string_view::npos)
      return false;
    v.n = number(m.substr(4, k - 4));
    v.k = number(m.substr(k + 1));
    d.take(m);
    return v.n >= 8 && v.n <= 256 && v.n % 8 == 0;
  }
  return false;
}

// 1 or -1.
float take_scale(Decoder &d, size_t i) {
  const int64_t value = d.constant(i, -1, 1);
  if (value == 0)
    d.invalid("a scale of a matrix is 1 or -1");
  return float(value);
}

void decode_mma_async(Decoder &d) {
  if (d.take("sp"))
    return d.unsupported("sparse 'wgmma'");
  Wgmma v;
  const bool shaped = take_shape(d, v);
  v.saturate = d.take("satfinite");
  if (d.take("popc"))
    v.bits = d.take("and") ? BitOperation::kAnd : BitOperation::kNone;
  v.d = d.take_type();
  v.a = d.take_type();
  v.b = d.take_type();
  const int bits = matrix_element_bits(v.a);
  const bool floats = is_matrix_float(v.a);
  const bool typed = bits == matrix_element_bits(v.b) && floats == is_matrix_float(v.b) &&
                     (bits == 8 || v.a == v.b) && bits != 4 && bits != 64 &&
                     (floats ? v.d == Type::kF32 || (v.d == Type::kF16 && (bits == 8 || v.a == Type::kF16))
                             : v.d == Type::kS32);
  if (!shaped || !typed || v.k != 256 / bits)
    return d.unsupported("'wgmma.mma_async' of these types or this shape");
  v.d_registers = v.d == Type::kF16 ? v.n / 4 : v.n / 2;
  v.a_in_registers = d.given() > 1 && d.operand(1).kind == ptx::Operand::Kind::kVector;
  const size_t scales = floats ? (bits == 16 ? (v.a_in_registers ? 3 : 4) : 2) : 0;
  d.expect_operands(4 + scales, 4 + scales);
  d.result_vector(0, Type::kB32, v.d_registers);
  v.a_in_registers ? d.value_vector(1, Type::kB32, 4) : d.value(1, Type::kB64);
  d.value(2, Type::kB64);
  d.value(3, Type::kPred); // scale-d; a number is true or false too
  if (scales >= 2) {
    v.scale_a = take_scale(d, 4);
    v.scale_b = take_scale(d, 5);
  }
  if (scales == 4)
    v.a_transposed = d.constant(6, 0, 1);
  if (scales >= 3)
    v.b_transposed = d.constant(3 + scales, 0, 1);
  d.out.extra = d.keep(v);
  d.out.execute = multiply;
}

void decode_wgmma(Decoder &d) {
  const int what = d.take_one({"mma_async", "fence", "commit_group", "wait_group"});
  if (what < 0 || !d.take("sync") || !d.take("aligned"))
    return d.invalid("'wgmma' needs .mma_async, .fence, .commit_group or .wait_group, and .sync.aligned");
  d.out.convergence = Convergence::kWarp;
  if (what == 0)
    return decode_mma_async(d);
  d.expect_operands(what == 3, what == 3);
  d.out.cls = InstructionClass::kBarrier;
  d.out.execute = what == 1 ? fence : what == 2 ? commit : wait;
  if (what == 3)
    d.out.variant = uint64_t(d.constant(0, 0, 1 << 20));
}

// setmaxnreg moves registers between warps; there is no limit of them here.
Outcome nothing(Context &, const Instruction &) { return Outcome::kNext; }
void decode_setmaxnreg(Decoder &d) {
  const int what = d.take_one({"inc", "dec"});
  const bool synced = d.take("sync") && d.take("aligned");
  if (what < 0 || !synced || d.take_type() != Type::kU32)
    d.invalid("'setmaxnreg' needs .inc or .dec and .sync.aligned.u32");
  d.expect_operands(1, 1);
  if (d.constant(0, 24, 256) % 8)
    d.invalid("a number of registers is a multiple of 8");
  d.out.convergence = Convergence::kWarp;
  d.out.execute = nothing;
}

constexpr InstructionFamily kTable[] = {
    {"wgmma", InstructionClass::kTensorCore, decode_wgmma},
    {"setmaxnreg", InstructionClass::kControl, decode_setmaxnreg},
};

} // namespace

std::span<const InstructionFamily> wgmma_instructions() { return kTable; }

} // namespace quaver::sim
