#include "compiler/Codegen/X86/Kernels/bitcode.h"
#include "compiler/Codegen/X86/Lower/Object.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

namespace quaver::codegen {
namespace {

// An anonymous file in memory, named by its path under /proc.
class MemoryFile {
public:
  explicit MemoryFile(llvm::StringRef bytes) : fd(memfd_create("quaver", MFD_CLOEXEC)) {
    size_t done = 0;
    while (fd >= 0 && done < bytes.size()) {
      ssize_t n = write(fd, bytes.data() + done, bytes.size() - done);
      if (n <= 0)
        break;
      done += size_t(n);
    }
    good = fd >= 0 && done == bytes.size();
  }
  MemoryFile(MemoryFile &&o) noexcept : fd(std::exchange(o.fd, -1)), good(o.good) {}
  ~MemoryFile() {
    if (fd >= 0)
      close(fd);
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd); }
  bool ok() const { return good; }

private:
  int fd;
  bool good = false;
};

} // namespace

// lld reads inputs from /proc/self/fd, but can only write beside a path where it can create a temporary file.
bool linkShared(llvm::ArrayRef<llvm::StringRef> objects, std::vector<char> &elf, std::string &error) {
  static std::mutex oneAtATime; // lld keeps global state
  std::lock_guard lock(oneAtATime);
  std::string_view memoryBytes = x86::memoryObject();
  std::vector<MemoryFile> files;
  for (llvm::StringRef o : objects)
    files.emplace_back(o);
  files.emplace_back(llvm::StringRef(memoryBytes.data(), memoryBytes.size()));
  std::vector<std::string> paths;
  for (const MemoryFile &f : files) {
    if (!f.ok())
      return error = "no memory for a kernel object", false;
    paths.push_back(f.path());
  }
  llvm::SmallString<64> out;
  if (llvm::sys::fs::createTemporaryFile("quaver", "so", out))
    return error = "cannot create a temporary file for the linker", false;
  std::vector<const char *> arguments = {
      "ld.lld",          "-shared",     "--no-undefined", "--gc-sections",   "-z", "noexecstack", "-z", "now",
      "--build-id=none", "--threads=1", "--strip-debug",  "--hash-style=gnu"};
  for (size_t i = 0; i + 1 < paths.size(); ++i)
    arguments.push_back(paths[i].c_str());
  for (const char *a : {"--start-lib", paths.back().c_str(), "--end-lib", "-o", out.c_str()})
    arguments.push_back(a);
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  lld::Result result = lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
  auto bytes = llvm::MemoryBuffer::getFile(out);
  llvm::sys::fs::remove(out);
  if (result.retCode != 0 || !bytes)
    return error = "linking the kernels failed: " + messages, false;
  elf.assign((*bytes)->getBufferStart(), (*bytes)->getBufferEnd());
  return true;
}

} // namespace quaver::codegen
