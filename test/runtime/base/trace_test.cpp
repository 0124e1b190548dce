#include "runtime/base/trace.h"
#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>

namespace quaver {
namespace {

class Counter : public TraceListener {
public:
  void record(const char *name, std::string_view detail, int64_t begin_ns, int64_t end_ns) override {
    last = std::string(name) + ":" + std::string(detail);
    is_ordered = begin_ns <= end_ns;
    ++count;
  }
  std::string last;
  bool is_ordered = false;
  int count = 0;
};

TEST(Trace, scopes_reach_the_listener_while_there_is_one) {
  Counter counter;
  {
    TraceScope scope("before");
  }
  set_trace_listener(&counter);
  {
    TraceScope scope("launch", "gemm");
  }
  set_trace_listener(nullptr);
  {
    TraceScope scope("after");
  }
  EXPECT_EQ(counter.count, 1);
  EXPECT_EQ(counter.last, "launch:gemm");
  EXPECT_TRUE(counter.is_ordered);
}

TEST(Trace, file_holds_the_scopes_of_all_threads) {
  std::string path = testing::TempDir() + "/quaver_trace_test.json";
  TraceFile file(path);
  {
    TraceScope scope("load", "a \"quoted\" \n name");
  }
  std::thread([] { TraceScope scope("launch"); }).join();
  ASSERT_TRUE(file.finish().ok());
  {
    TraceScope scope("late");
  }
  std::ifstream in(path);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  std::remove(path.c_str());
  EXPECT_NE(text.find("\"name\":\"load\""), std::string::npos) << text;
  EXPECT_NE(text.find("a \\\"quoted\\\" \\u000a name"), std::string::npos) << text;
  EXPECT_NE(text.find("\"name\":\"launch\""), std::string::npos);
  EXPECT_EQ(text.find("late"), std::string::npos);
}

} // namespace
} // namespace quaver
