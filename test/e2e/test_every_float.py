"""Compiled casts of every float32 to FP8 against ml_dtypes: all 2^32 with QUAVER_EXHAUSTIVE (./dev test-exhaustive), every 241st
otherwise."""
import os

import ml_dtypes
import numpy as np
import pytest
import quaver
from onnx import TensorProto, helper

STRIDE = 1 if os.environ.get("QUAVER_EXHAUSTIVE") else 241
CHUNK = 1 << 23
FORMATS = {"e4m3": (TensorProto.FLOAT8E4M3FN, ml_dtypes.float8_e4m3fn), "e5m2": (TensorProto.FLOAT8E5M2, ml_dtypes.float8_e5m2)}


def runnable_targets():
    flags = set(next(line for line in open("/proc/cpuinfo") if line.startswith("flags")).split())
    yield "x86-64-v3"
    if {"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd"} <= flags:
        yield "x86-64-v4"
        if {"avx512_bf16", "avx512vbmi", "avx512_vnni"} <= flags:
            yield "x86-64-v4+bf16"


def expected(x, dtype, saturate):
    """ml_dtypes does not saturate: what overflows there becomes the largest value here."""
    with np.errstate(all="ignore"):
        codes = x.astype(dtype)
        if saturate:
            wide = codes.astype(np.float32)
            over = ~np.isfinite(wide) & ~np.isnan(x)
            codes[over] = np.copysign(np.float32(ml_dtypes.finfo(dtype).max), x[over]).astype(dtype)
    return codes.view(np.uint8)


@pytest.mark.parametrize("saturate", [1, 0])
@pytest.mark.parametrize("name", FORMATS)
def test_every_float(name, saturate):
    onnx_type, dtype = FORMATS[name]
    model = helper.make_model(
        helper.make_graph([helper.make_node("Cast", ["x"], ["y"], to=onnx_type, saturate=saturate)], "g",
                          [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"])],
                          [helper.make_tensor_value_info("y", onnx_type, ["n"])]),
        opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    targets = list(runnable_targets())
    artifact = quaver.compile(model, target=targets)
    sessions = [(t, quaver.Session(artifact, target=t)) for t in targets]
    nan = np.isnan(np.arange(256, dtype=np.uint8).view(dtype).astype(np.float32))
    for start in range(0, 1 << 32, CHUNK * STRIDE):
        bits = np.arange(start, min(start + CHUNK * STRIDE, 1 << 32), STRIDE, dtype=np.uint64).astype(np.uint32)
        x = bits.view(np.float32)
        want = expected(x, dtype, saturate)
        for target, session in sessions:
            got = session.run(None, {"x": x})[0].view(np.uint8)
            wrong = (got != want) & ~(nan[got] & nan[want])
            assert not wrong.any(), f"{target}: {x[wrong][0]!r} gives {got[wrong][0]:#x}, expected {want[wrong][0]:#x}"
