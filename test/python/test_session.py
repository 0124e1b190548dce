"""quaver.Session on artifacts made by hand."""

import threading

import ml_dtypes
import numpy as np
import pytest

import quaver

W = np.arange(12, dtype=np.float32).reshape(4, 3)


@pytest.fixture
def matmul(artifacts):
    return quaver.Session(artifacts / "matmul.quaver", threads=2)


def test_describes_itself(matmul):
    (x,), (y,) = matmul.get_inputs(), matmul.get_outputs()
    assert (x.name, x.shape, x.type, x.dtype) == ("x", ["batch", 4], "tensor(float)", np.float32)
    assert (y.name, y.shape, y.type) == ("y", ["batch", 3], "tensor(float)")
    assert matmul.entries == ["main"] and matmul.target == "x86-64-v3" and matmul.threads == 2
    assert "batch" in matmul.peak_formula()
    assert quaver.__version__


@pytest.mark.parametrize("rows", [1, 5, 64])
def test_runs(matmul, rows):
    x = np.random.default_rng(rows).integers(-9, 9, (rows, 4)).astype(np.float32)
    (y,) = matmul.run(None, {"x": x})
    assert y.dtype == np.float32 and y.shape == (rows, 3)
    np.testing.assert_array_equal(y, 2 * (x @ W))
    np.testing.assert_array_equal(matmul.run(["y"], {"x": x})[0], y)
    assert matmul.memory()["run_high_water"] > 0


def test_takes_what_numpy_takes(matmul):
    want = 2 * (np.ones((2, 4), np.float32) @ W)
    strided = np.ones((4, 8), np.float32)[::2, ::2]
    for x in ([[1, 1, 1, 1], [1, 1, 1, 1]], strided, np.ones((2, 4), np.float32, order="F"), np.ones((2, 4), ">f4")):
        np.testing.assert_array_equal(matmul.run(None, {"x": x})[0], want)
    crooked = np.zeros(33, np.uint8)[1:].view(np.float32).reshape(2, 4)
    assert not crooked.flags.aligned
    matmul.run(None, {"x": crooked})


def test_results_outlive_the_session(artifacts):
    (y,) = quaver.Session(artifacts / "matmul.quaver").run(None, {"x": np.ones((1, 4), np.float32)})
    np.testing.assert_array_equal(y, [[36, 44, 52]])
    y += 1  # and are the caller's to change


def test_run_into(matmul):
    y = np.zeros((2, 3), np.float32)
    matmul.run_into({"y": y}, {"x": np.ones((2, 4), np.float32)})
    np.testing.assert_array_equal(y, [[36, 44, 52]] * 2)
    with pytest.raises(quaver.InvalidArgument, match="float64, expected float32"):
        matmul.run_into({"y": y.astype(np.float64)}, {"x": np.ones((2, 4), np.float32)})
    with pytest.raises(quaver.InvalidArgument, match="24 bytes"):
        matmul.run_into({"y": y[:1]}, {"x": np.ones((2, 4), np.float32)})
    with pytest.raises(quaver.InvalidArgument, match="contiguous"):
        matmul.run_into({"y": np.zeros((3, 2), np.float32).T}, {"x": np.ones((2, 4), np.float32)})


@pytest.mark.parametrize(
    "inputs, outputs, error, parts",
    [
        ({}, None, quaver.InvalidArgument, ["'x' is missing"]),
        ({"X": np.ones((1, 4), np.float32)}, None, quaver.InvalidArgument, ["'X'", "takes 'x'"]),
        ({"x": np.ones((1, 4))}, None, ValueError, ["'x'", "f64", "f32"]),
        ({"x": np.ones((1, 4), ml_dtypes.bfloat16)}, None, ValueError, ["bf16"]),
        ({"x": np.ones((1, 4), complex)}, None, ValueError, ["complex128", "expected float32"]),
        ({"x": np.array([["a"] * 4])}, None, ValueError, ["<U1"]),
        ({"x": np.ones((1, 5), np.float32)}, None, ValueError, ["dimension 1", "is 5", "expected 4"]),
        ({"x": np.ones(4, np.float32)}, None, ValueError, ["rank 1", "[batch, 4]"]),
        ({"x": np.ones((65, 4), np.float32)}, None, ValueError, ["'batch'", "at most 64"]),
        ({"x": np.ones((1, 4), np.float32)}, ["z"], ValueError, ["'z'", "'y'"]),
        ({"x": np.ones((1, 4), np.float32)}, "y", ValueError, ["list of names"]),
        ([np.ones((1, 4), np.float32)], None, ValueError, ["dictionary"]),
    ],
)
def test_wrong_calls(matmul, inputs, outputs, error, parts):
    with pytest.raises(error) as caught:
        matmul.run(outputs, inputs)
    for part in parts:
        assert part in str(caught.value)


