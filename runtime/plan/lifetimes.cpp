#include "runtime/plan/lifetimes.h"
#include <algorithm>

namespace quaver::plan {
namespace {

using Visit = std::function<void(const Instruction &, int)>;

void walk(const Block &block, int &number, const Visit &visit) {
  for (const Instruction &i : block.instructions()) {
    visit(i, number++);
    if (i.has_if_()) {
      walk(i.if_().then_block(), number, visit);
      walk(i.if_().else_block(), number, visit);
    } else if (i.has_while_()) {
      walk(i.while_().before(), number, visit);
      walk(i.while_().body(), number, visit);
    }
  }
}

} // namespace

void visit_instructions(const Block &block, const Visit &visit) {
  int number = 0;
  walk(block, number, visit);
}

std::vector<Lifetime> buffer_lifetimes(const Entry &entry) {
  std::vector<Lifetime> lives(size_t(entry.buffers_size()));
  auto use = [&](const Binding &b, int number) {
    Lifetime &l = lives[b.buffer()];
    if (l.first < 0)
      l.first = number;
    l.last = std::max(l.last, number);
  };
  auto visit = [&](const Instruction &i, int n) {
    switch (i.kind_case()) {
    case Instruction::kLaunch:
      for (const Binding &b : i.launch().bindings())
        use(b, n);
      break;
    case Instruction::kCopy:
      use(i.copy().from(), n), use(i.copy().to(), n);
      break;
    case Instruction::kFill:
      use(i.fill().to(), n);
      break;
    case Instruction::kReadBack:
      use(i.read_back().from(), n);
      break;
    case Instruction::kIf:
      use(i.if_().condition(), n);
      break;
    default:
      break; // a while's condition is used after `before`, see below
    }
  };
  int number = 0;
  std::function<void(const Block &)> block = [&](const Block &b) {
    for (const Instruction &i : b.instructions()) {
      int own = number++;
      visit(i, own);
      if (i.has_if_()) {
        block(i.if_().then_block());
        block(i.if_().else_block());
      } else if (i.has_while_()) {
        block(i.while_().before());
        use(i.while_().condition(), number - 1);
        block(i.while_().body());
        for (Lifetime &l : lives)
          if (l.first >= 0 && l.first < own && l.last >= own)
            l.last = number - 1;
      }
    }
  };
  block(entry.body());
  return lives;
}

} // namespace quaver::plan
