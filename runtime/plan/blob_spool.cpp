#include "runtime/plan/blob_spool.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace quaver::plan {

StatusOr<std::unique_ptr<BlobSpool>> BlobSpool::create(const std::string &folder) {
  const char *temporary = std::getenv("TMPDIR"); // the system's variable, not one of ours
  std::string where = !folder.empty() ? folder : temporary && *temporary ? temporary : "/tmp";
  int fd = ::open(where.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) { // not every file system has O_TMPFILE
    std::string name = where + "/.quaver-blobs-XXXXXX";
    fd = mkostemp(name.data(), O_CLOEXEC);
    if (fd < 0)
      return FailedPreconditionError(where, ": a temporary file cannot be made: ", std::strerror(errno));
    ::unlink(name.c_str());
  }
  return std::unique_ptr<BlobSpool>(new BlobSpool(fd));
}

BlobSpool::~BlobSpool() {
  unmap();
  ::close(fd_);
}

void BlobSpool::unmap() {
  if (!mapped_.empty())
    munmap(const_cast<std::byte *>(mapped_.data()), mapped_.size());
  mapped_ = {};
}

Status BlobSpool::append(std::span<const std::byte> bytes) {
  unmap();
  while (!bytes.empty()) {
    ssize_t n = pwrite(fd_, bytes.data(), bytes.size(), off_t(size_));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return ResourceExhaustedError("a temporary file for weights cannot be written: ", std::strerror(errno));
    size_ += uint64_t(n);
    bytes = bytes.subspan(size_t(n));
  }
  return OkStatus();
}

StatusOr<std::span<const std::byte>> BlobSpool::map() {
  if (mapped_.size() == size_)
    return mapped_;
  unmap();
  void *data = mmap(nullptr, size_, PROT_READ, MAP_SHARED, fd_, 0);
  if (data == MAP_FAILED)
    return ResourceExhaustedError("a temporary file for weights cannot be mapped: ", std::strerror(errno));
  mapped_ = {static_cast<const std::byte *>(data), size_t(size_)};
  return mapped_;
}

} // namespace quaver::plan
