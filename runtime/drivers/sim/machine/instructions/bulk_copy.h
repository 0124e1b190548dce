// cp.async.bulk and cp.async.mbarrier.arrive.
#pragma once
#include "runtime/drivers/sim/machine/decoder.h"

namespace quaver::sim {

/// `cp.async.bulk...`; "async" and "bulk" have been taken.
void decode_bulk_copy(Decoder &d);
/// `cp.async.bulk.tensor...`; "async", "bulk" and "tensor" have been taken.
void decode_tensor_copy(Decoder &d);
/// `cp.async.mbarrier.arrive`; "async" and "mbarrier" have been taken.
void decode_copies_arrive(Decoder &d);

} // namespace quaver::sim
