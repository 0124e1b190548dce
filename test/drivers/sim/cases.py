"""What each kernel of nvcc/ is given and what it must return.

A case's function has the kernel's name. It returns the arguments, and the expected array of each Out and InOut.
Integers are compared exactly; floats within `tolerance`, relative to the largest expected value (0: to the bit).
"""

import math
from dataclasses import dataclass

import ml_dtypes
import numpy as np
from quaver_sim import InOut, Out

I, F = np.int32, np.float32
CASES = {}


@dataclass
class Case:
    make: object
    grid: str
    block: str
    shared: int
    tolerance: float


def case(grid="1", block="32", shared=0, tolerance=0.0):
    def add(make):
        CASES[make.__name__] = Case(make, grid, block, shared, tolerance)
        return make

    return add


def floats(rng, *shape):
    return rng.standard_normal(shape).astype("f4")


def integers(rng, low, high, *shape, dtype="i4"):
    return rng.integers(low, high, shape, dtype=dtype)


@case(grid="8", block="128")
def vector_add(rng):
    x, y = floats(rng, 1000), floats(rng, 1000)
    return [x, y, Out("f4", (1000,)), I(1000)], [x + y]


@case(grid="2", block="128", tolerance=1e-6)
def saxpy(rng):
    x, y = floats(rng, 1001), floats(rng, 1001)
    return [F(0.75), x, InOut(y), I(1001)], [F(0.75) * x + y]


@case(grid="4", block="128")
def reduce_grid_stride(rng):
    x = integers(rng, -(2**31), 2**31 - 1, 3000)
    return [x, InOut(np.zeros(1, "i8")), I(3000)], [[x.sum(dtype="i8")]]


@case(block="256")
def reduce_shuffle(rng):
    x = np.round(floats(rng, 2000) * 2)
    return [x, Out("f4", (1,)), Out("i4", (1,)), I(2000)], [[x.max()], [x.argmax()]]


@case(block="256", shared=1024)
def scan_block(rng):
    x = integers(rng, -100, 100, 256)
    return [x, Out("i4", (256,))], [np.cumsum(x)]


@case(grid="6", block="128")
def scan_chained(rng):
    x = integers(rng, -100, 100, 768)
    sums = np.cumsum(x)
    return [x, Out("i4", (768,)), Out("i4", (6,)), InOut(np.zeros(6, "i4"))], [sums, sums[127::128], np.ones(6)]


@case(grid="3,2", block="32,8")
def transpose(rng):
    x = floats(rng, 50, 70)
    return [x, Out("f4", (70, 50)), I(50), I(70)], [x.T]


@case(grid="4", block="96")
def histogram(rng):
    x = integers(rng, 0, 200, 3000, dtype="u1")
    return [x, InOut(np.zeros(256, "u4")), I(3000)], [np.bincount(x, minlength=256)]


@case(block="256", shared=1024)
def bitonic_sort(rng):
    x = floats(rng, 256)
    return [InOut(x), I(256)], [np.sort(x)]


@case(block="256")
def radix_sort(rng):
    x = integers(rng, 0, 2**32, 256, dtype="u4")
    return [x, Out("u4", (256,))], [np.sort(x)]


@case()
def compact_ballot(rng):
    x = integers(rng, -50, 50, 300)
    kept = x[x > 0]
    return [x, InOut(np.zeros(300, "i4")), Out("i4", (1,)), I(300)], [np.pad(kept, (0, 300 - len(kept))), [len(kept)]]


