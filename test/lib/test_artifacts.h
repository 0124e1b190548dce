//===- test_artifacts.h - artifacts made by hand ----------------------------===//
// Their kernels are those of test_kernels.c, so that the runtime is tested without a compiler.
#pragma once

#include "test/lib/plan_builder.h"

namespace quaver::test {

/// entry main: y[batch, 3] = 2 * (x[batch, 4] x w[4, 3]), f32; w[k][n] = k * 3 + n. batch is 1 to 64. The
/// product lies in the arena, once more beside a copy of it.
PlanBuilder matmul_plan();

/// entry main: indices[count] = where x[n] (f32) is not 0, doubled[count] = 2 * indices, i64. count depends
/// on the data.
PlanBuilder nonzero_plan();

/// entries step: total[1] = count += by[1]; read: total[1] = count. The state `count` (i64) starts at 100,
/// the state `quaver.random` (u64[2]) with the seed.
PlanBuilder counter_plan();

/// entry main: power[1] = the smallest 2^k >= limit[1], i64, or, when flag[1] is false, -1's bytes. `limit`
/// must be checked by the plan: shape [rows] with rows = 1.
PlanBuilder control_plan();

/// entry main: out[count] = 2 * (0, 1, ... count - 1), i64, count[1] (i32) being an input. Nothing bounds
/// count: with `from_input` the plan reads it before the arena is sized, else from a copy, and uses a dynamic
/// buffer.
PlanBuilder range_plan(bool from_input);

/// entry main: copies of a[n] (bf16), b[n] (f8E4M3FN), c[] (bool), named x, y, z.
PlanBuilder copy_plan();

} // namespace quaver::test
