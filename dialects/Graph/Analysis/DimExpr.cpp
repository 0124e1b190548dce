#include "dialects/Graph/Analysis/DimExprNode.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <numeric>

namespace quaver::graph {

using Atom = DimAtom;
using AtomRef = DimAtomRef;
using Monomial = DimMonomial;
using Terms = DimTerms;

llvm::StringRef spell(DimExpr::Kind k) {
  switch (k) {
  case DimExpr::Kind::FloorDiv:
    return "floordiv";
  case DimExpr::Kind::CeilDiv:
    return "ceildiv";
  case DimExpr::Kind::Mod:
    return "mod";
  case DimExpr::Kind::Min:
    return "min";
  case DimExpr::Kind::Max:
    return "max";
  case DimExpr::Kind::Eq:
    return "eq";
  case DimExpr::Kind::Lt:
    return "lt";
  case DimExpr::Kind::Select:
    return "select";
  case DimExpr::Kind::Add:
    return "+";
  case DimExpr::Kind::Mul:
    return "*";
  }
  llvm_unreachable("all kinds are listed");
}

static int64_t floorDivide(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a % b < 0) != (b < 0)); }
static int64_t ceilDivide(int64_t a, int64_t b) { return a / b + (a % b != 0 && (a % b < 0) == (b < 0)); }

std::shared_ptr<const DimExpr::Node> DimExpr::Node::make(DimTerms terms) {
  for (auto it = terms.begin(); it != terms.end();)
    it = it->second == 0 ? terms.erase(it) : std::next(it);
  auto n = std::make_shared<Node>();
  std::string &t = n->text;
  for (auto &[m, c] : terms) {
    bool first = t.empty();
    int64_t magnitude = c;
    if (!first)
      t += c < 0 ? " - " : " + ", magnitude = c < 0 ? -c : c;
    if (m.empty() || (magnitude != 1 && !(first && c == -1)))
      t += std::to_string(magnitude);
    else if (first && c == -1)
      t += "-";
    bool needStar = !m.empty() && magnitude != 1 && !(first && c == -1);
    for (const AtomRef &a : m) {
      if (needStar)
        t += " * ";
      t += a->text;
      needStar = true;
    }
  }
  if (t.empty())
    t = "0";
  n->terms = std::move(terms);
  return n;
}

static Terms constantTerms(int64_t v) {
  Terms t;
  if (v)
    t[{}] = v;
  return t;
}

DimExpr::DimExpr() : node(Node::make({})) {}
DimExpr::DimExpr(int64_t value) : node(Node::make(constantTerms(value))) {}

// Sizes are never negative; elements read from data ("value_...") may be.
static bool symbolIsNonNegative(llvm::StringRef s) { return !s.starts_with("value_"); }

DimExpr DimExpr::symbol(llvm::StringRef name) {
  auto a = std::make_shared<Atom>();
  a->text = a->symbol = name.str();
  Terms t;
  t[{a}] = 1;
  return DimExpr(Node::make(std::move(t)));
}

bool DimExpr::operator==(const DimExpr &o) const { return node == o.node || node->text == o.node->text; }
bool DimExpr::operator<(const DimExpr &o) const { return node->text < o.node->text; }
bool DimExpr::isConstant() const {
  return node->terms.empty() || (node->terms.size() == 1 && node->terms.begin()->first.empty());
}
std::optional<int64_t> DimExpr::getConstant() const {
  if (node->terms.empty())
    return 0;
  if (!isConstant())
    return std::nullopt;
  return node->terms.begin()->second;
}
std::optional<std::string> DimExpr::getSymbol() const {
  if (node->terms.size() != 1)
    return std::nullopt;
  auto &[m, c] = *node->terms.begin();
  if (c != 1 || m.size() != 1 || m[0]->symbol.empty())
    return std::nullopt;
  return m[0]->symbol;
}
std::string DimExpr::str() const { return node->text; }

