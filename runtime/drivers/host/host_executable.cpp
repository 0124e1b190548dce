//===- host_executable.cpp - an ELF shared object loaded from memory --------===//
#include "runtime/drivers/host/host_executable.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

namespace quaver::hal {
namespace {

/// What dlopen would say less clearly, or not at all.
Status check_elf(const ExecutableSource &source) {
  std::string where = "module '" + std::string(source.name) + "'";
  if (source.code.size() < sizeof(Elf64_Ehdr))
    return DataLossError(where + " has " + std::to_string(source.code.size()) +
                         " bytes, too few for an ELF file: compile the model again");
  Elf64_Ehdr header;
  std::memcpy(&header, source.code.data(), sizeof(header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_type != ET_DYN)
    return DataLossError(where + " is not a 64-bit ELF shared object: compile the model again");
  if (header.e_machine != EM_X86_64)
    return FailedPreconditionError(where + " holds code for another processor (ELF machine " +
                                   std::to_string(header.e_machine) + "), this one is x86-64");
  // why: the loader maps what the headers say; a segment past the end of the file would be a bus error at
  // first touch.
  uint64_t size = source.code.size();
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phoff > size ||
      header.e_phnum > (size - header.e_phoff) / sizeof(Elf64_Phdr))
    return DataLossError(where + " is truncated: compile the model again");
  for (uint16_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, source.code.data() + header.e_phoff + i * sizeof(segment), sizeof(segment));
    if (segment.p_offset > size || segment.p_filesz > size - segment.p_offset)
      return DataLossError(where + " is truncated: compile the model again");
  }
  return OkStatus();
}

Status write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return ResourceExhaustedError(std::string("cannot place code in memory: ") + std::strerror(errno));
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return OkStatus();
}

} // namespace

StatusOr<std::shared_ptr<Executable>> HostExecutable::load(const ExecutableSource &source) {
  QUAVER_RETURN_IF_ERROR(check_elf(source));
  int fd = memfd_create("quaver-kernels", MFD_CLOEXEC);
  if (fd < 0)
    return ResourceExhaustedError(std::string("cannot make a memory file for code: ") + std::strerror(errno));
  if (Status status = write_all(fd, source.code); !status.ok()) {
    close(fd);
    return status;
  }
  // why: dlopen compares names. The descriptor stays open until dlclose, so that no later module can get the
  // same name and silently be given this one.
  std::string path = "/proc/self/fd/" + std::to_string(fd);
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = dlerror();
    close(fd);
    return DataLossError("cannot load module '" + std::string(source.name) +
                         "': " + (why ? why : "unknown reason"));
  }
  return std::shared_ptr<Executable>(new HostExecutable(std::string(source.name), fd, library));
}

HostExecutable::~HostExecutable() {
  dlclose(library_);
  close(fd_);
}

StatusOr<const Kernel *> HostExecutable::find_kernel(std::string_view symbol) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (auto found = kernels_.find(symbol); found != kernels_.end())
    return static_cast<const Kernel *>(found->second.get());
  std::string name(symbol);
  void *address = dlsym(library_, name.c_str());
  if (!address)
    return NotFoundError("module '" + name_ + "' has no kernel '" + name + "': compile the model again");
  auto kernel = std::make_unique<HostKernel>(name, reinterpret_cast<HostKernelFunction>(address));
  const Kernel *result = kernel.get();
  kernels_.emplace(std::move(name), std::move(kernel));
  return result;
}

} // namespace quaver::hal
