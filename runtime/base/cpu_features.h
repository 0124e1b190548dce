// What this CPU can do, in the names of /proc/cpuinfo.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace quaver {

/// The CPU's brand string.
std::string cpu_name();

/// Is the feature there and usable (the operating system saves its registers)? Names: avx2, fma, f16c, bmi2,
/// avx512f, avx512bw, avx512dq, avx512vl, avx512cd, avx512_bf16, avx512vbmi, avx512_vnni. Unknown names are
/// not there.
bool cpu_has_feature(std::string_view name);

/// Those of `names` that this CPU does not have (or that nobody knows), in their order.
std::vector<std::string> missing_cpu_features(const std::vector<std::string> &names);

/// The x86 targets code is made for, weakest first.
const std::vector<std::string> &x86_targets();
/// Features that a target's code needs; empty for an unknown target.
std::vector<std::string> x86_target_features(std::string_view target);
/// The strongest target that this CPU runs; empty when it runs none.
std::string host_target();

} // namespace quaver
