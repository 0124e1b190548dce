//===- session_fixture.h - sessions on artifacts made by hand ---------------===//
#pragma once

#include "runtime/drivers/registration.h"
#include "runtime/executor/session.h"
#include "test/lib/test_artifacts.h"

#include <gtest/gtest.h>

#include <cstring>

namespace quaver::test {

inline std::unique_ptr<Session> open_session(PlanBuilder plan, const SessionOptions &options = {}) {
  auto model = Model::open(plan.write());
  EXPECT_TRUE(model.ok()) << model.status().message();
  if (!model.ok())
    return nullptr;
  auto session = Session::create(*model, default_drivers(), options);
  EXPECT_TRUE(session.ok()) << session.status().message();
  return session.ok() ? std::move(*session) : nullptr;
}

template <typename T> constexpr plan::ElementType kTypeOf = plan::ELEMENT_INVALID;
template <> inline constexpr plan::ElementType kTypeOf<float> = plan::F32;
template <> inline constexpr plan::ElementType kTypeOf<int32_t> = plan::I32;
template <> inline constexpr plan::ElementType kTypeOf<int64_t> = plan::I64;
template <> inline constexpr plan::ElementType kTypeOf<uint8_t> = plan::BOOL;

/// An input that keeps its shape.
template <typename T> struct Fed {
  std::string name;
  std::vector<int64_t> shape;
  std::vector<T> data;
  operator RunInput() const {
    return {name, {kTypeOf<T>, shape, data.data(), data.size() * sizeof(T), MemorySpace::kHost}};
  }
};

template <typename T> std::vector<T> values_of(const RunOutput &output) {
  std::vector<T> values(output.bytes / sizeof(T));
  const void *from = output.data ? output.data : output.allocated->host_address();
  if (!values.empty())
    std::memcpy(values.data(), from, output.bytes);
  return values;
}

/// Runs and returns the outputs named, allocated by the run.
inline StatusOr<std::vector<RunOutput>> run(Session &session, std::string_view entry,
                                            std::vector<RunInput> inputs, std::vector<std::string_view> names,
                                            const RunOptions &options = {}) {
  QUAVER_ASSIGN_OR_RETURN(const EntryProgram *program, session.find_entry(entry));
  std::vector<RunOutput> outputs(names.size());
  for (size_t i = 0; i < names.size(); ++i)
    outputs[i].name = names[i];
  QUAVER_RETURN_IF_ERROR(session.run(*program, inputs, outputs, options));
  return StatusOr<std::vector<RunOutput>>(std::move(outputs));
}

/// What matmul_plan() computes.
inline std::vector<float> expected_matmul(const std::vector<float> &x) {
  std::vector<float> y;
  for (size_t row = 0; row < x.size() / 4; ++row)
    for (int n = 0; n < 3; ++n) {
      float sum = 0;
      for (int k = 0; k < 4; ++k)
        sum += x[row * 4 + k] * static_cast<float>(k * 3 + n);
      y.push_back(sum + sum);
    }
  return y;
}

inline Fed<float> batch_of(int64_t rows, float start = 1) {
  Fed<float> x{"x", {rows, 4}, std::vector<float>(static_cast<size_t>(rows * 4))};
  for (float &value : x.data)
    value = start++;
  return x;
}

} // namespace quaver::test