def test_wrong_sessions(artifacts, tmp_path):
    path = artifacts / "matmul.quaver"
    with pytest.raises(quaver.NotFound, match="none.quaver"):
        quaver.Session(tmp_path / "none.quaver")
    with pytest.raises(quaver.NotFound, match="cuda"):
        quaver.Session(path, device="cuda:0")
    with pytest.raises(quaver.NotFound, match="x86-64-v3"):
        quaver.Session(path, target="sm_90a")
    with pytest.raises(quaver.Error, match="threads"):
        quaver.Session(path, threads=-1)
    with pytest.raises(quaver.NotFound, match="'main'"):
        quaver.Session(path).get_inputs("prefill")
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    (tmp_path / "damaged.quaver").write_bytes(damaged)
    with pytest.raises(quaver.Error):
        quaver.Session(tmp_path / "damaged.quaver")


def test_data_dependent_sizes(artifacts):
    session = quaver.Session(artifacts / "nonzero.quaver")
    for x in ([0, 1, 0, 2], [0, 0], [], [5, 6, 7]):
        indices, doubled = session.run(None, {"x": np.array(x, np.float32)})
        assert indices.tolist() == np.flatnonzero(x).tolist() and doubled.tolist() == (2 * np.flatnonzero(x)).tolist()
    assert session.get_outputs()[0].shape == ["count"]


def test_sizes_without_a_bound(artifacts):
    session = quaver.Session(artifacts / "range.quaver")
    for count in (3, 0, 100):
        assert session.run(None, {"count": np.array([count], np.int32)})[0].tolist() == list(range(0, 2 * count, 2))
    assert session.memory()["dynamic_high_water"] == 800


def test_control_flow(artifacts):
    session = quaver.Session(artifacts / "control.quaver")
    run = lambda flag, limit: int(session.run(None, {"flag": np.array([flag]), "limit": np.array([limit])})[0][0])
    assert (run(True, 1000), run(True, 1), run(False, 5)) == (1024, 1, -1)
    with pytest.raises(quaver.Error, match="limit must have one row"):
        session.run(None, {"flag": np.array([True]), "limit": np.array([1, 2])})


def test_states(artifacts):
    session = quaver.Session(artifacts / "counter.quaver", seed=9)
    step = lambda **kw: int(session.run(None, {"by": np.array([5])}, entry="step", **kw)[0][0])
    assert (step(), step()) == (105, 110)
    mine = session.create_states()
    assert step(states=mine) == 105
    assert mine.names() == ["count", "quaver.random"]
    assert mine.save("count").tolist() == [105] and mine.save("quaver.random").tolist() == [9, 0]
    mine.load("count", np.array([7]))
    assert step(states=mine) == 12
    session.states.reset("count")
    assert session.run(None, {}, entry="read")[0].tolist() == [100]
    with pytest.raises(quaver.NotFound, match="'count'"):
        mine.save("cuont")
    with pytest.raises(quaver.InvalidArgument, match="int64"):
        mine.load("count", np.array([7.0]))


def test_many_threads(matmul):
    wrong = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(100):
            x = rng.integers(-9, 9, (rng.integers(1, 65), 4)).astype(np.float32)
            if not np.array_equal(matmul.run(None, {"x": x})[0], 2 * (x @ W)):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not wrong


class OnlyDlpack:
    """A tensor of some other library."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **kwargs):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_dlpack_in_and_out(matmul):
    x = np.ones((2, 4), np.float32)
    (y,) = matmul.run(None, {"x": OnlyDlpack(x)})
    np.testing.assert_array_equal(y, [[36, 44, 52]] * 2)
    (t,) = matmul.run_dlpack(None, {"x": x})
    np.testing.assert_array_equal(np.from_dlpack(t), y)
    np.testing.assert_array_equal(matmul.run(None, {"x": OnlyDlpack(x)}, None)[0], y)
    with pytest.raises(quaver.InvalidArgument, match="contiguous"):
        matmul.run(None, {"x": OnlyDlpack(np.ones((4, 2), np.float32).T)})
    with pytest.raises(quaver.InvalidArgument, match="i64"):
        matmul.run(None, {"x": OnlyDlpack(np.ones((2, 4), np.int64))})


def test_ml_dtypes_and_scalars(artifacts):
    session = quaver.Session(artifacts / "copy.quaver")
    a = np.array([1, 2, 3]).astype(ml_dtypes.bfloat16)
    b = np.array([0.5, -1, 448]).astype(ml_dtypes.float8_e4m3fn)
    x, y, z = session.run(None, {"a": a, "b": b, "c": np.bool_(True)})
    assert (x.dtype, y.dtype, z.dtype, z.shape) == (a.dtype, b.dtype, np.bool_, ())
    assert (x == a).all() and (y == b).all() and z
    assert [i.type for i in session.get_inputs()] == ["tensor(bfloat16)", "tensor(float8e4m3fn)", "tensor(bool)"]
    # What numpy cannot export goes in and out by DLPack.
    tensors = session.run_dlpack(["x", "y"], {"a": a, "b": b, "c": np.array(False)})
    again = session.run(None, {"a": tensors[0], "b": tensors[1], "c": np.array(False)})
    assert (again[0] == a).all() and (again[1] == b).all() and not again[2]
