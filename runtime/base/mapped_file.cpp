#include "runtime/base/mapped_file.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace quaver {

StatusOr<MappedFile> MappedFile::open(const std::string &path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); // a pipe must not block
  if (fd < 0) {
    if (errno == ENOENT)
      return NotFoundError(path, ": no such file");
    return FailedPreconditionError(path, ": cannot be opened: ", std::strerror(errno));
  }
  struct stat info{};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    return InvalidArgumentError(path, S_ISDIR(info.st_mode) ? ": is a folder, expected a file"
                                                            : ": is not a regular file");
  }
  void *data = nullptr;
  if (info.st_size > 0) {
    data = mmap(nullptr, size_t(info.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) {
      int error = errno;
      ::close(fd);
      return ResourceExhaustedError(path, ": cannot be mapped: ", std::strerror(error));
    }
  }
  ::close(fd);
  return MappedFile(static_cast<const std::byte *>(data), size_t(info.st_size), path);
}

MappedFile::MappedFile(MappedFile &&other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)),
      path_(std::move(other.path_)) {}

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(path_, other.path_);
  return *this;
}

void MappedFile::release(std::span<const std::byte> part) {
  const uintptr_t page = uintptr_t(sysconf(_SC_PAGESIZE));
  const uintptr_t first = (reinterpret_cast<uintptr_t>(part.data()) + page - 1) / page * page;
  const uintptr_t last = reinterpret_cast<uintptr_t>(part.data() + part.size()) / page * page;
  if (first < last)
    madvise(reinterpret_cast<void *>(first), last - first, MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  if (data_)
    munmap(const_cast<std::byte *>(data_), size_);
}

} // namespace quaver
