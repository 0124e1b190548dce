#include "runtime/plan/expr_printer.h"
#include "runtime/plan/expr.h"

namespace quaver::plan {
namespace {

// Expressions share operands, so their text can be exponentially long: the printer stops when there is enough
// of it.
class ExprPrinter {
public:
  ExprPrinter(const Plan &plan, size_t max_length) : plan_(plan), max_length_(max_length) {}

  // Binding strength `outer`: sums 1, products 2.
  void print(uint32_t i, int outer, int depth) {
    if (out.size() > max_length_ || depth > kMaxDepth || i >= uint32_t(plan_.exprs_size())) {
      out += "...";
      return;
    }
    const Expr &e = plan_.exprs(int(i));
    auto infix = [&](const char *op, int own, int right) {
      if (own < outer)
        out += "(";
      print(e.a(), own, depth + 1);
      out += op;
      print(e.b(), right, depth + 1);
      if (own < outer)
        out += ")";
    };
    auto call = [&](const char *name) {
      out += name;
      out += "(";
      print(e.a(), 0, depth + 1);
      out += ", ";
      print(e.b(), 0, depth + 1);
      if (e.kind() == Expr::SELECT) {
        out += ", ";
        print(e.c(), 0, depth + 1);
      }
      out += ")";
    };
    switch (e.kind()) {
    case Expr::CONSTANT:
      out += std::to_string(e.value());
      break;
    case Expr::DIM:
      out += e.value() >= 0 && e.value() < plan_.dims_size() ? plan_.dims(int(e.value())).name() : "?";
      break;
    case Expr::ADD:
      infix(" + ", 1, 1);
      break;
    case Expr::SUB:
      infix(" - ", 1, 2);
      break;
    case Expr::MUL:
      infix(" * ", 2, 2);
      break;
    case Expr::FLOOR_DIV:
      call("floordiv");
      break;
    case Expr::CEIL_DIV:
      call("ceildiv");
      break;
    case Expr::MOD:
      call("mod");
      break;
    case Expr::MIN:
      call("min");
      break;
    case Expr::MAX:
      call("max");
      break;
    case Expr::EQ:
      call("eq");
      break;
    case Expr::LT:
      call("lt");
      break;
    case Expr::SELECT:
      call("select");
      break;
    default:
      out += "?";
    }
  }
  std::string out;

private:
  static constexpr int kMaxDepth = 2000;
  const Plan &plan_;
  size_t max_length_;
};

} // namespace

std::string print_expr(const Plan &plan, uint32_t expr, size_t max_length) {
  ExprPrinter printer(plan, max_length);
  printer.print(expr, 0, 0);
  if (printer.out.size() > max_length) {
    printer.out.resize(max_length);
    printer.out += "...";
  }
  return std::move(printer.out);
}

} // namespace quaver::plan
