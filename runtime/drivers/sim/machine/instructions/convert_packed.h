// cvt between pairs of small floats, and cvt.pack.
#pragma once
#include "runtime/drivers/sim/machine/decoder.h"
#include "runtime/drivers/sim/machine/softfloat.h"

namespace quaver::sim {

struct PackedConversion {
  ptx::Type to, from;
  Rounding rounding;
  bool relu, finite;
};

void decode_cvt_packed(Decoder &d, const PackedConversion &conversion);
void decode_cvt_pack(Decoder &d);

} // namespace quaver::sim