DimExpr operator+(const DimExpr &a, const DimExpr &b) {
  Terms t = a.node->terms;
  for (auto &[m, c] : b.node->terms)
    t[m] += c;
  return DimExpr(DimExpr::Node::make(std::move(t)));
}
DimExpr operator*(const DimExpr &a, const DimExpr &b) {
  Terms t;
  for (auto &[m, c] : a.node->terms)
    for (auto &[n, d] : b.node->terms) {
      Monomial p = m;
      p.insert(p.end(), n.begin(), n.end());
      llvm::sort(p, [](const AtomRef &x, const AtomRef &y) { return x->text < y->text; });
      t[p] += c * d;
    }
  return DimExpr(DimExpr::Node::make(std::move(t)));
}
DimExpr operator-(const DimExpr &a, const DimExpr &b) { return a + DimExpr(-1) * b; }

DimExpr DimExprBuilder::function(DimExpr::Kind kind, std::vector<DimExpr> operands) {
  auto a = std::make_shared<Atom>();
  a->kind = kind;
  a->text = spell(kind).str() + "(";
  for (size_t i = 0; i < operands.size(); ++i)
    a->text += (i ? ", " : "") + operands[i].str();
  a->text += ")";
  a->operands = std::move(operands);
  Terms t;
  t[{a}] = 1;
  return make(std::move(t));
}

static bool isNonNegative(const Terms &terms);

bool isNonNegative(const DimExpr &e) { return isNonNegative(DimExprBuilder::terms(e)); }

static bool atomIsNonNegative(const Atom &a) {
  if (!a.symbol.empty())
    return symbolIsNonNegative(a.symbol);
  switch (a.kind) {
  case DimExpr::Kind::Eq:
  case DimExpr::Kind::Lt:
    return true;
  case DimExpr::Kind::Mod:
    return isNonNegative(a.operands[1]);
  case DimExpr::Kind::Max:
    return llvm::any_of(a.operands, [](const DimExpr &o) { return isNonNegative(o); });
  case DimExpr::Kind::Select:
    return isNonNegative(a.operands[1]) && isNonNegative(a.operands[2]);
  default:
    return llvm::all_of(a.operands, [](const DimExpr &o) { return isNonNegative(o); });
  }
}
static bool isNonNegative(const Terms &terms) {
  return llvm::all_of(terms, [](auto &t) {
    return t.second >= 0 && llvm::all_of(t.first, [](const AtomRef &a) { return atomIsNonNegative(*a); });
  });
}

// m / d as a monomial, if d divides it.
static std::optional<Monomial> divide(const Monomial &m, const Monomial &d) {
  Monomial rest = m;
  for (const AtomRef &a : d) {
    auto it = llvm::find_if(rest, [&](const AtomRef &r) { return r->text == a->text; });
    if (it == rest.end())
      return std::nullopt;
    rest.erase(it);
  }
  return rest;
}

// q with a == q * b, by long division on the leading terms.
static std::optional<DimExpr> divideExactly(const DimExpr &a, const DimExpr &b) {
  const Terms &divisor = DimExprBuilder::terms(b);
  if (divisor.empty())
    return std::nullopt;
  DimExpr rest = a, quotient;
  for (int steps = 0; steps < 64; ++steps) {
    const Terms &t = DimExprBuilder::terms(rest);
    if (t.empty())
      return quotient;
    auto m = divide(t.begin()->first, divisor.begin()->first);
    int64_t c = divisor.begin()->second;
    if (!m || t.begin()->second % c)
      return std::nullopt;
    DimExpr q = DimExprBuilder::make(Terms{{*m, t.begin()->second / c}});
    quotient = quotient + q;
    rest = rest - q * b;
  }
  return std::nullopt;
}

// a = n * q + r with the terms that n divides in q.
static void splitByDivisor(const DimExpr &a, int64_t n, DimExpr &q, DimExpr &r) {
  Terms quotient, rest;
  for (auto &[m, c] : DimExprBuilder::terms(a)) {
    int64_t f = m.empty() ? floorDivide(c, n) : c / n;
    if (m.empty() || c % n == 0) {
      if (f)
        quotient[m] = f;
      if (c - f * n)
        rest[m] = c - f * n;
    } else {
      rest[m] = c;
    }
  }
  q = DimExprBuilder::make(std::move(quotient));
  r = DimExprBuilder::make(std::move(rest));
}

