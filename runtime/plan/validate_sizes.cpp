#include "runtime/plan/validate_sizes.h"
#include "runtime/plan/expr_printer.h"
#include "runtime/plan/lifetimes.h"
#include <algorithm>
#include <map>

namespace quaver::plan {
namespace {

constexpr int64_t kAlignment = 64;

/// `wanted`, brought within the dimension's limits.
int64_t within(const Dim &d, int64_t wanted) {
  int64_t multiple = std::max<int64_t>(1, d.multiple_of());
  int64_t v = std::max(wanted, d.min());
  if (v > INT64_MAX - multiple)
    return d.min();
  v = (v + multiple - 1) / multiple * multiple;
  if (d.max() && v > d.max())
    v = std::max(d.min(), d.max() / multiple * multiple);
  return v;
}

/// Is one of the checks that come before all work against these sizes?
bool is_refused(const Entry &entry, const ExprValues &sizes) {
  for (const Instruction &i : entry.body().instructions())
    if (i.has_check() && sizes.is_known(i.check().condition()) && sizes[i.check().condition()] == 0)
      return true;
  return false;
}

struct Placed {
  int64_t offset, bytes;
  int buffer;
  Lifetime life;
};

class ArenaCheck {
public:
  ArenaCheck(const Plan &plan, const Entry &entry)
      : plan_(plan), entry_(entry), lives_(buffer_lifetimes(entry)) {}

  Status at(const ExprValues &sizes) const {
    std::vector<Placed> placed;
    for (int i = 0; i < entry_.buffers_size(); ++i) {
      const Buffer &b = entry_.buffers(i);
      if (b.memory() != Buffer::ARENA || lives_[size_t(i)].first < 0)
        continue;
      if (!sizes.is_known(b.offset()) || !sizes.is_known(b.bytes()) || sizes[b.bytes()] < 0)
        return OkStatus();
      placed.push_back({sizes[b.offset()], sizes[b.bytes()], i, lives_[size_t(i)]});
    }
    if (placed.empty() || !sizes.is_known(entry_.arena_bytes()))
      return OkStatus();
    int64_t arena = sizes[entry_.arena_bytes()];
    for (const Placed &p : placed) {
      if (p.offset < 0 || p.offset % kAlignment)
        return bad(p, sizes) << "is not at a multiple of 64";
      if (p.offset > arena || p.bytes > arena - p.offset)
        return bad(p, sizes) << "ends outside of the arena of " << arena << " bytes";
    }
    return disjoint(std::move(placed), sizes);
  }

private:
  // Collects a message and becomes a status.
  struct Message {
    std::string text;
    template <class T> Message operator<<(const T &part) && { return {text + str_cat(part)}; }
    operator Status() const { return DataLossError(text); }
  };

  std::string name(int buffer) const {
    return str_cat("buffer ", buffer, " (", entry_.buffers(buffer).label(), ")");
  }

  Message bad(const Placed &p, const ExprValues &sizes) const {
    std::string dims;
    for (int i = 0; i < plan_.exprs_size(); ++i)
      if (const Expr &e = plan_.exprs(i);
          e.kind() == Expr::DIM && sizes.is_known(uint32_t(i)) && dims.size() < 200)
        dims +=
            str_cat(dims.empty() ? "" : ", ", plan_.dims(int(e.value())).name(), " = ", sizes[uint32_t(i)]);
    return {str_cat(name(p.buffer), ", at ", p.offset, ", ", p.bytes, " bytes", dims.empty() ? "" : " for ",
                    dims, ", ")};
  }

  /// Sweeps over the program: those alive are disjoint, so that a new one only has to be compared with its
  /// neighbours.
  Status disjoint(std::vector<Placed> placed, const ExprValues &sizes) const {
    std::erase_if(placed, [](const Placed &p) { return p.bytes == 0; });
    std::ranges::sort(placed, {}, [](const Placed &p) { return std::pair(p.life.first, p.buffer); });
    std::multimap<int, std::pair<int64_t, int>> ends; // last instruction -> (offset, buffer)
    std::map<int64_t, const Placed *> alive;          // by offset
    for (const Placed &p : placed) {
      while (!ends.empty() && ends.begin()->first < p.life.first) {
        alive.erase(ends.begin()->second.first);
        ends.erase(ends.begin());
      }
      auto next = alive.lower_bound(p.offset);
      const Placed *clash = nullptr;
      if (next != alive.end() && next->first < p.offset + p.bytes)
        clash = next->second;
      if (next != alive.begin())
        if (const Placed *before = std::prev(next)->second; before->offset + before->bytes > p.offset)
          clash = before;
      if (clash)
        return bad(p, sizes) << "overlaps " << name(clash->buffer) << ", at " << clash->offset << ", "
                             << clash->bytes << " bytes, which is in use at the same time (instructions "
                             << std::max(p.life.first, clash->life.first) << ".."
                             << std::min(p.life.last, clash->life.last) << ")";
      alive[p.offset] = &p;
      ends.insert({p.life.last, {p.offset, p.buffer}});
    }
    return OkStatus();
  }

  const Plan &plan_;
  const Entry &entry_;
  std::vector<Lifetime> lives_;
};

} // namespace

std::vector<ExprValues> sample_sizes(const Plan &plan) {
  std::vector<ExprValues> samples;
  for (int sample = 0; sample < 3; ++sample) {
    std::vector<std::optional<int64_t>> dims(size_t(plan.dims_size()));
    bool has_late = false;
    for (int i = 0; i < plan.dims_size(); ++i) {
      const Dim &d = plan.dims(i);
      if (d.data_dependent())
        has_late = true;
      else
        dims[size_t(i)] = within(d, sample == 0 ? 0 : sample == 1 ? 512 : 3 + 7 * int64_t(i));
    }
    ExprValues values(plan, dims);
    // A bound may name other data-dependent dimensions, so a few rounds.
    for (int round = 0; has_late && round < 4; ++round) {
      for (int i = 0; i < plan.dims_size(); ++i)
        if (uint32_t bound = plan.dims(i).upper_bound_plus_1();
            plan.dims(i).data_dependent() && bound && values.is_known(bound - 1))
          dims[size_t(i)] = values[bound - 1];
      values = ExprValues(plan, dims);
    }
    samples.push_back(std::move(values));
  }
  return samples;
}

Status check_arena(const Plan &plan, const Entry &entry, const std::vector<ExprValues> &samples) {
  ArenaCheck check(plan, entry);
  for (const ExprValues &sizes : samples)
    if (!is_refused(entry, sizes))
      QUAVER_RETURN_IF_ERROR(check.at(sizes));
  return OkStatus();
}

} // namespace quaver::plan