@case(grid="2", block="64")
def match_aggregate(rng):
    x = integers(rng, 0, 6, 128)
    x[32:64] += 1
    x[64:96] += np.arange(32) * 64
    flags = np.zeros(128, "i4")
    for w in range(0, 128, 32):
        same = len(set(x[w : w + 32] // 64)) == 1
        flags[w : w + 32] = 3 * same + 4 * (x[w : w + 32] == 3).any() + 8 * (x[w : w + 32] > 0).all()
    return [x, InOut(np.zeros(2048, "i4")), Out("i4", (128,))], [np.bincount(x, minlength=2048), flags]


@case(block="64")
def warp_reduce_integers(rng):
    x = integers(rng, -(2**31), 2**31 - 1, 64)
    out = np.zeros((64, 6), "u4")
    for w in range(0, 64, 32):
        for part, kind in ((slice(w, w + 20), "i4"), (slice(w + 20, w + 32), "u4")):
            v, u = x[part].view(kind), x[part].view("u4")
            sums = [v.sum(dtype="i8") & 0xFFFFFFFF, v.min() & 0xFFFFFFFF, v.max() & 0xFFFFFFFF]
            out[part] = sums + [f.reduce(u) for f in (np.bitwise_and, np.bitwise_or, np.bitwise_xor)]
    return [x, Out("i4", (64, 6))], [out.view("i4")]


@case(grid="3,2", block="16,16", tolerance=1e-5)
def matmul_tiled(rng):
    a, b = floats(rng, 30, 37), floats(rng, 37, 41)
    return [a, b, Out("f4", (30, 41)), I(30), I(41), I(37)], [a @ b]


@case(grid="5", block="128", tolerance=1e-6)
def softmax_row(rng):
    x = floats(rng, 5, 300) * 4
    e = np.exp(x.astype("f8") - x.max(axis=1, keepdims=True))
    return [x, Out("f4", (5, 300)), I(300)], [e / e.sum(axis=1, keepdims=True)]


@case(grid="3", block="32,4", tolerance=2e-6)
def layer_norm(rng):
    x, gain, bias = floats(rng, 10, 100), floats(rng, 100), floats(rng, 100)
    w = x.astype("f8")
    y = (w - w.mean(1, keepdims=True)) / np.sqrt(w.var(1, keepdims=True) + 1e-5) * gain + bias
    return [x, gain, bias, Out("f4", (10, 100)), I(10), I(100), F(1e-5)], [y]


@case(grid="2", block="128", tolerance=1e-6)
def convolve_constant(rng):
    x = floats(rng, 200)
    taps = np.array([0.5, -1.0, 2.0, 0.25, 3.0, -0.125, 1.5, 4.0, -2.0], "f4")
    return [x, Out("f4", (200,)), I(200), I(9)], [np.correlate(x, taps, "same")]


@case(grid="3,2", block="16,16", tolerance=1e-6)
def stencil_halo(rng):
    x = floats(rng, 30, 41)
    p = np.pad(x, 1, "edge")
    y = 4 * x - p[:-2, 1:-1] - p[2:, 1:-1] - p[1:-1, :-2] - p[1:-1, 2:]
    return [x, Out("f4", (30, 41)), I(30), I(41)], [y]


@case(grid="2", block="64", tolerance=1e-9)
def solve_local(rng):
    a, b = rng.standard_normal((100, 4, 4)), rng.standard_normal((100, 4))
    return [a, b, Out("f8", (100, 4)), I(100)], [np.linalg.solve(a, b[..., None])[..., 0]]


@case(grid="2", block="48")
def call_graph(_):
    def steps(n):
        count = 0
        while n != 1:
            n, count = (3 * n + 1 if n & 1 else n // 2), count + 1
        return count

    def fold(n):
        low, high, tag = 0, 1, 0
        for i in range(1, n % 7 + 1):
            low, high, tag = low + steps(n + i), high * 3 - i, tag ^ n
        return low, high, tag

    low, high, tag = zip(*map(fold, range(96)))
    return [Out("i4", (96,)), Out("i8", (96,)), Out("i2", (96,))], [low, high, tag]


@case(block="96")
def function_table(rng):
    a, b = integers(rng, -1000, 1000, 96), integers(rng, -1000, 1000, 96)
    return [a, b, Out("i4", (96,))], [np.choose(np.arange(96) % 3, [a + b, (a ^ b) * 31, np.minimum(a, b)])]


@case(grid="3", block="64")
def switch_table(rng):
    x, before = integers(rng, 0, 30000, 150), integers(rng, -9, 9, 150)
    ways = [x * 3, x - 7, x // 3, x // 3, x << 3, x >> 2, -x, x * x, before, np.vectorize(int.bit_count, otypes=["i4"])(x.astype(object)), 1234 + 0 * x]
    return [x, InOut(before), I(150)], [np.choose(x % 11, ways)]


@case(grid="2", block="64", tolerance=1e-12)
def double_math(rng):
    x = rng.standard_normal(100) * 1.2
    v = np.abs(x)
    rounded = np.floor(x) + np.trunc(x) + np.rint(x)
    columns = [np.exp(-x * x), np.log(1 + v), v**1.7, np.tan(x), np.sqrt(v) / 3, x * x - 1, rounded]
    columns.append(np.vectorize(math.erf)(x))
    return [x, Out("f8", (100, 8)), I(100)], [np.stack(columns, 1)]


@case(grid="2", block="64", tolerance=1e-6)
def float_math(rng):
    x = floats(rng, 100)
    w = x.astype("f8")
    v = np.abs(w)
    columns = [np.exp(-w * w), np.log(1 + v), v**1.7, np.tanh(w), np.vectorize(math.erf)(w), w / 3.7, np.sqrt(v)]
    columns += [1 / np.sqrt(v + 1), np.fmod(x, F(0.7)), np.trunc(w + np.copysign(0.5, w))]
    columns += [np.cos((F(300000) * x).astype("f8")), np.exp(w) + w / 2.5]
    return [x, Out("f4", (100, 12)), I(100)], [np.stack(columns, 1)]


@case(grid="2", block="64")
def integer64_math(rng):
    a, b = integers(rng, -(2**62), 2**62, 100, dtype="i8"), integers(rng, 1, 2**40, 100, dtype="i8")
    a[::3] >>= 45
    b[::2] *= -1
    a[0], b[0] = -(2**63), 3
    rows = []
    for x, y in zip(a.tolist(), b.tolist()):
        ux, uy = x % 2**64, y % 2**64
        quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        counts = ux.bit_count() + 100 * (64 - uy.bit_length()) + 10000 * (x & -x).bit_length()
        reverse = int(f"{ux:064b}"[::-1], 2)
        rows.append([quotient, x - quotient * y, x * y >> 64, ux * uy >> 64, ux // uy, ux % uy, counts, reverse])
    want = np.array([[v % 2**64 for v in row] for row in rows], "u8").view("i8")
    return [a, b, Out("i8", (100, 8)), I(100)], [want]


@case(block="32")
def bit_intrinsics(rng):
    a, b = integers(rng, 0, 2**32, 32, dtype="u4"), integers(rng, 0, 2**32, 32, dtype="u4")
    rows = []
    for i, (x, y) in enumerate(zip(a.tolist(), b.tolist())):
        both, signed = y << 32 | x, [v - 2**32 if v >> 31 else v for v in (x, y)]
        picked = sum((both >> 8 * (0x5410 + i >> 4 * k & 7) & 255) << 8 * k for k in range(4))
        sx, sy = (v.to_bytes(4, "little") for v in (x, y))
        dot = sum(int(p) * int(q) for p, q in zip(np.frombuffer(sx, "i1"), np.frombuffer(sy, "i1")))
        wide = x * y + both
        rows.append([picked, both << i >> 32, both >> min(i + 5, 32), dot + i, sum(map(int.__mul__, sx, sy)) + 7])
        rows[-1] += [abs(signed[0] - signed[1]) + i, int(f"{x:032b}"[::-1], 2), 32 - x.bit_length(), x + y >> 1]
        rows[-1] += [signed[0] * signed[1] >> 32, wide, wide >> 32]
    return [a, b, Out("u4", (32, 12))], [np.array([[v % 2**32 for v in row] for row in rows], "u4")]


@case(grid="2", block="64")
def half2_math(rng):
    a, b = (rng.standard_normal(200).astype("f2") for _ in range(2))
    a[5], b[9] = np.nan, np.inf
    fused = (a.astype("f8") * b + a).astype("f2"), (a.astype("f8") * b + b).astype("f2")
    with np.errstate(invalid="ignore"):
        relu = np.where(fused[1] > 0, fused[1], np.where(np.isnan(fused[1]), fused[1], np.float16(0)))
        columns = [a + b, a * b, fused[0], relu, np.minimum(a, b), (a > b).astype("f2")]
    want = np.stack([c.reshape(100, 2) for c in columns], 1)
    return [a, b, Out("f2", (100, 6, 2)), I(100)], [want]


@case(grid="2", block="64")
def bf16_math(rng):
    a, b = (floats(rng, 100).astype(ml_dtypes.bfloat16) for _ in range(2))
    x, y = a.astype("f8"), b.astype("f8")
    # A double's rounding of these sums is exact, so that one rounding is left.
    columns = [x + y, x * y, x * y + y, (a.astype("f4") * F(2.7)).astype("f8")]
    want = np.stack([round_to_bf16(c) for c in columns], 1)
    return [a.view("u2"), b.view("u2"), Out("u2", (100, 4)), I(100)], [want]


def round_to_bf16(doubles):
    """Codes, rounded to nearest even in one step; normal numbers only."""
    bits = doubles.view("u8")
    keep = np.uint64(45)  # of the 52 fraction bits 7 stay
    half = (np.uint64(1) << (keep - np.uint64(1))) - np.uint64(1) + (bits >> keep & np.uint64(1))
    rounded = ((bits + half) >> keep << keep).view("f8")
    return rounded.astype("f4").view("u4").__rshift__(16).astype("u2")


@case(grid="2", block="64")
def fp8_convert(rng):
    x = floats(rng, 100, 2) * np.exp2(rng.uniform(-12, 12, (100, 2))).astype("f4")
    x[3] = [1e9, -np.inf]
    p = np.clip(x, -448, 448).astype(ml_dtypes.float8_e4m3fn)
    q = np.clip(x, -57344, 57344).astype(ml_dtypes.float8_e5m2)
    codes = [v.view("u1").reshape(100, 2).copy().view("u2")[:, 0] for v in (p, q)]
    outs = [Out("u2", (100,)), Out("u2", (100,)), Out("f4", (100, 2))]
    return [x, *outs, I(100)], [*codes, p.astype("f4") + q.astype("f4")]


@case(grid="2,3", block="32")
def wmma_gemm(rng):
    a, b = (integers(rng, -4, 5, n, 64).astype("f2") for n in (48, 32))
    return [a, b, Out("f4", (48, 32)), I(32), I(64)], [2 * (a.astype("f4") @ b.astype("f4").T)]


@case()
def wmma_int8(rng):
    a, b = integers(rng, -128, 128, 32, 16, dtype="i1"), integers(rng, -128, 128, 16, 8, dtype="i1")
    return [a, b, Out("i4", (8, 32))], [(a.astype("i4") @ b.astype("i4") + 1).T]


@case()
def wmma_tf32(rng):
    a, b = integers(rng, -1000, 1000, 16, 8), integers(rng, -1000, 1000, 16, 8)
    # The last of 8 more bits than TF32 has is rounded away.
    x, y = ((v + np.where(v > 0, 2.0**-10, 0) * (np.abs(v) >= 512)).astype("f4") for v in (a, b))
    return [x, y, Out("f4", (16, 16))], [(a @ b.T).astype("f4")]


@case(grid="3,2", block="16,16", tolerance=1e-5)
def cp_async_gemm(rng):
    a, b = floats(rng, 32, 64), floats(rng, 64, 48)
    return [a, b, Out("f4", (32, 48)), I(48), I(64)], [a @ b]


@case()
def cp_async_zero_fill(rng):
    x = floats(rng, 32, 4)
    want = x.copy()
    want[0::2, 1:] = 0
    want[1::2, 2:] = 0
    return [x, Out("f4", (32, 4))], [want]


@case(grid="3", block="128")
def memcpy_async_group(rng):
    x = integers(rng, -1000, 1000, 3, 256)
    return [x, Out("i4", (3, 256))], [x[:, ::-1]]


@case(grid="2", block="64")
def tiled_partition(rng):
    x = integers(rng, -1000, 1000, 128)
    tiles = x.reshape(-1, 8)
    scans = np.cumsum(tiles, 1) - tiles + 1000 * (np.arange(16) % 8)[:, None]
    return [x, Out("i4", (16,)), Out("i4", (128,))], [tiles.sum(1), scans.ravel()]


@case(grid="1", block="32")
def coalesced_groups(rng):
    x = integers(rng, 0, 1000, 30)
    kept = x[x > 500]
    want = np.pad(kept, (0, 30 - len(kept)))
    return [x, InOut(np.zeros(30, "i4")), InOut(np.zeros(1, "i4")), I(30)], [want, [len(kept)]]


@case(grid="2", block="64")
def cas_loop(rng):
    x = rng.standard_normal(128)
    kinds = np.array([0, 0, 0, 0, -1, 0, 0, 0], "i4")
    i = np.arange(128)
    either = np.bitwise_or.reduce(1 << i % 31)
    want = [-20, 127, 0, either, ~np.bitwise_or.reduce(1 << i % 30), -i.sum(), 128 % 37, (51 - 128 % 51) % 51]
    outputs = [[x.max()], [pow(3, 128, 2**32)], want]
    return [x, InOut(np.full(1, -1e30)), InOut(np.ones(1, "u4")), InOut(kinds)], outputs


@case(grid="3", block="64")
def spin_lock(_):
    return [InOut(np.zeros(1, "i4")), InOut(np.zeros(1, "i4"))], [[0], [192]]


@case(grid="6", block="128")
def last_block(rng):
    x = integers(rng, -1000, 1000, 5000)
    parts = [sum(x[j : j + 128].sum() for j in range(128 * b, 5000, 768)) for b in range(6)]
    return [x, Out("i4", (6,)), Out("i4", (1,)), I(5000)], [parts, [x.sum()]]
