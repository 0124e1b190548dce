#include "runtime/plan/artifact.h"
#include "test/runtime/plan/small_plan.h"
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>

namespace quaver::plan {
namespace {

using namespace test;

std::string text(std::span<const std::byte> b) {
  return {reinterpret_cast<const char *>(b.data()), b.size()};
}
std::vector<std::byte> bytes(const std::string &s) {
  auto b = std::as_bytes(std::span(s.data(), s.size()));
  return {b.begin(), b.end()};
}

Status open(std::span<const std::byte> file) {
  return Artifact::from_bytes(file, "m.quaver", Verify::kAll).status();
}

void expect_error(std::span<const std::byte> file, StatusCode code, const std::string &part) {
  Status s = open(file);
  EXPECT_EQ(int(s.code()), int(code)) << s.message();
  EXPECT_NE(s.message().find(part), std::string::npos) << s.message();
}

TEST(Artifact, reads_what_was_written) {
  SmallModel m;
  build_small_model(m);
  std::string path = temporary_path("artifact");
  ASSERT_TRUE(m.writer.write(path, &m.plan).ok());
  auto a = Artifact::open(path);
  ASSERT_TRUE(a.ok()) << a.status().message();
  EXPECT_EQ((*a)->plan().SerializeAsString(), m.plan.SerializeAsString());
  EXPECT_EQ(text(*(*a)->blob(0)), text(m.weight));
  EXPECT_EQ(text(*(*a)->blob(2)), text(m.codes));
  EXPECT_EQ(text(*(*a)->entry("targets/x86-64-v3/kernels.so")), m.code);
  EXPECT_EQ(text(*(*a)->entry("report.json")), "{}\n");
  EXPECT_EQ((*a)->entry("none").status().code(), StatusCode::kNotFound);
  EXPECT_EQ((*a)->blob(3).status().code(), StatusCode::kOutOfRange);
  std::filesystem::remove(path);
}

TEST(Artifact, data_is_aligned) {
  std::vector<std::byte> file = small_artifact();
  auto a = Artifact::from_bytes(file, "m.quaver");
  ASSERT_TRUE(a.ok());
  for (const ArchiveEntry &e : (*a)->entries())
    EXPECT_EQ(e.data % (e.name.starts_with("blobs/") ? 4096 : 64), 0u) << e.name;
  EXPECT_EQ((*a)->entries().front().name, "quaver.pb");
}

TEST(Artifact, equal_content_has_equal_bytes) { EXPECT_EQ(small_artifact(), small_artifact()); }

TEST(Artifact, python_reads_it_as_a_zip_file) {
  if (std::system("python3 -c 'import zipfile' 2>/dev/null") != 0)
    GTEST_SKIP() << "no python3";
  std::string path = temporary_path("zip");
  write_bytes(path, small_artifact());
  std::string script = "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); "
                       "sys.exit(z.testzip() is not None or z.namelist()[0] != 'quaver.pb' or "
                       "z.read('report.json') != b'{}\\n')";
  EXPECT_EQ(std::system(("python3 -c \"" + script + "\" " + path).c_str()), 0);
  std::filesystem::remove(path);
}

TEST(Artifact, equal_blobs_are_stored_once_however_they_come) {
  Plan plan;
  ArtifactWriter writer;
  std::vector<std::byte> big(3 << 20);
  for (size_t i = 0; i < big.size(); ++i)
    big[i] = std::byte(i * 2654435761u >> 13);
  auto produce = [&](const ArtifactWriter::BlobSink &sink) {
    for (size_t at = 0; at < big.size(); at += 100000)
      QUAVER_RETURN_IF_ERROR(sink(std::span(big).subspan(at, std::min<size_t>(100000, big.size() - at))));
    return OkStatus();
  };
  EXPECT_EQ(*writer.add_blob(&plan, produce), 0u);
  EXPECT_EQ(*writer.add_blob(&plan, produce), 0u);
  EXPECT_EQ(writer.add_blob(&plan, big), 0u);
  auto fails = writer.add_blob(&plan, [&](const ArtifactWriter::BlobSink &sink) {
    QUAVER_RETURN_IF_ERROR(sink(big));
    return NotFoundError("no more");
  });
  EXPECT_EQ(fails.status().message(), "no more");
  EXPECT_EQ(*writer.add_blob(&plan, [](const ArtifactWriter::BlobSink &sink) { return sink(bytes("tail")); }),
            1u);
  std::string path = temporary_path("blobs");
  ASSERT_TRUE(writer.write(path, &plan).ok());
  auto a = Artifact::open(path);
  ASSERT_TRUE(a.ok()) << a.status().message();
  EXPECT_EQ((*a)->plan().blobs_size(), 2);
  EXPECT_EQ(std::memcmp((*a)->blob(0)->data(), big.data(), big.size()), 0);
  EXPECT_EQ(text(*(*a)->blob(1)), "tail");
  std::filesystem::remove(path);
}

TEST(Artifact, a_broken_plan_is_not_written) {
  SmallModel m;
  build_small_model(m);
  m.plan.mutable_weights(0)->set_blob(99);
  std::string path = temporary_path("broken");
  EXPECT_EQ(m.writer.write(path, &m.plan).code(), StatusCode::kInternal);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Artifact, names_that_could_not_be_read_back_are_refused) {
  SmallModel m;
  build_small_model(m);
  m.plan.set_model_name("caf\xe9");
  std::string path = temporary_path("utf8");
  EXPECT_EQ(m.writer.write(path, &m.plan).code(), StatusCode::kInvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Artifact, says_what_is_no_artifact) {
  for (std::string other :
       {"", "hello", "#!/bin/sh\necho a script that is longer than any header would be, to be sure of it\n"})
    expect_error(bytes(other), StatusCode::kInvalidArgument, "m.quaver: is not a Quaver artifact");
  std::string zip("PK\x03\x04\x14\0\0\0\0\0\0\0\x21\0", 14);
  expect_error(bytes(zip + std::string(200, 'x')), StatusCode::kInvalidArgument, "is not a Quaver artifact");
  EXPECT_EQ(Artifact::open("/nowhere/m.quaver").status().code(), StatusCode::kNotFound);
}

TEST(Artifact, says_that_it_is_truncated_wherever_it_is_cut) {
  std::vector<std::byte> file = small_artifact();
  for (size_t size = 1; size < file.size(); ++size) {
    Status s = open(std::span(file).first(size));
    ASSERT_EQ(s.code(), StatusCode::kDataLoss) << size << ": " << s.message();
    ASSERT_NE(s.message().find("truncated"), std::string::npos)
        << size << " of " << file.size() << ": " << s.message();
  }
}

TEST(Artifact, says_that_line_ends_were_changed) {
  std::string unix_file = text(small_artifact()), dos, back;
  for (char c : unix_file)
    dos += c == '\n' ? "\r\n" : std::string(1, c);
  for (size_t i = 0; i < unix_file.size(); ++i)
    if (unix_file[i] != '\r' || i + 1 == unix_file.size() || unix_file[i + 1] != '\n')
      back += unix_file[i];
  for (const std::string &mangled : {dos, back})
    expect_error(bytes(mangled), StatusCode::kDataLoss, "line ends were changed");
}

TEST(Artifact, says_both_versions) {
  std::vector<std::byte> file = small_artifact();
  auto with_version = [&](uint32_t major, uint32_t minor) { // as another writer would
    std::vector<std::byte> other = file;
    std::memcpy(&other[71], &major, 4);
    std::memcpy(&other[75], &minor, 4);
    uint32_t crc = crc32_of(std::span(other).subspan(63, 16));
    std::memcpy(&other[79], &crc, 4);
    return other;
  };
  expect_error(with_version(kPlanMajor + 1, 3), StatusCode::kFailedPrecondition,
               "has the newer format version 2.3, this runtime reads 1.x: update Quaver, or recompile");
  expect_error(with_version(0, 9), StatusCode::kFailedPrecondition, "has the older format version 0.9");
  expect_error(with_version(kPlanMajor, 7), StatusCode::kDataLoss, "version"); // the manifest says otherwise
}

TEST(Artifact, says_that_bytes_follow_its_end) {
  std::vector<std::byte> file = small_artifact();
  file.resize(file.size() + 17);
  expect_error(file, StatusCode::kDataLoss, "17 bytes follow its end");
}

TEST(Artifact, names_the_damaged_entry) {
  std::vector<std::byte> file = small_artifact();
  auto a = Artifact::from_bytes(file, "m.quaver");
  ASSERT_TRUE(a.ok());
  for (const ArchiveEntry &e : std::vector<ArchiveEntry>((*a)->entries())) {
    std::vector<std::byte> other = file;
    other[e.data] ^= std::byte(1);
    expect_error(other, StatusCode::kDataLoss, "corrupted: entry " + e.name + ": its checksum differs");
  }
}

// Every single bit of the file, headers, padding and directory too: an error that names the file, or the same
// content.
TEST(Artifact, every_flipped_bit_is_found) {
  std::vector<std::byte> file = small_artifact();
  auto good = Artifact::from_bytes(file, "m.quaver");
  ASSERT_TRUE(good.ok());
  int undetected = 0;
  for (size_t i = 0; i < file.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      file[i] ^= std::byte(1 << bit);
      auto a = Artifact::from_bytes(file, "m.quaver");
      undetected += a.ok();
      if (!a.ok() && !a.status().message().starts_with("m.quaver: "))
        ADD_FAILURE() << "byte " << i << ": " << a.status().message();
      file[i] ^= std::byte(1 << bit);
    }
  EXPECT_EQ(undetected, 0) << "of " << file.size() << " bytes";
}

TEST(Artifact, checks_large_blobs_on_request) {
  Plan plan;
  ArtifactWriter writer;
  std::vector<std::byte> piece(16 << 20);
  ASSERT_TRUE(writer
                  .add_blob(&plan,
                            [&](const ArtifactWriter::BlobSink &sink) {
                              for (int i = 0; i < 17; ++i)
                                QUAVER_RETURN_IF_ERROR(sink(piece));
                              return OkStatus();
                            })
                  .ok());
  ASSERT_GT(plan.blobs(0).bytes(), kVerifiedBlobBytes);
  std::string path = temporary_path("large");
  ASSERT_TRUE(writer.write(path, &plan).ok());
  uint64_t at = (*Artifact::open(path))->entries()[1].data;
  FILE *file = std::fopen(path.c_str(), "r+b");
  std::fseek(file, long(at) + 12345, SEEK_SET);
  std::fputc(1, file);
  std::fclose(file);
  EXPECT_TRUE(Artifact::open(path).ok());
  EXPECT_EQ(Artifact::open(path, Verify::kAll).status().code(), StatusCode::kDataLoss);
  std::filesystem::remove(path);
}

} // namespace
} // namespace quaver::plan
