// Recorded inputs: order of runs, order of inputs, and what is said of files that do not fit.
#include "compiler/Precision/Calibrate/Dataset.h"
#include "runtime/base/atomic_file.h"
#include "runtime/base/npz.h"
#include "test/compiler/Precision/run_text.h"
#include <filesystem>
#include <gtest/gtest.h>

using namespace quaver;
using precision::Dataset;

namespace {

const char *const kModel = R"(
graph.dim @b
func.func @main(%x: tensor<?x2xf32> {graph.name = "x", graph.dims = ["b", "2"]},
                %i: tensor<?xi64> {graph.name = "i", graph.dims = ["b"]}) -> tensor<?x2xf32> {
  return %x : tensor<?x2xf32>
})";

template <class T>
std::pair<std::string, std::string> array(const std::string &name, const char *descr,
                                          std::vector<int64_t> shape, std::vector<T> values) {
  std::span<const char> bytes(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T));
  return {name, npy_bytes(descr, shape, bytes)};
}

class DatasetTest : public ::testing::Test {
protected:
  DatasetTest() : model(kModel), folder(::testing::TempDir() + "/dataset") {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
  mlir::func::FuncOp entry() { return *model.module->getOps<mlir::func::FuncOp>().begin(); }
  std::string write(const std::string &name, std::vector<std::pair<std::string, std::string>> arrays) {
    std::string path = folder + "/" + name;
    EXPECT_TRUE(write_npz(path, arrays).ok());
    return path;
  }
  std::string errorOf(std::vector<std::pair<std::string, std::string>> arrays) {
    auto data = Dataset::open(write("bad.npz", std::move(arrays)));
    EXPECT_TRUE(data.ok());
    auto inputs = data->read(0, entry());
    return inputs.ok() ? "no error" : inputs.status().message();
  }

  test::TextRun model;
  std::string folder;
};

const auto kX = array<float>("x", "<f4", {1, 2}, {1, 2});
const auto kI = array<int64_t>("i", "<i8", {1}, {7});

TEST_F(DatasetTest, ReadsAFolderInTheOrderOfItsNames) {
  write("run2.npz", {array<int64_t>("i", "<i8", {1}, {2}), kX});
  write("run10.npz",
        {array<int64_t>("i", "<i8", {2}, {10, 11}), array<float>("x", "<f4", {2, 2}, {1, 2, 3, 4})});
  ASSERT_TRUE(write_file_atomically(folder + "/notes.txt", "not a run").ok());
  auto data = Dataset::open(folder);
  ASSERT_TRUE(data.ok()) << data.status().message();
  ASSERT_EQ(data->size(), 2u);
  EXPECT_TRUE(data->getFile(0).ends_with("run10.npz"));
  auto first = data->read(0, entry()), second = data->read(1, entry());
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ((*first)[0].typeString(), "2x2xf32");
  EXPECT_EQ((*first)[0].number(3), 4);
  EXPECT_EQ((*first)[1].integer(1), 11);
  EXPECT_EQ((*second)[1].integer(0), 2);
}

TEST_F(DatasetTest, SaysWhatDoesNotFit) {
  EXPECT_NE(errorOf({kX}).find("bad.npz: has no array \"i\"; the model's inputs are x, i"),
            std::string::npos);
  EXPECT_NE(
      errorOf({kX, kI, array<float>("z", "<f4", {1}, {0})}).find("array \"z\" is no input of the model"),
      std::string::npos);
  EXPECT_NE(errorOf({array<double>("x", "<f8", {1, 2}, {1, 2}), kI})
                .find("array \"x\" holds elements of '<f8', but the input is f32"),
            std::string::npos);
  EXPECT_NE(errorOf({array<float>("x", "<f4", {1, 3}, {1, 2, 3}), kI})
                .find("array \"x\" is 1x3xf32, but the model takes tensor<?x2xf32>"),
            std::string::npos);
  EXPECT_NE(errorOf({array<float>("x", "<f4", {2}, {1, 2}), kI}).find("is 2xf32, but the model takes"),
            std::string::npos);
  EXPECT_NE(errorOf({kX, array<int64_t>("i", "<i8", {2}, {1, 2})})
                .find("array \"i\" has size 2 in dimension 0, which is \"b\", but in \"x\" that is 1"),
            std::string::npos);
}

TEST_F(DatasetTest, RefusesWhatIsNoData) {
  auto message = [](const std::string &path) { return Dataset::open(path).status().message(); };
  EXPECT_NE(message(folder + "/none").find("no such file or folder"), std::string::npos);
  EXPECT_NE(message(folder).find("holds no .npz files"), std::string::npos);
  std::string text = folder + "/data.txt", broken = folder + "/broken.npz";
  ASSERT_TRUE(write_file_atomically(text, "x").ok() &&
              write_file_atomically(broken, "PK\3\4 and then nothing").ok());
  EXPECT_NE(message(text).find("is no .npz file"), std::string::npos);
  auto data = Dataset::open(broken);
  ASSERT_TRUE(data.ok());
  EXPECT_NE(data->read(0, entry()).status().message().find("broken.npz"), std::string::npos);
}

} // namespace
