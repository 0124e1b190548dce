//===- sim_device.cpp - a simulated GPU -----------------------------------------===//
#include "runtime/drivers/sim/sim_device.h"

#include "runtime/base/str_cat.h"
#include "runtime/drivers/sim/sim_executable.h"
#include "runtime/drivers/software/software_event.h"
#include "runtime/hal/buffer.h"

#include <atomic>
#include <cstring>
#include <limits>

namespace quaver::hal {
namespace {

constexpr int64_t kMaxGrid = 0x7fffffff; // blocks in x, CUDA programming guide, technical specifications

uint64_t address_of(const void *pointer) { return reinterpret_cast<uint64_t>(pointer); }

class SimBuffer final : public Buffer {
public:
  SimBuffer(sim::Memory *owner, uint64_t address, size_t bytes, std::function<void()> release)
      : Buffer(reinterpret_cast<void *>(address), nullptr, bytes, owner == nullptr), owner_(owner),
        release_(std::move(release)) {}
  ~SimBuffer() override {
    if (owner_)
      owner_->free(address_of(device_address())).ignore_error(); // ours, and freed once
    if (release_)
      release_();
  }

private:
  sim::Memory *owner_; // nullptr: imported
  std::function<void()> release_;
};

} // namespace

SimDevice::SimDevice(int threads, const sim::LaunchOptions &options) : pool_(threads), options_(options) {
  static std::atomic<int> devices{0};
  options_.pool = &pool_;
  info_.name = "sim";
  info_.description = "PTX on the CPU; what it says of speed is nothing";
  info_.workers = pool_.size();
  info_.is_host_addressable = false;
  identity_ = str_cat("sim#", devices++);
}

StatusOr<int> SimDevice::rank_target(std::string_view target, std::span<const std::string>) const {
  if (target == "sm_90a")
    return 2;
  if (target == "sm_89")
    return 1;
  return FailedPreconditionError("target '" + std::string(target) +
                                 "' is not PTX that 'sim' runs: recompile with --target sm_89 or sm_90a");
}

StatusOr<std::unique_ptr<Buffer>> SimDevice::allocate(size_t bytes) {
  QUAVER_ASSIGN_OR_RETURN(uint64_t address,
                          memory_.allocate(bytes, str_cat("a buffer of ", bytes, " bytes")));
  return std::unique_ptr<Buffer>(std::make_unique<SimBuffer>(&memory_, address, bytes, nullptr));
}

StatusOr<std::unique_ptr<Buffer>> SimDevice::import_buffer(void *address, size_t bytes,
                                                           std::function<void()> release) {
  if (bytes && !memory_.host_pointer(address_of(address), bytes).ok())
    return InvalidArgumentError(str_cat(
        "a buffer of ", bytes, " bytes is not memory of this 'sim' device: copy host memory with a stream"));
  return std::unique_ptr<Buffer>(
      std::make_unique<SimBuffer>(nullptr, address_of(address), bytes, std::move(release)));
}

StatusOr<std::unique_ptr<Stream>> SimDevice::create_stream(StreamMode mode) {
  return make_software_stream(*this, mode);
}

StatusOr<std::unique_ptr<Event>> SimDevice::create_event() {
  return std::unique_ptr<Event>(std::make_unique<SoftwareEvent>());
}

StatusOr<std::shared_ptr<Executable>> SimDevice::load_executable(const ExecutableSource &source) {
  QUAVER_RETURN_IF_ERROR(rank_target(source.target, source.features).status());
  return SimExecutable::load(source, memory_);
}

Status SimDevice::copy(void *to, const void *from, size_t bytes, Direction direction) {
  switch (direction) {
  case Direction::kFromHost:
    return memory_.copy_in(address_of(to), from, bytes);
  case Direction::kToHost:
    return memory_.copy_out(to, address_of(from), bytes);
  case Direction::kDevice:
    break;
  }
  return memory_.copy(address_of(to), address_of(from), bytes);
}

Status SimDevice::fill(void *to, uint8_t byte, size_t bytes) {
  return memory_.fill(address_of(to), bytes, &byte, 1);
}

Status SimDevice::check_launch(const LaunchParams &params) {
  const auto &kernel = static_cast<const SimKernel &>(*params.kernel);
  const size_t wanted = params.bindings.size() + params.constants.size() + 1;
  if (kernel.info().parameters.size() != wanted || kernel.info().parameter_bytes != 8 * wanted)
    return InvalidArgumentError(str_cat("kernel '", kernel.symbol(), "' takes ",
                                        kernel.info().parameters.size(), " parameters, and its launch gives ",
                                        wanted, " of 8 bytes"));
  if (params.workgroups > kMaxGrid)
    return InvalidArgumentError(str_cat("kernel '", kernel.symbol(), "' launched with ", params.workgroups,
                                        " blocks; a grid has at most ", kMaxGrid));
  if (params.block_threads < 1)
    return InvalidArgumentError(
        str_cat("kernel '", kernel.symbol(), "' launched with blocks of ", params.block_threads, " threads"));
  return OkStatus();
}

Status SimDevice::launch(const LaunchParams &params) {
  const auto &kernel = static_cast<const SimKernel &>(*params.kernel);
  uint64_t scratch = 0;
  if (params.scratch_bytes) {
    if (params.scratch_bytes > std::numeric_limits<size_t>::max() / size_t(params.workgroups))
      return ResourceExhaustedError(str_cat("kernel '", kernel.symbol(), "' wants ", params.scratch_bytes,
                                            " bytes of scratch for each of ", params.workgroups, " blocks"));
    QUAVER_ASSIGN_OR_RETURN(scratch, memory_.allocate(params.scratch_bytes * size_t(params.workgroups),
                                                      "scratch of kernel '" + kernel.symbol() + "'"));
  }
  std::vector<uint64_t> block;
  for (void *binding : params.bindings)
    block.push_back(address_of(binding));
  for (int64_t constant : params.constants)
    block.push_back(uint64_t(constant));
  block.push_back(scratch);
  Status status = sim::launch(kernel.module(), kernel.symbol(), {uint32_t(params.workgroups)},
                              {uint32_t(params.block_threads)}, uint32_t(params.shared_bytes),
                              std::as_bytes(std::span(block)), options_)
                      .status();
  if (scratch)
    memory_.free(scratch).ignore_error(); // allocated above
  return status;
}

} // namespace quaver::hal
