#include "runtime/plan/expr_printer.h"

namespace quaver::plan {
namespace {

// Binding strength: sums 1, products 2, the rest 3.
std::string print(const Plan &plan, uint32_t i, int outer, size_t budget) {
  if (i >= uint32_t(plan.exprs_size()) || budget == 0)
    return "...";
  const Expr &e = plan.exprs(int(i));
  auto sub = [&](uint32_t o, int strength) { return print(plan, o, strength, budget - 1); };
  auto infix = [&](const char *op, int own, int right) {
    std::string s = sub(e.a(), own) + op + sub(e.b(), right);
    return own < outer ? "(" + s + ")" : s;
  };
  auto call = [&](const char *name) {
    return std::string(name) + "(" + sub(e.a(), 0) + ", " + sub(e.b(), 0) + ")";
  };
  switch (e.kind()) {
  case Expr::CONSTANT:
    return std::to_string(e.value());
  case Expr::DIM:
    return e.value() >= 0 && e.value() < plan.dims_size() ? plan.dims(int(e.value())).name() : "?";
  case Expr::ADD:
    return infix(" + ", 1, 1);
  case Expr::SUB:
    return infix(" - ", 1, 2);
  case Expr::MUL:
    return infix(" * ", 2, 2);
  case Expr::FLOOR_DIV:
    return call("floordiv");
  case Expr::CEIL_DIV:
    return call("ceildiv");
  case Expr::MOD:
    return call("mod");
  case Expr::MIN:
    return call("min");
  case Expr::MAX:
    return call("max");
  case Expr::EQ:
    return call("eq");
  case Expr::LT:
    return call("lt");
  case Expr::SELECT:
    return "select(" + sub(e.a(), 0) + ", " + sub(e.b(), 0) + ", " + sub(e.c(), 0) + ")";
  default:
    return "?";
  }
}

} // namespace

std::string print_expr(const Plan &plan, uint32_t expr, size_t max_length) {
  std::string s = print(plan, expr, 0, 64);
  if (s.size() > max_length)
    s = s.substr(0, max_length) + "...";
  return s;
}

} // namespace quaver::plan
