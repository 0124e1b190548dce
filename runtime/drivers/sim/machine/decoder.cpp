//===- decoder.cpp - modifiers and operands of one instruction --------------===//
#include "runtime/drivers/sim/machine/decoder.h"

#include "runtime/drivers/sim/machine/function_builder.h"
#include "runtime/drivers/sim/ptx/lexer.h"
#include "runtime/numerics/codec.h"

#include <algorithm>
#include <bit>

namespace quaver::sim {
namespace {

std::string_view space_word(std::string_view word) {
  return word == "shared::cta" ? "shared" : word == "param::entry" || word == "param::func" ? "param" : word;
}

} // namespace

Decoder::Decoder(FunctionBuilder &f, const ptx::Instruction &s)
    : source(s), function(f), modifiers_(s.modifiers) {
  out.source = &source;
}

void Decoder::fail(StatusCode code, std::string text) {
  if (status_.ok())
    status_ = Status(code, str_cat(ptx::to_string(source.at), ": ", text, ", in: ", source.text));
}

void Decoder::own(std::shared_ptr<const void> object) {
  function.program.program.kept.push_back(std::move(object));
}

bool Decoder::take(std::string_view word) {
  auto at = std::find(modifiers_.begin(), modifiers_.end(), word);
  if (at == modifiers_.end())
    return false;
  modifiers_.erase(at);
  return true;
}

int Decoder::take_one(std::initializer_list<std::string_view> words) {
  int index = 0;
  for (std::string_view word : words) {
    if (take(word))
      return index;
    ++index;
  }
  return -1;
}

std::optional<ptx::Type> Decoder::take_type_if() {
  for (auto at = modifiers_.begin(); at != modifiers_.end(); ++at)
    if (std::optional<ptx::Type> type = ptx::type_from_spelling(*at)) {
      modifiers_.erase(at);
      return type;
    }
  return std::nullopt;
}

ptx::Type Decoder::take_type() {
  if (std::optional<ptx::Type> type = take_type_if())
    return *type;
  invalid("'", source.opcode, "' needs a type");
  return ptx::Type::kB32;
}

ptx::Space Decoder::take_space() {
  for (auto at = modifiers_.begin(); at != modifiers_.end(); ++at)
    for (ptx::Space space : {ptx::Space::kGlobal, ptx::Space::kShared, ptx::Space::kLocal, ptx::Space::kParam,
                             ptx::Space::kConst})
      if (space_word(*at) == spelling(space)) {
        modifiers_.erase(at);
        return space;
      }
  return ptx::Space::kGeneric;
}

int Decoder::take_vector() { return take("v2") ? 2 : take("v4") ? 4 : take("v8") ? 8 : 1; }

const ptx::Operand &Decoder::operand(size_t i) {
  static const ptx::Operand kMissing;
  if (i < given())
    return source.operands[i];
  invalid("'", source.opcode, "' needs more than ", given(), " operands");
  return kMissing;
}

void Decoder::expect_operands(size_t least, size_t most) {
  if (given() < least || given() > most)
    invalid("'", source.opcode, "' takes ", least, least == most ? "" : str_cat(" to ", most),
            " operands, found ", given());
}

void Decoder::result(const ptx::Operand &o, ptx::Type type) {
  Operand to;
  to.is_sink = true;
  ++out.results;
  if (o.kind == ptx::Operand::Kind::kName) {
    ptx::Type declared = ptx::Type::kB32;
    std::optional<Operand> found = function.register_operand(o.name, o.component, &declared);
    if (!found)
      invalid("'", o.name, "' is not a register");
    else if (found->base == Operand::Base::kSpecial)
      invalid("'", o.name, "' cannot be written");
    else if ((type == ptx::Type::kPred) != (declared == ptx::Type::kPred) || found->bytes < bytes_of(type))
      invalid("'", o.name, "' is .", spelling(declared), ", a .", spelling(type), " result does not fit it");
    else
      to = *found;
  } else if (o.kind != ptx::Operand::Kind::kSink) {
    invalid("a result must be a register");
  }
  operands_.push_back(to);
}

void Decoder::value(const ptx::Operand &o, ptx::Type type) {
  Operand from;
  const uint8_t bytes = bytes_of(type);
  switch (o.kind) {
  case ptx::Operand::Kind::kName: {
    ptx::Type declared = ptx::Type::kB32;
    if (std::optional<Operand> found = function.register_operand(o.name, o.component, &declared)) {
      from = *found;
      from.negated = o.negated;
      if (o.minus || o.offset)
        invalid("'", o.name, "' has a sign or an offset here, where a register stands alone");
      else if (o.negated && type != ptx::Type::kPred)
        invalid("'!' stands only before a predicate");
      else if ((type == ptx::Type::kPred) != (declared == ptx::Type::kPred) || found->bytes < bytes)
        invalid("'", o.name, "' is .", spelling(declared), ", where a .", spelling(type), " is read");
      break;
    }
    if (bytes < 4) {
      invalid("'", o.name, "' is not a register");
      break;
    }
    StatusOr<Operand> address = function.address_of(o);
    if (address.ok())
      from = *address;
    else if (status_.ok())
      status_ = address.status();
    break;
  }
  case ptx::Operand::Kind::kInteger:
    if (is_float(type) && bytes > 2)
      invalid("an integer where a .", spelling(type), " is read: write 0f... or a decimal point");
    from = function.constant(o.bits, bytes);
    if (o.negated)
      invalid("'!' before a number");
    break;
  case ptx::Operand::Kind::kFloat: {
    uint64_t bits = o.bits;
    const double wide =
        o.is_single ? double(std::bit_cast<float>(uint32_t(o.bits))) : std::bit_cast<double>(o.bits);
    if (bytes == 8 && o.is_single && is_float(type))
      bits = std::bit_cast<uint64_t>(wide);
    else if (bytes == 4 && !o.is_single)
      bits = std::bit_cast<uint32_t>(float(wide));
    else if (bytes < 4 || bytes > 8)
      invalid("a floating-point number where a .", spelling(type), " is read");
    from = function.constant(bits, bytes);
    break;
  }
  default:
    invalid("a register, a number or a variable is needed here");
  }
  operands_.push_back(from);
}

void Decoder::result_vector(size_t i, ptx::Type type, int count) {
  const ptx::Operand &o = operand(i);
  if (o.kind == ptx::Operand::Kind::kVector) {
    if (int(o.elements.size()) != count)
      invalid("a vector of ", count, " registers is needed, found ", o.elements.size());
    for (const ptx::Operand &element : o.elements)
      result(element, type);
    return;
  }
  const Name *name =
      o.kind == ptx::Operand::Kind::kName && o.component.empty() ? function.find(o.name) : nullptr;
  if (count > 1 && name && name->kind == Name::Kind::kVectorRegister && name->vector == count) {
    for (int k = 0; k < count; ++k) {
      ptx::Operand element = o;
      element.component = std::string_view("xyzw").substr(size_t(k), 1);
      result(element, type);
    }
    return;
  }
  if (count > 1)
    invalid("a vector of ", count, " registers is needed");
  result(o, type);
}

void Decoder::value_vector(size_t i, ptx::Type type, int count) {
  const ptx::Operand &o = operand(i);
  if (o.kind == ptx::Operand::Kind::kVector) {
    if (int(o.elements.size()) != count)
      invalid("a vector of ", count, " values is needed, found ", o.elements.size());
    for (const ptx::Operand &element : o.elements)
      value(element, type);
    return;
  }
  const Name *name =
      o.kind == ptx::Operand::Kind::kName && o.component.empty() ? function.find(o.name) : nullptr;
  if (count > 1 && name && name->kind == Name::Kind::kVectorRegister && name->vector == count) {
    for (int k = 0; k < count; ++k) {
      ptx::Operand element = o;
      element.component = std::string_view("xyzw").substr(size_t(k), 1);
      value(element, type);
    }
    return;
  }
  if (count > 1)
    invalid("a vector of ", count, " values is needed");
  value(o, type);
}

void Decoder::address(size_t i, bool allow_more) {
  const ptx::Operand &o = operand(i);
  if (o.kind != ptx::Operand::Kind::kAddress || o.elements.empty()) {
    invalid("an address in brackets is needed");
    operands_.emplace_back();
    return;
  }
  if (!allow_more && o.elements.size() > 1)
    invalid("only one value may stand in these brackets");
  const ptx::Operand &base = o.elements.front();
  out.offset = o.offset;
  ptx::Type declared = ptx::Type::kB64;
  if (base.kind == ptx::Operand::Kind::kName) {
    const std::optional<Operand> found = function.register_operand(base.name, base.component, &declared);
    if (found && found->bytes != 4 && found->bytes != 8)
      invalid("'", base.name, "' is .", spelling(declared), ", an address has 32 or 64 bits");
    value(base, found && found->bytes == 4 ? ptx::Type::kB32 : ptx::Type::kB64);
  } else {
    value(base, ptx::Type::kB64);
  }
}

bool Decoder::is_constant(size_t i) { return i < given() && operand(i).kind == ptx::Operand::Kind::kInteger; }

int64_t Decoder::constant(size_t i, int64_t low, int64_t high) {
  const ptx::Operand &o = operand(i);
  if (o.kind != ptx::Operand::Kind::kInteger || int64_t(o.bits) < low || int64_t(o.bits) > high) {
    invalid("operand ", i, " must be a constant between ", low, " and ", high);
    return low;
  }
  return int64_t(o.bits);
}

Status Decoder::finish() {
  if (status_.ok() && !modifiers_.empty())
    unsupported("'.", modifiers_.front(), "' of '", source.opcode, "' is not known");
  if (status_.ok() && !out.execute)
    unsupported("this form of '", source.opcode, "' is not known");
  if (!status_.ok())
    return status_;
  out.operand_count = uint16_t(operands_.size());
  auto block = std::make_unique<Operand[]>(operands_.size());
  std::copy(operands_.begin(), operands_.end(), block.get());
  out.operands = block.get();
  function.program.program.operand_blocks.push_back(std::move(block));
  return OkStatus();
}

} // namespace quaver::sim
