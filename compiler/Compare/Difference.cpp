#include "compiler/Compare/Difference.h"
#include <cmath>

namespace quaver::compare {

using interpreter::Tensor;

void Difference::add(const Tensor &reference, const Tensor &value) {
  assert(reference.shape() == value.shape() && "only values of one shape are compared");
  elements += reference.size();
  for (int64_t i = 0; i < reference.size(); ++i) {
    double r = reference.number(i), v = value.number(i);
    if (!std::isfinite(r) || !std::isfinite(v)) {
      notFinite += !(r == v || (std::isnan(r) && std::isnan(v)));
      continue;
    }
    double e = r - v;
    signal += r * r, noise += e * e;
    maxError = std::max(maxError, std::abs(e));
    magnitude = std::max(magnitude, std::abs(r));
  }
}

void Difference::merge(const Difference &other) {
  signal += other.signal, noise += other.noise;
  maxError = std::max(maxError, other.maxError), magnitude = std::max(magnitude, other.magnitude);
  elements += other.elements, notFinite += other.notFinite;
}

std::optional<double> Difference::sqnr() const {
  if (noise == 0)
    return std::nullopt;
  return signal > 0 ? 10 * std::log10(signal / noise) : -300.0;
}

nlohmann::json decibels(const Difference &d) {
  auto ratio = d.sqnr();
  return ratio ? nlohmann::json(*ratio) : nlohmann::json(nullptr);
}

nlohmann::json describe(const Difference &d) {
  return {{"sqnr_db", decibels(d)},
          {"max_error", d.maxError},
          {"magnitude", d.magnitude},
          {"not_finite", d.notFinite}};
}

} // namespace quaver::compare
