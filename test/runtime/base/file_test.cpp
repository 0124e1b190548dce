#include "runtime/base/atomic_file.h"
#include "runtime/base/mapped_file.h"
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace quaver {
namespace {

namespace fs = std::filesystem;

/// A folder of its own for every test, removed with it.
class FileTest : public testing::Test {
protected:
  FileTest() {
    std::string name = (fs::temp_directory_path() / "quaver-file-test-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~FileTest() override { fs::remove_all(folder_); }
  std::string path(const char *name) const { return (folder_ / name).string(); }
  int files() const { return int(std::distance(fs::directory_iterator(folder_), fs::directory_iterator())); }
  static std::string read(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static std::span<const std::byte> bytes(std::string_view s) {
    return std::as_bytes(std::span(s.data(), s.size()));
  }
  fs::path folder_;
};

TEST_F(FileTest, maps_the_whole_file) {
  ASSERT_TRUE(write_file_atomically(path("a"), "hello").ok());
  auto file = MappedFile::open(path("a"));
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(std::string(reinterpret_cast<const char *>(file->bytes().data()), file->bytes().size()), "hello");
  MappedFile moved = *std::move(file);
  EXPECT_EQ(moved.bytes().size(), 5u);
  moved = *MappedFile::open(path("a"));
  EXPECT_EQ(moved.bytes().size(), 5u);
}

TEST_F(FileTest, maps_an_empty_file) {
  ASSERT_TRUE(write_file_atomically(path("empty"), "").ok());
  auto file = MappedFile::open(path("empty"));
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(file->bytes().empty());
}

TEST_F(FileTest, released_bytes_come_back_from_the_file) {
  std::string text(100000, 'x');
  for (size_t i = 0; i < text.size(); ++i)
    text[i] = char('a' + i % 23);
  ASSERT_TRUE(write_file_atomically(path("a"), text).ok());
  auto file = MappedFile::open(path("a"));
  ASSERT_TRUE(file.ok());
  auto matches = [&] { return std::memcmp(file->bytes().data(), text.data(), text.size()) == 0; };
  EXPECT_TRUE(matches());
  MappedFile::release(file->bytes().subspan(100, 90000));
  MappedFile::release(file->bytes().subspan(5, 10));
  MappedFile::release({});
  EXPECT_TRUE(matches());
}

TEST_F(FileTest, maps_nothing_but_regular_files) {
  EXPECT_EQ(MappedFile::open(path("none")).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(MappedFile::open(folder_.string()).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(MappedFile::open("/dev/null").status().code(), StatusCode::kInvalidArgument);
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(MappedFile::open(path("pipe")).status().code(),
            StatusCode::kInvalidArgument); // and does not block
}

TEST_F(FileTest, nothing_appears_before_commit) {
  {
    auto file = AtomicFile::create(path("a"));
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE((*file)->write(bytes("half")).ok());
    EXPECT_FALSE(fs::exists(path("a")));
  }
  EXPECT_EQ(files(), 0) << "an abandoned file leaves nothing";
}

TEST_F(FileTest, commit_replaces_the_whole_file) {
  ASSERT_TRUE(write_file_atomically(path("a"), "old and long").ok());
  auto file = AtomicFile::create(path("a"));
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file)->write(bytes("....")).ok());
  ASSERT_TRUE((*file)->write(bytes("tail")).ok());
  ASSERT_TRUE((*file)->write_at(0, bytes("head")).ok());
  EXPECT_EQ((*file)->size(), 8u);
  EXPECT_EQ(read(path("a")), "old and long");
  ASSERT_TRUE((*file)->commit().ok());
  EXPECT_EQ(read(path("a")), "headtail");
  EXPECT_EQ(files(), 1);
}

TEST_F(FileTest, result_has_an_ordinary_mode) {
  mode_t mask = umask(022);
  ASSERT_TRUE(write_file_atomically(path("a"), "x").ok());
  umask(mask);
  EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms(0644));
}

TEST_F(FileTest, refuses_what_it_cannot_replace) {
  EXPECT_EQ(AtomicFile::create(folder_.string()).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(AtomicFile::create("/dev/null").status().code(), StatusCode::kInvalidArgument);
  auto missing = AtomicFile::create(path("none/a"));
  EXPECT_EQ(missing.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_NE(missing.status().message().find("No such file"), std::string::npos) << missing.status().message();
}

TEST_F(FileTest, a_failed_commit_leaves_nothing) {
  auto file = AtomicFile::create(path("a"));
  ASSERT_TRUE(file.ok());
  fs::create_directories(path("a") + "/in-the-way"); // a folder cannot be replaced by a file
  EXPECT_FALSE((*file)->commit().ok());
  EXPECT_EQ(files(), 1);
}

TEST_F(FileTest, a_full_disk_is_an_error_and_leaves_nothing) {
  // The limit on file size stands in for a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small{4096, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  Status status = write_file_atomically(path("a"), std::string(10000, 'x'));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted) << status.message();
  EXPECT_EQ(files(), 0);
}

} // namespace
} // namespace quaver
