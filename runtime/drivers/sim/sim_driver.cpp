//===- sim_driver.cpp - GPU code on the CPU -------------------------------------===//
#include "runtime/drivers/sim/sim_driver.h"

#include "runtime/drivers/sim/sim_device.h"

#include <charconv>

namespace quaver::hal {
namespace {

constexpr int kMaxThreads = 1024;

StatusOr<sim::LaunchOptions> parse_options(std::string_view text) {
  sim::LaunchOptions options;
  while (!text.empty()) {
    std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (word == "races") {
      options.races = true;
      continue;
    }
    if (word.starts_with("seed=")) {
      std::string_view number = word.substr(5);
      auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), options.seed);
      if (error == std::errc() && end == number.data() + number.size() && !number.empty())
        continue;
    }
    return InvalidArgumentError("device 'sim': option '" + std::string(word) +
                                "' is not known; there are seed=N and races, as in 'sim:seed=3,races'");
  }
  return options;
}

class SimDriver final : public Driver {
public:
  std::string_view name() const override { return "sim"; }

  StatusOr<std::shared_ptr<Device>> open(std::string_view rest, const DeviceOptions &options) override {
    if (options.threads < 0 || options.threads > kMaxThreads)
      return InvalidArgumentError("threads is " + std::to_string(options.threads) +
                                  "; it must be 0 (all CPUs) or 1 to " + std::to_string(kMaxThreads));
    QUAVER_ASSIGN_OR_RETURN(sim::LaunchOptions launch, parse_options(rest));
    return std::shared_ptr<Device>(std::make_shared<SimDevice>(options.threads, launch));
  }
};

} // namespace

std::unique_ptr<Driver> make_sim_driver() { return std::make_unique<SimDriver>(); }

} // namespace quaver::hal
