"""Conversions against ml_dtypes, an implementation of other people: all codes, all 16-bit inputs, ties, extremes.

ml_dtypes does not saturate, so the propagating policy is compared; the saturating one differs only where that
overflows. NaN is compared as a class.
"""
import os
import subprocess

import ml_dtypes
import numpy as np
import pytest

PROGRAM = os.environ.get("QUAVER_NUMERICS_CONVERT")
pytestmark = pytest.mark.skipif(not PROGRAM, reason="QUAVER_NUMERICS_CONVERT names no program")

TYPES = {
    "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2, "e4m3fnuz": ml_dtypes.float8_e4m3fnuz, "e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "e8m0": ml_dtypes.float8_e8m0fnu,
}
SIGNED8 = ["e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz"]


def convert(values, from_, to, policy="propagate"):
    done = subprocess.run([PROGRAM, from_, to, policy], input=values.tobytes(), stdout=subprocess.PIPE, check=True)
    return np.frombuffer(done.stdout, dtype=TYPES[to])


def all_codes(name):
    dtype = TYPES[name]
    bits = np.uint8 if np.dtype(dtype).itemsize == 1 else np.uint16
    return np.arange(np.iinfo(bits).max + 1, dtype=bits).view(dtype)


def floats():
    """Every exponent with many mantissas, and every tie of the 8-bit formats with its neighbours."""
    strided = (np.arange(1 << 20, dtype=np.uint64) * 4099 & 0xFFFFFFFF).astype(np.uint32).view(np.float32)
    ties = []
    for name in SIGNED8:
        v = np.sort(all_codes(name).astype(np.float32))
        v = v[np.isfinite(v)]
        ties.append((v[1:] + v[:-1]) / 2)
    ties = np.concatenate(ties)
    return np.concatenate([strided, ties, np.nextafter(ties, np.float32(0)), np.nextafter(ties, np.float32(1e30))])


def assert_same(found, expected):
    with np.errstate(invalid="ignore"):  # signalling NaN codes
        f, e = found.astype(np.float64), expected.astype(np.float64)
    same = (f == e) & (np.signbit(f) == np.signbit(e)) | np.isnan(f) & np.isnan(e)
    assert same.all(), f"{np.count_nonzero(~same)} differ, first {f[~same][0]} != {e[~same][0]}"


@pytest.mark.parametrize("name", ["f16", "bf16", *SIGNED8, "e8m0"])
def test_decode_every_code(name):
    codes = all_codes(name)
    assert_same(convert(codes, name, "f32"), codes.astype(np.float32))


@pytest.mark.parametrize("to", ["f16", "bf16", *SIGNED8])
@pytest.mark.parametrize("from_", ["f32", "f16", "bf16"])
def test_encode(from_, to):
    values = floats() if from_ == "f32" else all_codes(from_)
    with np.errstate(all="ignore"):
        expected = values.astype(np.float32).astype(TYPES[to])
    assert_same(convert(values, from_, to), expected)


@pytest.mark.parametrize("to", SIGNED8)
def test_saturate_differs_only_in_overflow(to):
    values = floats()
    with np.errstate(all="ignore"):
        expected = values.astype(TYPES[to]).astype(np.float32)
    largest = np.float32(ml_dtypes.finfo(TYPES[to]).max)
    overflow = ~np.isfinite(expected) & ~np.isnan(values)
    expected[overflow] = np.copysign(largest, values[overflow])
    assert_same(convert(values, "f32", to, "saturate"), expected)
