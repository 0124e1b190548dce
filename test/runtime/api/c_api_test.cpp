//===- c_api_test.cpp - the C interface -------------------------------------===//
#include "runtime/api/quaver.h"
#include "test/lib/test_artifacts.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

extern "C" int quaver_plain_c(const char *path, float *y, size_t y_bytes);

namespace quaver::test {
namespace {

/// Takes a status apart.
struct Result {
  explicit Result(qv_status *status) : code(qv_status_code(status)), message(qv_status_message(status)) {
    qv_status_release(status);
  }
  qv_code code;
  std::string message;
};

#define EXPECT_QV_OK(call)                                                                                   \
  if (Result result_(call); false) {                                                                         \
  } else                                                                                                     \
    EXPECT_EQ(result_.code, QV_OK) << result_.message

void expect_error(qv_status *status, qv_code code, std::vector<std::string> parts) {
  Result result(status);
  EXPECT_EQ(result.code, code) << result.message;
  for (const std::string &part : parts)
    EXPECT_NE(result.message.find(part), std::string::npos) << "no \"" << part << "\" in: " << result.message;
}

class CApi : public testing::Test {
protected:
  qv_session *open(PlanBuilder plan, int threads = 2, uint64_t seed = 0) {
    qv_model *model = nullptr;
    EXPECT_QV_OK(qv_model_open(plan.write().c_str(), &model));
    qv_session_options options{};
    options.struct_size = sizeof(options);
    options.threads = threads;
    options.seed = seed;
    qv_session *session = nullptr;
    EXPECT_QV_OK(qv_session_create(model, &options, &session));
    qv_model_release(model); // the session keeps it
    sessions_.push_back(session);
    return session;
  }
  void TearDown() override {
    for (qv_session *session : sessions_)
      qv_session_release(session);
  }
  std::vector<qv_session *> sessions_;
};

template <typename T>
qv_input fed(const char *name, qv_type type, const std::vector<int64_t> &shape, const std::vector<T> &data) {
  return {name,          type,        static_cast<int32_t>(shape.size()),
          shape.data(),  data.data(), data.size() * sizeof(T),
          QV_MEMORY_HOST};
}

TEST_F(CApi, plain_c_runs_a_model) {
  float y[6] = {};
  ASSERT_EQ(quaver_plain_c(matmul_plan().write().c_str(), y, sizeof(y)), 0);
  EXPECT_EQ(y[0], 2 * (1 * 0 + 2 * 3 + 3 * 6 + 4 * 9));
  EXPECT_EQ(y[5], 2 * (5 * 2 + 6 * 5 + 7 * 8 + 8 * 11));
  EXPECT_EQ(quaver_plain_c(matmul_plan().write().c_str(), y, 8), QV_INVALID_ARGUMENT);
}

TEST_F(CApi, describes_models_and_sessions) {
  std::string path = matmul_plan().write();
  qv_model *model = nullptr;
  EXPECT_QV_OK(qv_model_open(path.c_str(), &model));
  EXPECT_STREQ(qv_model_name(model), "by hand");
  EXPECT_STREQ(qv_model_precision(model), "fp32");
  EXPECT_EQ(qv_model_target_count(model), 1u);
  EXPECT_STREQ(qv_model_target_name(model, 0), "x86-64-v3");
  EXPECT_EQ(qv_model_target_name(model, 1), nullptr);
  qv_model_release(model);
  EXPECT_NE(std::string(qv_version()), "");

  qv_session *session = open(matmul_plan(), 2);
  EXPECT_STREQ(qv_session_target(session), "x86-64-v3");
  EXPECT_EQ(qv_session_threads(session), 2);
  ASSERT_EQ(qv_session_entry_count(session), 1u);
  EXPECT_STREQ(qv_session_entry_name(session, 0), "main");
  ASSERT_EQ(qv_session_input_count(session, nullptr), 1u);
  ASSERT_EQ(qv_session_output_count(session, "main"), 1u);
  EXPECT_EQ(qv_session_input_count(session, "nope"), 0u);
  qv_tensor_info info;
  EXPECT_QV_OK(qv_session_input(session, nullptr, 0, &info));
  EXPECT_STREQ(info.name, "x");
  EXPECT_EQ(info.type, QV_F32);
  ASSERT_EQ(info.rank, 2);
  EXPECT_STREQ(info.dims[0].name, "batch");
  EXPECT_EQ(info.dims[0].size, -1);
  EXPECT_EQ(info.dims[0].min, 1);
  EXPECT_EQ(info.dims[0].max, 64);
  EXPECT_EQ(info.dims[1].size, 4);
  expect_error(qv_session_input(session, nullptr, 1, &info), QV_NOT_FOUND, {"no input number 1"});
  expect_error(qv_session_output(session, "nope", 0, &info), QV_NOT_FOUND, {"'nope'", "'main'"});
  EXPECT_EQ(qv_type_bytes(QV_BF16), 2u);
  EXPECT_STREQ(qv_type_name(QV_F32), "f32");
}

TEST_F(CApi, allocates_outputs) {
  qv_session *session = open(nonzero_plan());
  std::vector<int64_t> shape = {5};
  std::vector<float> x = {0, 1, 0, 1, 1};
  qv_input input = fed("x", QV_F32, shape, x);
  qv_output outputs[2];
  EXPECT_QV_OK(qv_run_all(session, nullptr, &input, 1, outputs, 2));
  EXPECT_STREQ(outputs[0].name, "indices");
  EXPECT_EQ(outputs[1].type, QV_I64);
  ASSERT_EQ(outputs[1].rank, 1);
  EXPECT_EQ(outputs[1].shape[0], 3);
  EXPECT_EQ(outputs[1].bytes, 24u);
  const int64_t *values = static_cast<const int64_t *>(qv_buffer_host_data(outputs[1].buffer));
  EXPECT_EQ(std::vector<int64_t>(values, values + 3), (std::vector<int64_t>{2, 6, 8}));
  EXPECT_EQ(outputs[1].data, qv_buffer_data(outputs[1].buffer));
  size_t bytes[2];
  EXPECT_QV_OK(qv_output_bytes(session, nullptr, &input, 1, bytes, 2));
  EXPECT_EQ(bytes[0], 40u) << "the upper bound";
  // A buffer keeps what it came from.
  qv_session_release(session);
  sessions_.clear();
  EXPECT_EQ(values[0], 2);
  for (qv_output &output : outputs)
    qv_buffer_release(output.buffer);
}

TEST_F(CApi, wrong_calls_say_what_is_wrong) {
  qv_session *session = open(matmul_plan());
  std::vector<int64_t> shape = {2, 4}, bad_shape = {2, 5};
  std::vector<float> x(8), wide(10);
  qv_output output{};
  output.name = "y";
  qv_input good = fed("x", QV_F32, shape, x);
  auto run = [&](qv_input input) { return qv_run(session, nullptr, &input, 1, &output, 1, nullptr); };
  expect_error(run(fed("X", QV_F32, shape, x)), QV_INVALID_ARGUMENT, {"'X'", "'x'"});
  expect_error(run(fed("x", QV_I32, shape, x)), QV_INVALID_ARGUMENT, {"'x'", "i32", "f32"});
  expect_error(run(fed("x", QV_F32, bad_shape, wide)), QV_INVALID_ARGUMENT, {"dimension 1", "5", "4"});
  expect_error(run(fed(nullptr, QV_F32, shape, x)), QV_INVALID_ARGUMENT, {"no name"});
  expect_error(qv_run(session, "prefill", &good, 1, &output, 1, nullptr), QV_NOT_FOUND,
               {"'prefill'", "'main'"});
  expect_error(qv_run(session, nullptr, nullptr, 1, &output, 1, nullptr), QV_INVALID_ARGUMENT, {"null"});
  expect_error(qv_run_all(session, nullptr, &good, 1, &output, 3), QV_INVALID_ARGUMENT,
               {"3 outputs", "makes 1"});
  good.rank = 99;
  expect_error(run(good), QV_INVALID_ARGUMENT, {"rank 99"});
  qv_run_options options{};
  expect_error(qv_run(session, nullptr, &good, 1, &output, 1, &options), QV_INVALID_ARGUMENT,
               {"struct_size"});
  qv_model *model = nullptr;
  expect_error(qv_model_open("/no/such.quaver", &model), QV_NOT_FOUND, {"/no/such.quaver"});
  EXPECT_EQ(model, nullptr);
  expect_error(qv_model_open(nullptr, &model), QV_INVALID_ARGUMENT, {"path"});
  qv_model_release(nullptr);
  qv_session_release(nullptr);
  qv_buffer_release(nullptr);
  qv_status_release(nullptr);
}

TEST_F(CApi, devices_and_options_are_checked) {
  qv_model *model = nullptr;
  EXPECT_QV_OK(qv_model_open(matmul_plan().write().c_str(), &model));
  qv_session *session = nullptr;
  qv_session_options options{sizeof(options), "gpu", nullptr, 0, 0};
  expect_error(qv_session_create(model, &options, &session), QV_NOT_FOUND, {"'gpu'", "host"});
  options = {sizeof(options), "host", "sm_90a", 0, 0};
  expect_error(qv_session_create(model, &options, &session), QV_NOT_FOUND, {"sm_90a", "x86-64-v3"});
  options = {1, "host", nullptr, 0, 0};
  expect_error(qv_session_create(model, &options, &session), QV_INVALID_ARGUMENT, {"struct_size"});
  EXPECT_EQ(session, nullptr);
  qv_model_release(model);
}

TEST_F(CApi, state_by_name) {
  qv_session *session = open(counter_plan(), 1, 7);
  ASSERT_EQ(qv_state_count(session), 2u);
  qv_tensor_info info;
  EXPECT_QV_OK(qv_state_info(session, 0, &info));
  EXPECT_STREQ(info.name, "count");
  std::vector<int64_t> shape = {1}, by = {11};
  qv_input input = fed("by", QV_I64, shape, by);
  int64_t total = 0;
  qv_output output{};
  output.name = "total";
  output.data = &total;
  output.capacity = sizeof(total);
  EXPECT_QV_OK(qv_run(session, "step", &input, 1, &output, 1, nullptr));
  EXPECT_EQ(total, 111);

  qv_states *own = nullptr, *fresh = nullptr;
  EXPECT_QV_OK(qv_session_states(session, &own));
  EXPECT_QV_OK(qv_states_create(session, &fresh));
  qv_run_options options{sizeof(options), nullptr, nullptr, fresh};
  EXPECT_QV_OK(qv_run(session, "step", &input, 1, &output, 1, &options));
  EXPECT_EQ(total, 111) << "a fresh set starts at its initial value";
  EXPECT_QV_OK(qv_run(session, "step", &input, 1, &output, 1, &options));
  EXPECT_EQ(total, 122);
  size_t bytes = 0;
  EXPECT_QV_OK(qv_states_bytes(fresh, "count", &bytes));
  ASSERT_EQ(bytes, 8u);
  int64_t saved = 0;
  EXPECT_QV_OK(qv_states_save(fresh, "count", &saved, 8));
  EXPECT_EQ(saved, 122);
  EXPECT_QV_OK(qv_states_load(own, "count", &saved, 8));
  EXPECT_QV_OK(qv_run(session, "read", nullptr, 0, &output, 1, nullptr));
  EXPECT_EQ(total, 122);
  EXPECT_QV_OK(qv_states_reset(own, nullptr));
  EXPECT_QV_OK(qv_run(session, "read", nullptr, 0, &output, 1, nullptr));
  EXPECT_EQ(total, 100);
  uint64_t random[2];
  EXPECT_QV_OK(qv_states_save(own, "quaver.random", random, 16));
  EXPECT_EQ(random[0], 7u);
  expect_error(qv_states_save(own, "count", &saved, 4), QV_INVALID_ARGUMENT, {"8 bytes", "4"});
  expect_error(qv_states_load(own, "kv", &saved, 8), QV_NOT_FOUND, {"'kv'", "'count'"});
  expect_error(qv_states_save(own, nullptr, &saved, 8), QV_INVALID_ARGUMENT, {"name"});
  qv_states_release(own);
  qv_states_release(fresh);
}

TEST_F(CApi, memory) {
  qv_session *session = open(matmul_plan());
  EXPECT_NE(std::string(qv_session_peak_formula(session, nullptr)).find("batch"), std::string::npos);
  EXPECT_EQ(qv_session_peak_formula(session, "nope"), nullptr);
  std::vector<int64_t> shape = {10, 4};
  std::vector<float> x(40);
  qv_input input = fed("x", QV_F32, shape, x);
  qv_output output;
  EXPECT_QV_OK(qv_run_all(session, nullptr, &input, 1, &output, 1));
  qv_buffer_release(output.buffer);
  size_t peak = 0;
  EXPECT_QV_OK(qv_peak_bytes(session, nullptr, &input, 1, &peak));
  EXPECT_EQ(peak, 256u); // two buffers of 120 bytes, each rounded up to 128
  qv_memory_use use;
  EXPECT_QV_OK(qv_session_memory(session, &use));
  EXPECT_EQ(use.run_high_water, peak);
  EXPECT_EQ(use.arenas, peak);
  EXPECT_EQ(use.weights, 48u);
}

TEST_F(CApi, streams_and_events) {
  qv_session *session = open(matmul_plan());
  qv_stream *stream = nullptr;
  qv_event *event = nullptr;
  EXPECT_QV_OK(qv_stream_create(session, &stream));
  EXPECT_QV_OK(qv_event_create(session, &event));
  EXPECT_TRUE(qv_event_is_complete(event));
  std::vector<int64_t> shape = {64, 4};
  std::vector<float> x(256, 1.f), y(192);
  qv_input input = fed("x", QV_F32, shape, x);
  qv_buffer *in_buffer = nullptr, *out_buffer = nullptr; // device memory of the caller
  EXPECT_QV_OK(qv_buffer_create(session, 1024, &in_buffer));
  EXPECT_QV_OK(qv_buffer_create(session, 768, &out_buffer));
  EXPECT_QV_OK(qv_copy_from_host(session, qv_buffer_data(in_buffer), x.data(), 1024));
  input.data = qv_buffer_data(in_buffer);
  input.memory = QV_MEMORY_DEVICE;
  qv_output output{};
  output.name = "y";
  output.data = qv_buffer_data(out_buffer);
  output.capacity = qv_buffer_bytes(out_buffer);
  output.memory = QV_MEMORY_DEVICE;
  qv_run_options options{sizeof(options), stream, event, nullptr};
  for (int i = 0; i < 10; ++i)
    EXPECT_QV_OK(qv_run(session, nullptr, &input, 1, &output, 1, &options));
  EXPECT_QV_OK(qv_event_wait(event));
  EXPECT_TRUE(qv_event_is_complete(event));
  EXPECT_QV_OK(qv_copy_to_host(session, y.data(), qv_buffer_data(out_buffer), 768));
  EXPECT_EQ(y[0], 2 * (0 + 3 + 6 + 9));
  EXPECT_EQ(y[191], 2 * (2 + 5 + 8 + 11));
  EXPECT_QV_OK(qv_stream_synchronize(stream));
  EXPECT_QV_OK(qv_stream_record(stream, event));
  EXPECT_QV_OK(qv_stream_wait(stream, event));
  qv_stream_release(stream);
  qv_event_release(event);
  qv_buffer_release(in_buffer);
  qv_buffer_release(out_buffer);
}

TEST_F(CApi, one_session_from_many_threads) {
  qv_session *session = open(matmul_plan(), 3);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int id = 0; id < 6; ++id)
    threads.emplace_back([&, id] {
      for (int round = 0; round < 100; ++round) {
        int64_t rows = 1 + (id * 13 + round) % 64;
        std::vector<int64_t> shape = {rows, 4};
        std::vector<float> x(static_cast<size_t>(rows * 4), static_cast<float>(id + 1));
        qv_input input = fed("x", QV_F32, shape, x);
        qv_output output;
        Result result(qv_run_all(session, nullptr, &input, 1, &output, 1));
        if (result.code != QV_OK) {
          ++wrong;
          continue;
        }
        const float *y = static_cast<const float *>(output.data);
        for (int64_t i = 0; i < rows * 3; ++i)
          wrong += y[i] != 2.f * static_cast<float>(id + 1) * static_cast<float>(18 + 4 * (i % 3));
        qv_buffer_release(output.buffer);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

} // namespace
} // namespace quaver::test
