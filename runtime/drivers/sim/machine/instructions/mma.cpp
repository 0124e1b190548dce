//===- mma.cpp - mma.sync ---------------------------------------------------===//
// PTX ISA 9.0, section 9.7.14.5: dense products of sm_80 to sm_90a. Lane g * 4 + t. A register holds e = 32 /
// bits elements (one, of f64). All shapes follow one rule:
//   A: register r of 16 rows: row g + 8 * (r & 1), columns 4e * (r >> 1) + t * e + i; of 8 rows: row g,
//   columns 4e * r + t * e + i B: register r: rows 4e * r + t * e + i, column g C: element 2r + i: row g + 8
//   * r, column 2t + i; of f16 a register is such a pair
//
#include "runtime/drivers/sim/machine/instructions/instruction_groups.h"
#include "runtime/drivers/sim/machine/instructions/lanewise.h"
#include "runtime/drivers/sim/machine/instructions/matrix_product.h"
#include "runtime/drivers/sim/machine/scheduler.h"

#include <bit>

namespace quaver::sim {
namespace {

using ptx::Type;

struct Mma {
  int m = 0, n = 0, k = 0;
  Type d = Type::kF32, a = Type::kF16, b = Type::kF16, c = Type::kF32;
  bool saturate = false;
  BitOperation bits = BitOperation::kNone;
  int a_registers = 0, b_registers = 0, c_registers = 0, d_registers = 0;
};

int elements_of(Type type) { return type == Type::kF64 ? 1 : 32 / matrix_element_bits(type); }

// Calls f(index in the matrix, code) for each element that a register operand holds.
template <class F> void each_element(Context &c, const Operand &operand, Type type, F &&f) {
  uint64_t wide_room[kLanes];
  uint32_t room[kLanes];
  const bool wide = type == Type::kF64;
  const uint64_t *doubles = wide ? c.lanes(operand, wide_room) : nullptr;
  const uint32_t *words = wide ? nullptr : c.lanes(operand, room);
  const int bits = matrix_element_bits(type), e = elements_of(type);
  for (int lane = 0; lane < kLanes; ++lane)
    for (int i = 0; i < e; ++i)
      f(lane / 4, lane % 4 * e + i,
        wide ? doubles[lane] : uint64_t{words[lane]} >> (i * bits) & ((uint64_t{1} << bits) - 1));
}

void store_element(MatrixProduct &p, bool is_a, int at, Type type, uint64_t code) {
  if (type == Type::kF64)
    (is_a ? p.wide_a : p.wide_b)[at] = std::bit_cast<double>(code);
  else if (is_matrix_float(type))
    (is_a ? p.a : p.b)[at] = matrix_element(type, uint32_t(code));
  else
    (is_a ? p.int_a : p.int_b)[at] = matrix_integer(type, uint32_t(code));
}

// Calls f(element of the pair, row, column) for accumulator register r.
template <class F> void each_accumulator(Type type, int r, int lane, F &&f) {
  const int g = lane / 4, t = lane % 4;
  if (type == Type::kF16) {
    f(0, g + 8 * r, 2 * t);
    f(1, g + 8 * r, 2 * t + 1);
  } else {
    f(0, g + 8 * (r / 2), 2 * t + r % 2);
  }
}

void read_accumulators(Context &c, const Mma &v, const Operand *operands, MatrixProduct &p) {
  for (int r = 0; r < v.c_registers; ++r) {
    uint64_t wide_room[kLanes];
    uint32_t room[kLanes];
    const uint64_t *wide = v.c == Type::kF64 ? c.lanes(operands[r], wide_room) : nullptr;
    const uint32_t *words = wide ? nullptr : c.lanes(operands[r], room);
    for (int lane = 0; lane < kLanes; ++lane)
      each_accumulator(v.c, r, lane, [&](int i, int row, int column) {
        const int at = row * v.n + column;
        if (wide)
          p.wide_c[at] = std::bit_cast<double>(wide[lane]);
        else if (v.c == Type::kS32)
          p.int_c[at] = int32_t(words[lane]);
        else
          p.c[at] = v.c == Type::kF32 ? std::bit_cast<float>(words[lane])
                                      : matrix_element(Type::kF16, words[lane] >> 16 * i);
      });
  }
}

uint32_t result_code(const Mma &v, const MatrixProduct &p, int at) {
  if (v.d == Type::kS32)
    return uint32_t(p.int_c[at]);
  return matrix_result(v.d, p.c[at]);
}

void write_accumulators(Context &c, const Mma &v, const Operand *operands, const MatrixProduct &p) {
  for (int r = 0; r < v.d_registers; ++r) {
    uint64_t wide[kLanes] = {};
    uint32_t words[kLanes] = {};
    for (int lane = 0; lane < kLanes; ++lane)
      each_accumulator(v.d, r, lane, [&](int i, int row, int column) {
        const int at = row * v.n + column;
        if (v.d == Type::kF64)
          wide[lane] = std::bit_cast<uint64_t>(p.wide_c[at]);
        else
          words[lane] |= result_code(v, p, at) << 16 * i;
      });
    v.d == Type::kF64 ? c.set(operands[r], wide) : c.set(operands[r], words);
  }
}

Outcome multiply(Context &c, const Instruction &in) {
  const Mma &v = *static_cast<const Mma *>(in.extra);
  if (c.mask != kAllLanes)
    return c.fault(in, __builtin_ctz(c.mask), "all 32 lanes of the warp must execute it, lane ",
                   __builtin_ctz(~c.mask), " does not");
  static thread_local MatrixProduct product; // large: kept from one to the next
  MatrixProduct *const p = &product;
  p->m = v.m;
  p->n = v.n;
  p->k = v.k;
  const Operand *next = in.operands + v.d_registers;
  const int step_a = 4 * elements_of(v.a), step_b = 4 * elements_of(v.b);
  for (int r = 0; r < v.a_registers; ++r)
    each_element(c, *next++, v.a, [&](int g, int column, uint64_t code) {
      const int row = v.m == 16 ? g + 8 * (r & 1) : g, block = v.m == 16 ? r >> 1 : r;
      store_element(*p, true, row * v.k + block * step_a + column, v.a, code);
    });
  for (int r = 0; r < v.b_registers; ++r)
    each_element(c, *next++, v.b, [&](int g, int row, uint64_t code) {
      store_element(*p, false, (r * step_b + row) * v.n + g, v.b, code);
    });
  read_accumulators(c, v, next, *p);
  if (v.a == Type::kF64)
    multiply_doubles(*p);
  else if (is_matrix_float(v.a))
    multiply_floats(*p, matrix_element_bits(v.a) == 8 ? c.block.launch.options.accumulation
                                                      : Accumulation::kExact);
  else
    multiply_integers(*p, v.saturate, v.bits);
  write_accumulators(c, v, in.operands, *p);
  c.block.counters.tensor_core_flops += 2ull * uint64_t(v.m) * uint64_t(v.n) * uint64_t(v.k);
  return Outcome::kNext;
}

struct Shape {
  std::string_view name;
  int m, n, k;
  int bits; // of the elements
};
constexpr Shape kShapes[] = {
    {"m16n8k8", 16, 8, 8, 16},    {"m16n8k16", 16, 8, 16, 16},  {"m16n8k4", 16, 8, 4, 32},
    {"m16n8k8", 16, 8, 8, 32},    {"m8n8k4", 8, 8, 4, 64},      {"m16n8k4", 16, 8, 4, 64},
    {"m16n8k8", 16, 8, 8, 64},    {"m16n8k16", 16, 8, 16, 64},  {"m8n8k16", 8, 8, 16, 8},
    {"m16n8k16", 16, 8, 16, 8},   {"m16n8k32", 16, 8, 32, 8},   {"m8n8k32", 8, 8, 32, 4},
    {"m16n8k32", 16, 8, 32, 4},   {"m16n8k64", 16, 8, 64, 4},   {"m8n8k128", 8, 8, 128, 1},
    {"m16n8k128", 16, 8, 128, 1}, {"m16n8k256", 16, 8, 256, 1},
};

bool accumulates(const Mma &v) {
  if (v.a == Type::kF64)
    return v.c == Type::kF64 && v.d == Type::kF64;
  if (!is_matrix_float(v.a))
    return v.c == Type::kS32 && v.d == Type::kS32;
  const bool half_allowed = v.a == Type::kF16 || matrix_element_bits(v.a) == 8;
  auto fits = [&](Type t) { return t == Type::kF32 || (half_allowed && t == Type::kF16); };
  return fits(v.c) && fits(v.d);
}

void decode_mma(Decoder &d) {
  if (d.take("sp") || d.take("sp::ordered_metadata"))
    return d.unsupported("sparse 'mma'");
  for (std::string_view m : d.left())
    if (m.starts_with("kind::") || m == "block_scale")
      return d.unsupported("block-scaled 'mma' ('.", m, "')");
  Mma v;
  if (!d.take("sync") || !d.take("aligned") || !d.take("row") || !d.take("col"))
    d.invalid("'mma' needs .sync.aligned and .row.col");
  std::string_view shape;
  for (std::string_view m : d.left())
    if (m.starts_with("m") && m.find('n') != std::string_view::npos && m.find('k') != std::string_view::npos)
      shape = m;
  d.take(shape);
  v.saturate = d.take("satfinite");
  if (d.take("popc"))
    v.bits = d.take("xor") ? BitOperation::kXor : d.take("and") ? BitOperation::kAnd : BitOperation::kNone;
  v.d = d.take_type();
  v.a = d.take_type();
  v.b = d.take_type();
  v.c = d.take_type();
  const int bits = matrix_element_bits(v.a);
  for (const Shape &s : kShapes)
    if (s.name == shape && s.bits == bits) {
      v.m = s.m;
      v.n = s.n;
      v.k = s.k;
    }
  const bool same_kind = v.a == v.b || (bits < 16 && bits == matrix_element_bits(v.b) &&
                                        is_matrix_float(v.a) == is_matrix_float(v.b));
  if (!v.m || !same_kind || !accumulates(v) || (bits == 1) != (v.bits != BitOperation::kNone) ||
      (v.saturate && v.c != Type::kS32))
    return d.unsupported("'mma' of shape ", shape, " with .", spelling(v.d), ".", spelling(v.a), ".",
                         spelling(v.b), ".", spelling(v.c));
  const int register_elements = kLanes * elements_of(v.a);
  v.a_registers = v.m * v.k / register_elements;
  v.b_registers = v.k * v.n / register_elements;
  auto accumulators = [&](Type t) { return v.m * v.n / (kLanes * (t == Type::kF16 ? 2 : 1)); };
  v.c_registers = accumulators(v.c);
  v.d_registers = accumulators(v.d);
  auto bits_of = [](Type t) { return t == Type::kF64 ? Type::kB64 : Type::kB32; };
  d.expect_operands(4, 4);
  d.result_vector(0, bits_of(v.d), v.d_registers);
  d.value_vector(1, bits_of(v.a), v.a_registers);
  d.value_vector(2, bits_of(v.b), v.b_registers);
  d.value_vector(3, bits_of(v.c), v.c_registers);
  d.out.extra = d.keep(v);
  d.out.convergence = Convergence::kWarp;
  d.out.execute = multiply;
}

constexpr InstructionFamily kTable[] = {
    {"mma", InstructionClass::kTensorCore, decode_mma},
};

} // namespace

std::span<const InstructionFamily> mma_instructions() { return kTable; }

} // namespace quaver::sim
