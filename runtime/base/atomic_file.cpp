#include "runtime/base/atomic_file.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace quaver {

static std::string folder_of(const std::string &path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

StatusOr<std::unique_ptr<AtomicFile>> AtomicFile::create(const std::string &path) {
  struct stat info{};
  if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    return InvalidArgumentError(path, ": is not a regular file, so it is not replaced");
  std::string temporary = path + ".XXXXXX";
  int fd = mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0)
    return FailedPreconditionError(path, ": cannot be written: ", std::strerror(errno));
  mode_t mask = umask(0); // mkstemp makes 0600; a result has the mode that an ordinary file would get
  umask(mask);
  fchmod(fd, 0666 & ~mask);
  return std::unique_ptr<AtomicFile>(new AtomicFile(fd, path, temporary));
}

AtomicFile::~AtomicFile() {
  if (fd_ < 0)
    return;
  ::close(fd_);
  ::unlink(temporary_.c_str());
}

static Status write_all(int fd, uint64_t offset, std::span<const std::byte> bytes, const std::string &path) {
  while (!bytes.empty()) {
    ssize_t n = pwrite(fd, bytes.data(), bytes.size(), off_t(offset));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return ResourceExhaustedError(path, ": cannot be written: ", std::strerror(errno));
    offset += size_t(n);
    bytes = bytes.subspan(size_t(n));
  }
  return OkStatus();
}

Status AtomicFile::write(std::span<const std::byte> bytes) {
  QUAVER_RETURN_IF_ERROR(write_all(fd_, size_, bytes, path_));
  size_ += bytes.size();
  return OkStatus();
}

Status AtomicFile::write_at(uint64_t offset, std::span<const std::byte> bytes) {
  assert(offset + bytes.size() <= size_ && "only what was written can be overwritten");
  return write_all(fd_, offset, bytes, path_);
}

Status AtomicFile::commit() {
  auto error = [&](const char *what) {
    return ResourceExhaustedError(path_, ": ", what, ": ", std::strerror(errno));
  };
  if (fsync(fd_) != 0)
    return error("cannot be synced");
  int closed = ::close(std::exchange(fd_, -1));
  if (closed != 0 || std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    Status status = error("cannot be put in place");
    ::unlink(temporary_.c_str());
    return status;
  }
  if (int folder = ::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); folder >= 0) {
    fsync(folder); // best effort: the rename itself has happened
    ::close(folder);
  }
  return OkStatus();
}

Status write_file_atomically(const std::string &path, std::string_view text) {
  QUAVER_ASSIGN_OR_RETURN(auto file, AtomicFile::create(path));
  QUAVER_RETURN_IF_ERROR(file->write(std::as_bytes(std::span(text.data(), text.size()))));
  return file->commit();
}

} // namespace quaver
