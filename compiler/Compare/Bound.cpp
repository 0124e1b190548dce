#include "compiler/Compare/Bound.h"
#include <charconv>
#include <cmath>

using nlohmann::json;

namespace quaver::compare {

bool Bound::isExceeded(const json &sqnrOrNull, double error, bool hasNotFinite) const {
  if (hasNotFinite)
    return true;
  return sqnr ? !sqnrOrNull.is_null() && sqnrOrNull.get<double>() < *sqnr : error > *maxError;
}

StatusOr<Bound> parseBound(const std::string &text) {
  auto refused = [&] {
    return InvalidArgumentError("bound \"", text,
                                "\" cannot be read: write sqnr=30dB (a ratio) or max=1e-2 (a largest error)");
  };
  size_t eq = text.find('=');
  if (eq == std::string::npos)
    return refused();
  std::string key = text.substr(0, eq), number = text.substr(eq + 1);
  if (key == "sqnr" && number.ends_with("dB"))
    number.resize(number.size() - 2);
  double value = 0;
  auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end != number.data() + number.size() || !std::isfinite(value) ||
      (key != "sqnr" && key != "max") || (key == "max" && value < 0))
    return refused();
  Bound bound;
  bound.text = text;
  (key == "sqnr" ? bound.sqnr : bound.maxError) = value;
  return bound;
}

json bisect(const json &ops, const Bound &bound) {
  const json *first = nullptr;
  for (const json &op : ops)
    if (bound.isExceeded(op.at("sqnr_db"), op.at("max_error"), op.at("not_finite") > 0) &&
        (!first || op.at("order") < first->at("order")))
      first = &op;
  json found = nullptr;
  if (first) {
    found = *first;
    found["own_exceeds"] =
        bound.isExceeded(found.at("own_sqnr_db"), found.at("own_max_error"), found.at("own_not_finite") > 0);
  }
  return {{"bound", bound.text}, {"found", std::move(found)}};
}

} // namespace quaver::compare
