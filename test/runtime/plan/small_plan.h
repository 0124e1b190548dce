// A plan that has one of everything, and the artifact of it.
#pragma once
#include "runtime/plan/artifact_writer.h"
#include "runtime/plan/plan.pb.h"
#include <cstddef>
#include <string>
#include <vector>

namespace quaver::plan::test {

/// A plan and the code and weights that it names.
struct SmallModel {
  Plan plan;
  std::string code;
  std::vector<std::byte> weight, codes, scales; // f32[4,3]; e4m3[128,128] cut to [2,128]; f32[1,1]
  ArtifactWriter writer;
};

/// Dimensions batch 1..64 and sequence (multiples of 8), one that depends on data; weights dense and
/// quantized; a state; an entry with every kind of instruction. Valid. Not copied or moved: the writer points
/// into it.
void build_small_model(SmallModel &model);

/// Builds it and reads back the bytes of its artifact.
std::vector<std::byte> small_artifact();

/// Appends an expression and returns its index.
uint32_t add_expr(Plan &plan, Expr::Kind kind, int64_t value, uint32_t a = 0, uint32_t b = 0, uint32_t c = 0);

std::vector<std::byte> read_bytes(const std::string &path);
void write_bytes(const std::string &path, std::span<const std::byte> bytes);
/// A fresh path in the temporary folder; the test removes the file.
std::string temporary_path(const std::string &name);

} // namespace quaver::plan::test