DimExpr DimExpr::floorDiv(const DimExpr &a, const DimExpr &b) {
  auto n = b.getConstant();
  if (n && *n > 0) {
    DimExpr q, r;
    splitByDivisor(a, *n, q, r);
    if (r.isConstant())
      return q; // 0 <= r < n
    return q + DimExprBuilder::function(Kind::FloorDiv, {r, b});
  }
  if (auto q = divideExactly(a, b))
    return *q;
  if (n && a.isConstant() && *n)
    return DimExpr(floorDivide(*a.getConstant(), *n));
  return DimExprBuilder::function(Kind::FloorDiv, {a, b});
}
DimExpr DimExpr::ceilDiv(const DimExpr &a, const DimExpr &b) {
  auto n = b.getConstant();
  if (n && *n > 0) {
    DimExpr q, r;
    splitByDivisor(a, *n, q, r);
    if (r.isConstant())
      return q + DimExpr(*r.getConstant() > 0);
    return q + DimExprBuilder::function(Kind::CeilDiv, {r, b});
  }
  if (auto q = divideExactly(a, b))
    return *q;
  if (n && a.isConstant() && *n)
    return DimExpr(ceilDivide(*a.getConstant(), *n));
  return DimExprBuilder::function(Kind::CeilDiv, {a, b});
}
DimExpr DimExpr::mod(const DimExpr &a, const DimExpr &b) {
  auto n = b.getConstant();
  if (n && *n > 0) {
    DimExpr q, r;
    splitByDivisor(a, *n, q, r);
    if (r.isConstant())
      return r;
    return DimExprBuilder::function(Kind::Mod, {r, b});
  }
  if (divideExactly(a, b))
    return DimExpr(0);
  return DimExprBuilder::function(Kind::Mod, {a, b});
}
DimExpr DimExpr::min(const DimExpr &a, const DimExpr &b) {
  if (isNonNegative(b - a))
    return a;
  if (isNonNegative(a - b))
    return b;
  return a < b ? DimExprBuilder::function(Kind::Min, {a, b}) : DimExprBuilder::function(Kind::Min, {b, a});
}
DimExpr DimExpr::max(const DimExpr &a, const DimExpr &b) {
  if (isNonNegative(b - a))
    return b;
  if (isNonNegative(a - b))
    return a;
  return a < b ? DimExprBuilder::function(Kind::Max, {a, b}) : DimExprBuilder::function(Kind::Max, {b, a});
}
DimExpr DimExpr::eq(const DimExpr &a, const DimExpr &b) {
  DimExpr d = a - b;
  if (auto c = d.getConstant())
    return DimExpr(*c == 0);
  if (isNonNegative(d - DimExpr(1)) || isNonNegative(DimExpr(-1) - d))
    return DimExpr(0);
  return a < b ? DimExprBuilder::function(Kind::Eq, {a, b}) : DimExprBuilder::function(Kind::Eq, {b, a});
}
DimExpr DimExpr::lt(const DimExpr &a, const DimExpr &b) {
  if (isNonNegative(b - a - DimExpr(1)))
    return DimExpr(1);
  if (isNonNegative(a - b))
    return DimExpr(0);
  return DimExprBuilder::function(Kind::Lt, {a, b});
}
DimExpr DimExpr::select(const DimExpr &c, const DimExpr &a, const DimExpr &b) {
  if (auto k = c.getConstant())
    return *k ? a : b;
  if (a == b)
    return a;
  return DimExprBuilder::function(Kind::Select, {c, a, b});
}

void DimExpr::collectSymbols(std::map<std::string, int> &counts) const {
  for (auto &[m, c] : node->terms)
    for (const AtomRef &a : m) {
      if (!a->symbol.empty())
        ++counts[a->symbol];
      for (const DimExpr &o : a->operands)
        o.collectSymbols(counts);
    }
}

