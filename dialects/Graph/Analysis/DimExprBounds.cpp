// What is provable of an expression: bounds, divisors, an upper bound free of some symbols; and the parser.
#include "dialects/Graph/Analysis/DimExprNode.h"
#include "llvm/ADT/StringExtras.h"
#include <numeric>

namespace quaver::graph {

using BoundsOf = std::function<DimBounds(llvm::StringRef)>;
constexpr int64_t kLowest = INT64_MIN;

static std::optional<int64_t> multiply(std::optional<int64_t> a, int64_t b) {
  int64_t r;
  if (!a || __builtin_mul_overflow(*a, b, &r))
    return std::nullopt;
  return r;
}

static DimBounds atomBounds(const DimAtom &a, const BoundsOf &boundsOf) {
  if (!a.symbol.empty())
    return boundsOf(a.symbol);
  llvm::SmallVector<DimBounds> o;
  for (const DimExpr &e : a.operands)
    o.push_back(e.bounds(boundsOf));
  DimBounds r;
  r.min = kLowest;
  switch (a.kind) {
  case DimExpr::Kind::Eq:
  case DimExpr::Kind::Lt:
    return {0, 1, 1};
  case DimExpr::Kind::Select:
    r.min = std::min(o[1].min, o[2].min);
    if (o[1].max && o[2].max)
      r.max = std::max(*o[1].max, *o[2].max);
    r.multipleOf = std::gcd(o[1].multipleOf, o[2].multipleOf);
    return r;
  case DimExpr::Kind::Min:
    r.min = std::min(o[0].min, o[1].min);
    if (o[0].max || o[1].max)
      r.max = std::min(o[0].max.value_or(INT64_MAX), o[1].max.value_or(INT64_MAX));
    r.multipleOf = std::gcd(o[0].multipleOf, o[1].multipleOf);
    return r;
  case DimExpr::Kind::Max:
    r.min = std::max(o[0].min, o[1].min);
    if (o[0].max && o[1].max)
      r.max = std::max(*o[0].max, *o[1].max);
    r.multipleOf = std::gcd(o[0].multipleOf, o[1].multipleOf);
    return r;
  case DimExpr::Kind::FloorDiv:
  case DimExpr::Kind::CeilDiv: {
    auto n = a.operands[1].getConstant();
    if (!n || *n <= 0)
      return r;
    int64_t up = a.kind == DimExpr::Kind::CeilDiv ? *n - 1 : 0;
    if (o[0].min != kLowest && o[0].min >= 0)
      r.min = (o[0].min + up) / *n;
    if (o[0].max && *o[0].max >= 0 && *o[0].max <= INT64_MAX - up)
      r.max = (*o[0].max + up) / *n;
    return r;
  }
  case DimExpr::Kind::Mod:
    if (auto n = a.operands[1].getConstant(); n && *n > 0)
      return {0, *n - 1, 1};
    return r;
  default:
    return r;
  }
}

DimBounds DimExpr::bounds(const BoundsOf &boundsOf) const {
  DimBounds sum;
  sum.min = 0, sum.max = 0, sum.multipleOf = 0;
  for (auto &[m, c] : node->terms) {
    DimBounds p{1, 1, 1};
    for (const DimAtomRef &a : m) {
      DimBounds b = atomBounds(*a, boundsOf);
      p.multipleOf *= std::max<int64_t>(1, b.multipleOf);
      if (p.min == kLowest || b.min == kLowest || p.min < 0 || b.min < 0) {
        p.min = kLowest, p.max.reset(); // signs unknown: give up on the product
        continue;
      }
      p.min = multiply(p.min, b.min).value_or(0);
      p.max = p.max && b.max ? multiply(p.max, *b.max) : std::nullopt;
    }
    std::optional<int64_t> low = p.min == kLowest ? std::nullopt : std::optional(p.min), high = p.max;
    if (c < 0)
      std::swap(low, high);
    low = multiply(low, c), high = multiply(high, c);
    sum.min = low && sum.min != kLowest ? sum.min + *low : kLowest;
    sum.max = high && sum.max ? std::optional(*sum.max + *high) : std::nullopt;
    sum.multipleOf = std::gcd(sum.multipleOf, c * p.multipleOf);
  }
  sum.multipleOf = std::max<int64_t>(1, std::abs(sum.multipleOf));
  return sum;
}

bool DimExpr::provablyDivisibleBy(int64_t n, const BoundsOf &boundsOf) const {
  if (auto c = getConstant())
    return *c % n == 0;
  return bounds(boundsOf).multipleOf % n == 0;
}

using Bound = std::function<std::optional<DimExpr>(llvm::StringRef)>;

static bool mentionsReplaced(const DimExpr &e, const Bound &bound) {
  std::map<std::string, int> symbols;
  e.collectSymbols(symbols);
  return llvm::any_of(symbols, [&](auto &s) {
    auto b = bound(s.first);
    return !b || *b != DimExpr::symbol(s.first);
  });
}

static std::optional<DimExpr> atomUpperBound(const DimAtom &a, const Bound &bound) {
  if (!a.symbol.empty())
    return bound(a.symbol);
  DimExpr self = DimExprBuilder::apply(a.kind, a.operands);
  if (llvm::none_of(a.operands, [&](const DimExpr &o) { return mentionsReplaced(o, bound); }))
    return self;
  auto up = [&](int i) { return a.operands[i].upperBound(bound); };
  switch (a.kind) {
  case DimExpr::Kind::Eq:
  case DimExpr::Kind::Lt:
    return DimExpr(1);
  case DimExpr::Kind::Min: {
    auto x = up(0), y = up(1);
    if (x && y)
      return DimExpr::min(*x, *y);
    return x ? x : y;
  }
  case DimExpr::Kind::Max:
  case DimExpr::Kind::Select: {
    bool isSelect = a.kind == DimExpr::Kind::Select;
    auto x = up(isSelect), y = up(1 + isSelect);
    if (!x || !y)
      return std::nullopt;
    return DimExpr::max(*x, *y);
  }
  case DimExpr::Kind::FloorDiv:
  case DimExpr::Kind::CeilDiv: {
    auto n = a.operands[1].getConstant();
    auto x = up(0);
    if (!x)
      return std::nullopt;
    if (n && *n > 0)
      return DimExprBuilder::apply(a.kind, {*x, a.operands[1]});
    return isNonNegative(*x) ? x : std::nullopt; // dividing by at least one
  }
  case DimExpr::Kind::Mod: {
    auto n = up(1);
    if (!n)
      return std::nullopt;
    return *n - DimExpr(1);
  }
  default:
    return std::nullopt;
  }
}

std::optional<DimExpr> DimExpr::upperBound(const Bound &bound) const {
  DimExpr sum;
  for (auto &[m, c] : node->terms) {
    DimExpr term = DimExprBuilder::make(DimTerms{{m, 1}});
    if (!mentionsReplaced(term, bound)) {
      sum = sum + DimExpr(c) * term;
      continue;
    }
    if (!isNonNegative(term))
      return std::nullopt;
    if (c < 0)
      continue; // at most 0
    DimExpr product(c);
    for (const DimAtomRef &a : m) {
      auto up = atomUpperBound(*a, bound);
      if (!up)
        return std::nullopt;
      product = product * *up;
    }
    sum = sum + product;
  }
  return sum;
}

// ---- Parser: sum := product (('+' | '-') product)*, product := factor ('*' factor)* ----

namespace {
class Parser {
public:
  explicit Parser(llvm::StringRef text) : rest(text) {}
  std::optional<DimExpr> whole() {
    auto e = sum(0);
    return e && rest.ltrim().empty() ? e : std::nullopt;
  }

private:
  static constexpr int kMaxDepth = 64;
  bool eat(char c) {
    rest = rest.ltrim();
    return rest.consume_front(llvm::StringRef(&c, 1));
  }
  std::optional<DimExpr> sum(int depth) {
    auto a = product(depth);
    while (a) {
      bool plus = eat('+');
      if (!plus && !eat('-'))
        return a;
      auto b = product(depth);
      if (!b)
        return b;
      a = plus ? *a + *b : *a - *b;
    }
    return a;
  }
  std::optional<DimExpr> product(int depth) {
    auto a = factor(depth);
    while (a && eat('*')) {
      auto b = factor(depth);
      if (!b)
        return b;
      a = *a * *b;
    }
    return a;
  }
  std::optional<DimExpr> factor(int depth) {
    if (depth > kMaxDepth)
      return std::nullopt;
    if (eat('-')) {
      auto a = factor(depth + 1);
      if (!a)
        return a;
      return DimExpr(0) - *a;
    }
    if (eat('(')) {
      auto a = sum(depth + 1);
      return a && eat(')') ? a : std::nullopt;
    }
    rest = rest.ltrim();
    if (!rest.empty() && llvm::isDigit(rest[0])) {
      int64_t v;
      if (rest.consumeInteger(10, v))
        return std::nullopt;
      return DimExpr(v);
    }
    llvm::StringRef name = rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
    if (name.empty())
      return std::nullopt;
    rest = rest.drop_front(name.size());
    return eat('(') ? call(name, depth) : DimExpr::symbol(name);
  }
  std::optional<DimExpr> call(llvm::StringRef name, int depth) {
    llvm::SmallVector<DimExpr> operands;
    do {
      auto o = sum(depth + 1);
      if (!o)
        return o;
      operands.push_back(*o);
    } while (eat(','));
    if (!eat(')'))
      return std::nullopt;
    for (auto kind : {DimExpr::Kind::FloorDiv, DimExpr::Kind::CeilDiv, DimExpr::Kind::Mod, DimExpr::Kind::Min,
                      DimExpr::Kind::Max, DimExpr::Kind::Eq, DimExpr::Kind::Lt, DimExpr::Kind::Select})
      if (spell(kind) == name && operands.size() == (kind == DimExpr::Kind::Select ? 3u : 2u))
        return DimExprBuilder::apply(kind, operands);
    return std::nullopt;
  }
  llvm::StringRef rest;
};
} // namespace

std::optional<DimExpr> DimExpr::parse(llvm::StringRef text) { return Parser(text).whole(); }

} // namespace quaver::graph
