// Divergence: how groups of lanes split, meet, call, return and exit. Used by control instructions and the
// scheduler.
#pragma once
#include "runtime/drivers/sim/machine/context.h"
#include "runtime/drivers/sim/machine/program.h"

namespace quaver::sim {

/// Points the context's bases at the group's activation.
void enter_group(Context &c, Group &group);
/// Takes `lanes` out of the context's group into a new one at the same place.
Group &split_group(Context &c, LaneMask lanes);
/// After the branch at `branch`: from here until the branch's ways meet, the group is expected there. Call it
/// before splitting.
void expect_meeting(Context &c, uint32_t branch);
/// The group has reached the position of its innermost meeting: it waits there, or all go on.
void arrive(Context &c, Group &group);
/// Is the group at its innermost meeting?
inline bool at_meeting(const Group &g) {
  return g.meeting && g.meeting->position == g.position && g.meeting->frame == g.frame;
}
/// Lets the lanes that wait at a meeting go on without the others.
void release(Context &c, Meeting &meeting);
/// Joins `other` into `group`: both are at the same place of the same activation.
void merge(Context &c, Group &group, Group &other);
/// Ends the threads of the group.
void exit_group(Context &c, Group &group);
/// The group is at the end of its function: back to the caller, or the end of its threads.
void return_group(Context &c, Group &group);
/// A new activation of Program::functions[function]. False: a fault was recorded.
bool call_group(Context &c, const Instruction &in, uint32_t function);

/// The kernel's activation and first group of a warp.
void start_warp(Context &c);

} // namespace quaver::sim