DimExpr DimExprBuilder::apply(DimExpr::Kind kind, llvm::ArrayRef<DimExpr> o) {
  switch (kind) {
  case DimExpr::Kind::FloorDiv:
    return DimExpr::floorDiv(o[0], o[1]);
  case DimExpr::Kind::CeilDiv:
    return DimExpr::ceilDiv(o[0], o[1]);
  case DimExpr::Kind::Mod:
    return DimExpr::mod(o[0], o[1]);
  case DimExpr::Kind::Min:
    return DimExpr::min(o[0], o[1]);
  case DimExpr::Kind::Max:
    return DimExpr::max(o[0], o[1]);
  case DimExpr::Kind::Eq:
    return DimExpr::eq(o[0], o[1]);
  case DimExpr::Kind::Lt:
    return DimExpr::lt(o[0], o[1]);
  case DimExpr::Kind::Select:
    return DimExpr::select(o[0], o[1], o[2]);
  default:
    llvm_unreachable("sums and products are not atoms");
  }
}

std::optional<int64_t>
DimExpr::evaluate(const std::function<std::optional<int64_t>(llvm::StringRef)> &valueOf) const {
  int64_t sum = 0;
  for (auto &[m, c] : node->terms) {
    int64_t product = c;
    for (const AtomRef &a : m) {
      std::optional<int64_t> v;
      if (!a->symbol.empty()) {
        v = valueOf(a->symbol);
      } else {
        llvm::SmallVector<DimExpr> operands;
        for (const DimExpr &o : a->operands) {
          auto x = o.evaluate(valueOf);
          if (!x)
            return std::nullopt;
          operands.push_back(DimExpr(*x));
        }
        bool divides = a->kind == Kind::FloorDiv || a->kind == Kind::CeilDiv || a->kind == Kind::Mod;
        if (divides && operands[1] == DimExpr(0))
          return std::nullopt;
        if (a->kind == Kind::Mod && *operands[1].getConstant() < 0) {
          int64_t x = *operands[0].getConstant(), n = *operands[1].getConstant();
          v = x - floorDivide(x, n) * n;
        } else {
          v = DimExprBuilder::apply(a->kind, operands).getConstant();
        }
      }
      if (!v || __builtin_mul_overflow(product, *v, &product))
        return std::nullopt;
    }
    if (__builtin_add_overflow(sum, product, &sum))
      return std::nullopt;
  }
  return sum;
}

DimExpr DimExpr::substitute(const std::function<std::optional<DimExpr>(llvm::StringRef)> &replacement) const {
  DimExpr sum;
  for (auto &[m, c] : node->terms) {
    DimExpr product(c);
    for (const AtomRef &a : m) {
      if (!a->symbol.empty()) {
        product = product * replacement(a->symbol).value_or(DimExpr::symbol(a->symbol));
        continue;
      }
      llvm::SmallVector<DimExpr> operands;
      for (const DimExpr &o : a->operands)
        operands.push_back(o.substitute(replacement));
      product = product * DimExprBuilder::apply(a->kind, operands);
    }
    sum = sum + product;
  }
  return sum;
}

int DimExpr::visit(const std::function<int(int64_t)> &constant,
                   const std::function<int(llvm::StringRef)> &symbolFn,
                   const std::function<int(Kind, llvm::ArrayRef<int>)> &combine) const {
  if (isConstant())
    return constant(*getConstant());
  llvm::SmallVector<int> sum;
  for (auto &[m, c] : node->terms) {
    llvm::SmallVector<int> product;
    for (const AtomRef &a : m) {
      if (!a->symbol.empty()) {
        product.push_back(symbolFn(a->symbol));
        continue;
      }
      llvm::SmallVector<int> operands;
      for (const DimExpr &o : a->operands)
        operands.push_back(o.visit(constant, symbolFn, combine));
      product.push_back(combine(a->kind, operands));
    }
    if (c != 1 || product.empty())
      product.push_back(constant(c));
    sum.push_back(product.size() == 1 ? product[0] : combine(Kind::Mul, product));
  }
  return sum.size() == 1 ? sum[0] : combine(Kind::Add, sum);
}

} // namespace quaver::graph
