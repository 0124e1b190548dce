//===- wmma.cpp - wmma.load, wmma.mma, wmma.store ---------------------------===//
// PTX ISA 9.0, section 9.7.14.4. How fragments lie in registers is not specified; here element e of the
// matrix, row by row, is slot e % u of lane e / u, u being the elements a lane has. Fragments with more slots
// than elements (f16 has them) hold copies in the rest, so that code that changes a fragment slot by slot
// sees equal values.
//
#include "runtime/drivers/sim/machine/instructions/instruction_groups.h"
#include "runtime/drivers/sim/machine/instructions/lanewise.h"
#include "runtime/drivers/sim/machine/instructions/matrix_product.h"
#include "runtime/drivers/sim/machine/observe.h"
#include "runtime/drivers/sim/machine/scheduler.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace quaver::sim {
namespace {

using ptx::Type;

// One fragment: a matrix in registers.
struct Fragment {
  int rows = 0, columns = 0, registers = 0;
  Type type = Type::kF16;
  int bits() const { return matrix_element_bits(type); }
  int lane_elements() const { return rows * columns / kLanes; }
  int slots_in_register() const { return bits() == 64 ? 1 : 32 / bits(); }
  int slots() const { return registers * slots_in_register(); }
};

struct Shape {
  std::string_view name;
  int m, n, k;
  int bits; // of a and b
};
constexpr Shape kShapes[] = {
    {"m16n16k16", 16, 16, 16, 16}, {"m8n32k16", 8, 32, 16, 16}, {"m32n8k16", 32, 8, 16, 16},
    {"m16n16k16", 16, 16, 16, 8},  {"m8n32k16", 8, 32, 16, 8},  {"m32n8k16", 32, 8, 16, 8},
    {"m16n16k8", 16, 16, 8, 32},   {"m8n8k4", 8, 8, 4, 64},     {"m8n8k32", 8, 8, 32, 4},
    {"m8n8k128", 8, 8, 128, 1},
};

Fragment fragment(int rows, int columns, Type type, bool is_operand) {
  Fragment f{rows, columns, 0, type};
  // An f16 operand always has 8 registers.
  f.registers = is_operand && type == Type::kF16 ? 8 : std::max(1, f.lane_elements() / f.slots_in_register());
  return f;
}

struct Wmma {
  int m = 0, n = 0, k = 0;
  Fragment a, b, c, d; // of loads and stores: a
  bool by_columns = false, saturate = false;
  BitOperation bits = BitOperation::kNone;
};
const Wmma &wmma(const Instruction &in) { return *static_cast<const Wmma *>(in.extra); }

bool whole_warp(Context &c, const Instruction &in) {
  if (c.mask == kAllLanes)
    return true;
  c.fault(in, __builtin_ctz(c.mask), "all 32 lanes of the warp must execute it, lane ",
          __builtin_ctz(~c.mask), " does not");
  return false;
}

// Codes of a fragment's elements, row by row.
std::vector<uint64_t> read_fragment(Context &c, const Operand *operands, const Fragment &f) {
  std::vector<uint64_t> codes(size_t(f.rows * f.columns));
  const int u = f.lane_elements(), per = f.slots_in_register();
  const uint64_t ones = f.bits() == 64 ? ~uint64_t{0} : (uint64_t{1} << f.bits()) - 1;
  for (int slot = 0; slot < u; ++slot) {
    uint64_t wide_room[kLanes];
    uint32_t room[kLanes];
    const Operand &o = operands[slot / per];
    const uint64_t *wide = f.bits() == 64 ? c.lanes(o, wide_room) : nullptr;
    const uint32_t *words = wide ? nullptr : c.lanes(o, room);
    for (int lane = 0; lane < kLanes; ++lane)
      codes[size_t(lane * u + slot)] = (wide ? wide[lane] : words[lane] >> (slot % per * f.bits())) & ones;
  }
  return codes;
}

void write_fragment(Context &c, const Operand *operands, const Fragment &f,
                    const std::vector<uint64_t> &codes) {
  const int u = f.lane_elements(), per = f.slots_in_register();
  for (int r = 0; r < f.registers; ++r) {
    uint64_t wide[kLanes] = {};
    uint32_t words[kLanes] = {};
    for (int lane = 0; lane < kLanes; ++lane)
      for (int i = 0; i < per; ++i) {
        const uint64_t code = codes[size_t(lane * u + (r * per + i) % u)];
        wide[lane] = code;
        words[lane] |= uint32_t(code) << (i * (f.bits() == 64 ? 0 : f.bits()));
      }
    f.bits() == 64 ? c.set(operands[r], wide) : c.set(operands[r], words);
  }
}

// Addresses of a matrix in memory: every lane gives the same base, strides count elements.
template <class F>
bool each_row(Context &c, const Instruction &in, const Operand &base, const Operand *stride, F &&f) {
  const Wmma &v = wmma(in);
  uint64_t addresses[kLanes];
  uint32_t room[kLanes];
  c.addresses(in, base, addresses);
  const uint32_t *strides = stride ? c.lanes(*stride, room) : nullptr;
  for (int lane = 1; lane < kLanes; ++lane)
    if (addresses[lane] != addresses[0] || (strides && strides[lane] != strides[0])) {
      c.fault(in, lane, "all lanes must give the same address and stride");
      return false;
    }
  const int lines = v.by_columns ? v.a.columns : v.a.rows, length = v.by_columns ? v.a.rows : v.a.columns;
  const uint64_t step = strides ? strides[0] : uint64_t(length);
  for (int line = 0; line < lines; ++line)
    if (!f(addresses[0] + uint64_t(line) * step * uint64_t(v.a.bits()) / 8, line, length))
      return false;
  return true;
}

size_t element_index(const Wmma &v, int line, int i) {
  return size_t(v.by_columns ? i * v.a.columns + line : line * v.a.columns + i);
}

// One line is accessed as a whole on behalf of lane 0; its alignment is that of an element.
Outcome observe_line(Context &c, const Instruction &in, uint64_t address, uint32_t bytes, AccessKind kind) {
  if (!c.block.launch.options.counters && !c.block.launch.options.races)
    return Outcome::kNext;
  uint64_t addresses[kLanes] = {address};
  const LaneMask all = c.mask;
  c.mask = 1;
  const Outcome seen = observe_access(c, in, in.space, addresses, bytes, kind);
  c.mask = all;
  return seen;
}

Outcome load_fragment(Context &c, const Instruction &in) {
  if (!whole_warp(c, in))
    return Outcome::kFault;
  const Wmma &v = wmma(in);
  std::vector<uint64_t> codes(size_t(v.a.rows * v.a.columns));
  const Operand *sources = in.operands + in.results;
  const int bits = v.a.bits();
  const bool loaded =
      each_row(c, in, sources[0], in.operand_count > in.results + 1 ? sources + 1 : nullptr,
               [&](uint64_t address, int line, int length) {
                 const uint32_t bytes = uint32_t(length * bits / 8);
                 const std::byte *from = c.access(in, in.space, address, bytes,
                                                  uint32_t(std::max(bits / 8, 4)), Access::kRead, 0);
                 if (!from || observe_line(c, in, address, bytes, AccessKind::kLoad) != Outcome::kNext)
                   return false;
                 for (int i = 0; i < length; ++i) {
                   uint64_t code = 0;
                   std::memcpy(&code, from + i * bits / 8, size_t(std::max(bits / 8, 1)));
                   codes[element_index(v, line, i)] =
                       bits < 8 ? code >> (i * bits % 8) & ((uint64_t{1} << bits) - 1) : code;
                 }
                 return true;
               });
  if (!loaded)
    return Outcome::kFault;
  write_fragment(c, in.operands, v.a, codes);
  return Outcome::kNext;
}

Outcome store_fragment(Context &c, const Instruction &in) {
  if (!whole_warp(c, in))
    return Outcome::kFault;
  const Wmma &v = wmma(in);
  const std::vector<uint64_t> codes = read_fragment(c, in.operands + 1, v.a);
  const size_t bytes_each = size_t(v.a.bits() / 8);
  const Operand *stride =
      int(in.operand_count) > 1 + v.a.registers ? in.operands + 1 + v.a.registers : nullptr;
  const bool stored = each_row(c, in, in.operands[0], stride, [&](uint64_t address, int line, int length) {
    const uint32_t bytes = uint32_t(size_t(length) * bytes_each);
    std::byte *to =
        c.access(in, in.space, address, bytes, uint32_t(std::max<size_t>(bytes_each, 4)), Access::kWrite, 0);
    if (!to || observe_line(c, in, address, bytes, AccessKind::kStore) != Outcome::kNext)
      return false;
    for (int i = 0; i < length; ++i)
      std::memcpy(to + size_t(i) * bytes_each, &codes[element_index(v, line, i)], bytes_each);
    return true;
  });
  return stored ? Outcome::kNext : Outcome::kFault;
}

Outcome multiply(Context &c, const Instruction &in) {
  if (!whole_warp(c, in))
    return Outcome::kFault;
  const Wmma &v = wmma(in);
  const Operand *next = in.operands + in.results;
  const std::vector<uint64_t> a = read_fragment(c, next, v.a),
                              b = read_fragment(c, next + v.a.registers, v.b),
                              addend = read_fragment(c, next + v.a.registers + v.b.registers, v.c);
  static thread_local MatrixProduct product; // large: kept from one to the next
  MatrixProduct *const p = &product;
  p->m = v.m;
  p->n = v.n;
  p->k = v.k;
  std::vector<uint64_t> result(addend.size());
  if (v.a.type == Type::kF64) {
    auto value = [](uint64_t code) { return std::bit_cast<double>(code); };
    std::transform(a.begin(), a.end(), p->wide_a, value);
    std::transform(b.begin(), b.end(), p->wide_b, value);
    std::transform(addend.begin(), addend.end(), p->wide_c, value);
    multiply_doubles(*p);
    for (size_t i = 0; i < result.size(); ++i)
      result[i] = std::bit_cast<uint64_t>(p->wide_c[i]);
  } else if (is_matrix_float(v.a.type)) {
    auto value = [&](uint64_t code) { return matrix_element(v.a.type, uint32_t(code)); };
    std::transform(a.begin(), a.end(), p->a, value);
    std::transform(b.begin(), b.end(), p->b, value);
    std::transform(addend.begin(), addend.end(), p->c, [&](uint64_t code) {
      return v.c.type == Type::kF16 ? matrix_element(Type::kF16, uint32_t(code))
                                    : std::bit_cast<float>(uint32_t(code));
    });
    multiply_floats(*p, Accumulation::kExact);
    for (size_t i = 0; i < result.size(); ++i)
      result[i] = matrix_result(v.d.type, p->c[i]);
  } else {
    auto value = [&](Type type) {
      return [type](uint64_t code) { return matrix_integer(type, uint32_t(code)); };
    };
    std::transform(a.begin(), a.end(), p->int_a, value(v.a.type));
    std::transform(b.begin(), b.end(), p->int_b, value(v.b.type));
    std::transform(addend.begin(), addend.end(), p->int_c, [](uint64_t code) { return int32_t(code); });
    multiply_integers(*p, v.saturate, v.bits);
    for (size_t i = 0; i < result.size(); ++i)
      result[i] = uint32_t(p->int_c[i]);
  }
  write_fragment(c, in.operands, v.d, result);
  c.block.counters.tensor_core_flops += 2ull * uint64_t(v.m) * uint64_t(v.n) * uint64_t(v.k);
  return Outcome::kNext;
}

// Takes the shape's name; sizes are known when the type is.
std::string_view take_shape(Decoder &d) {
  for (std::string_view m : d.left())
    if (m.size() > 4 && m[0] == 'm' && m.find('n') != std::string_view::npos &&
        m.find('k') != std::string_view::npos) {
      d.take(m);
      return m;
    }
  d.invalid("'wmma' needs a shape such as .m16n16k16");
  return "";
}

bool set_shape(Decoder &d, Wmma &v, std::string_view name, int bits) {
  for (const Shape &s : kShapes)
    if (s.name == name && (bits == 0 || s.bits == bits)) {
      v.m = s.m;
      v.n = s.n;
      v.k = s.k;
      return true;
    }
  d.unsupported("'wmma' of shape ", name, " with these types");
  return false;
}

Type register_type(const Fragment &f) { return f.bits() == 64 ? Type::kB64 : Type::kB32; }

void decode_wmma(Decoder &d) {
  const int what = d.take_one({"load", "store", "mma"});
  if (what < 0 || !d.take("sync") || !d.take("aligned"))
    d.invalid("'wmma' needs .load, .store or .mma, and .sync.aligned");
  d.out.convergence = Convergence::kWarp;
  Wmma v;
  const std::string_view shape = take_shape(d);
  if (what == 2) {
    d.take_one({"row", "col"});
    d.take_one({"row", "col"});
    v.saturate = d.take("satfinite");
    if (d.take("popc"))
      v.bits = d.take("xor") ? BitOperation::kXor : d.take("and") ? BitOperation::kAnd : BitOperation::kNone;
    std::vector<Type> types;
    while (std::optional<Type> t = d.take_type_if())
      types.push_back(*t);
    if (types.size() != 2 && types.size() != 4)
      return d.invalid("'wmma.mma' needs the types of d and c, or of d, a, b and c");
    const Type a = types.size() == 2 ? Type::kF16 : types[1], b = types.size() == 2 ? Type::kF16 : types[2];
    if (!set_shape(d, v, shape, matrix_element_bits(a)) || matrix_element_bits(a) != matrix_element_bits(b))
      return d.unsupported("'wmma.mma' of these types");
    v.a = fragment(v.m, v.k, a, true);
    v.b = fragment(v.k, v.n, b, true);
    v.c = fragment(v.m, v.n, types.back(), false);
    v.d = fragment(v.m, v.n, types.front(), false);
    d.expect_operands(4, 4);
    d.result_vector(0, register_type(v.d), v.d.registers);
    d.value_vector(1, register_type(v.a), v.a.registers);
    d.value_vector(2, register_type(v.b), v.b.registers);
    d.value_vector(3, register_type(v.c), v.c.registers);
    d.out.execute = multiply;
    d.out.extra = d.keep(v);
    return;
  }
  const int part = d.take_one({"a", "b", "c", "d"});
  v.by_columns = d.take_one({"row", "col"}) == 1;
  d.out.space = d.take_space();
  const Type type = d.take_type();
  const int bits = matrix_element_bits(type);
  if (part < 0 || bits == 0 || !set_shape(d, v, shape, part <= 1 ? bits : 0))
    return d.unsupported("'wmma' of .", spelling(type));
  v.a = part == 0   ? fragment(v.m, v.k, type, true)
        : part == 1 ? fragment(v.k, v.n, type, true)
                    : fragment(v.m, v.n, type, false);
  d.expect_operands(2, 3);
  d.out.extra = d.keep(v);
  if (what == 0) {
    d.out.cls = InstructionClass::kLoad;
    d.out.execute = load_fragment;
    d.result_vector(0, register_type(v.a), v.a.registers);
    d.address(1);
  } else {
    d.out.cls = InstructionClass::kStore;
    d.out.execute = store_fragment;
    d.address(0);
    d.value_vector(1, register_type(v.a), v.a.registers);
  }
  if (d.given() == 3)
    d.value(2, Type::kB32);
}

constexpr InstructionFamily kTable[] = {
    {"wmma", InstructionClass::kTensorCore, decode_wmma},
};

} // namespace

std::span<const InstructionFamily> wmma_instructions() { return kTable; }

} // namespace quaver::sim
