"""The command line: what it prints, its exit codes, and that every mistake is one clear message."""
import json
import os
import pathlib
import random
import subprocess

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ["QUAVER_BUILD"]) / "bin"
BERT = ROOT / "test" / "models" / "bert-tiny.onnx"
OK, ERROR, USAGE = 0, 1, 2
INPUTS = ["--input", "input_ids=2x8xi64=rand(0,256)", "--input", "attention_mask=2x8xi64=1"]


def quaver(*args):
    return subprocess.run([BIN / "quaver", *map(str, args)], capture_output=True, text=True, timeout=120)


def refused(code, *args, says=()):
    """The command fails with `code` and one message on stderr that holds all of `says`."""
    r = quaver(*args)
    assert r.returncode == code, r.stderr
    if code == ERROR:
        assert r.stderr.startswith("quaver: error: ")
    for text in says:
        assert text in r.stderr, r.stderr
    return r


@pytest.fixture(scope="module")
def artifact(tmp_path_factory):
    path = tmp_path_factory.mktemp("driver") / "bert.quaver"
    r = quaver("compile", BERT, "-o", path, "--precision", "fp8", "--report", path.with_suffix(".json"))
    assert r.returncode == OK, r.stderr
    return path


def matmul(path, rows=4, weight=None):
    w = numpy_helper.from_array(np.eye(4, dtype=np.float32) if weight is None else weight, "w")
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"], name="product")], "g",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, [rows, w.dims[0]])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [rows, w.dims[1]])], [w])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


def test_run_writes_outputs(artifact, tmp_path):
    out = tmp_path / "y.npy"
    assert quaver("run", artifact, *INPUTS, "--output", f"pooler_output=@{out}").returncode == OK
    assert np.load(out).shape == (2, 64)
    ids = np.random.default_rng(0).integers(0, 256, (3, 5))
    np.save(tmp_path / "ids.npy", ids)
    np.save(tmp_path / "mask.npy", np.ones_like(ids))
    r = quaver("run", artifact, "--input", f"input_ids=@{tmp_path}/ids.npy", "--input", f"attention_mask=@{tmp_path}/mask.npy",
               "--json", "-", "-q", "--threads", 1, "--seed", 3, "--device", "host")
    shapes = {o["name"]: o["shape"] for o in json.loads(r.stdout)["outputs"]}
    assert shapes["pooler_output"] == [3, 64]


def test_equal_seeds_make_equal_runs(artifact):
    first, again, other = (quaver("run", artifact, *INPUTS, "--seed", s).stdout for s in (1, 1, 2))
    assert first == again != other


def test_run_refuses_wrong_inputs(artifact, tmp_path):
    refused(ERROR, "run", artifact, says=["input_ids", "attention_mask", "i64[batch, sequence]"])
    refused(ERROR, "run", artifact, *INPUTS, "--input", "ids=1xf32=0", says=["'ids'", "input_ids"])
    refused(ERROR, "run", artifact, INPUTS[0], "input_ids=2x8xf32=0", *INPUTS[2:], says=["input_ids", "f32", "i64[batch, sequence]"])
    refused(ERROR, "run", artifact, INPUTS[0], "input_ids=2x8x1xi64=0", *INPUTS[2:], says=["input_ids", "rank"])
    refused(ERROR, "run", artifact, INPUTS[0], "input_ids=2x9xi64=0", *INPUTS[2:], says=["sequence"])
    refused(ERROR, "run", artifact, INPUTS[0], "input_ids=@none.npy", *INPUTS[2:], says=["input_ids", "none.npy"])
    refused(ERROR, "run", artifact, INPUTS[0], "input_ids=2x8xi64=often", *INPUTS[2:], says=["often", "rand(LOW,HIGH)"])
    np.save(tmp_path / "f.npy", np.zeros((2, 8), np.float32))
    refused(ERROR, "run", artifact, INPUTS[0], f"input_ids=@{tmp_path}/f.npy", *INPUTS[2:], says=["<f4", "astype"])
    refused(ERROR, "run", artifact, *INPUTS, "--output", "z=@z.npy", says=["'z'", "pooler_output"])
    refused(ERROR, "run", artifact, *INPUTS, "--entry", "decode", says=["decode", "main"])
    refused(ERROR, "run", artifact, *INPUTS, "--target", "sm_90a", says=["sm_90a"])
    refused(USAGE, "run", artifact, *INPUTS, "--threads", "-1")
    refused(USAGE, "run", artifact, *INPUTS, "--output", "y")


def test_a_dimension_outside_its_range(tmp_path):
    out = tmp_path / "m.quaver"
    assert quaver("compile", BERT, "-o", out, "--dim", "sequence=1:8").returncode == OK
    assert quaver("run", out, *INPUTS).returncode == OK
    refused(ERROR, "run", out, "--input", "input_ids=1x9xi64=0", "--input", "attention_mask=1x9xi64=1", says=["sequence", "8"])
    refused(USAGE, "compile", BERT, "-o", out, "--dim", "sequence", says=["--dim sequence"])
    refused(ERROR, "compile", BERT, "-o", out, "--dim", "length=1:8", says=["length", "sequence"])


def test_inspect(artifact, tmp_path):
    text = quaver("inspect", artifact).stdout
    for expected in ("x86-64", "i64[batch, sequence]", "precision fp8"):
        assert expected in text
    assert "launch" in quaver("inspect", artifact, "--plan").stdout
    table = quaver("inspect", artifact, "--precision").stdout
    assert "e4m3" in table.lower() and "reason" in table.splitlines()[0]
    assert json.loads(quaver("inspect", artifact, "--json", "-").stdout)["path"] == str(artifact)
    refused(ERROR, "inspect", artifact, "--weight", "nothing", "-o", tmp_path / "w.npz", says=["nothing"])
    refused(USAGE, "inspect", artifact, "--weight", "nothing")


@pytest.mark.parametrize("precision", ["fp32", "fp8", "fp8-weights"])
@pytest.mark.parametrize("shape", [(160, 96), (128, 256), (7, 130)])
def test_inspect_unpacks_weights(precision, shape, tmp_path):
    """Codes times scales give the weight back, whatever layout the kernel wanted."""
    weight = np.random.default_rng(3).standard_normal(shape).astype(np.float32)
    model, out = matmul(tmp_path / "m.onnx", weight=weight), tmp_path / "m.quaver"
    assert quaver("compile", model, "-o", out, "--precision", precision).returncode == OK
    r = quaver("inspect", out, "--weight", "w", "-o", tmp_path / "w.npz")
    assert r.returncode == OK, r.stderr
    found = np.load(tmp_path / "w.npz")
    if precision == "fp32":
        np.testing.assert_array_equal(found["values"], weight)
        return
    import ml_dtypes

    codes = found["codes"].view(ml_dtypes.float8_e4m3fn).astype(np.float32)
    scales = found["scales"]
    wide = np.kron(scales, np.ones((128, 128), np.float32))[: codes.shape[0], : codes.shape[1]]
    assert codes.shape == shape
    largest = np.abs(weight).max()
    assert np.abs(codes * wide - weight).max() < largest / 16


def test_compare(tmp_path):
    r = quaver("compare", BERT, "--precision", "fp8", "--json", tmp_path / "c.json", "--top", 3)
    assert r.returncode == OK, r.stderr
    report = json.loads((tmp_path / "c.json").read_text())
    effects = [op["effect_db"] for op in report["ops"] if op["share"] is not None]
    assert effects == sorted(effects) and 5 < effects[0] < 60
    assert report["outputs"][-1]["sqnr_db"] > 15
    exact = json.loads(quaver("compare", BERT, "--precision", "source", "--json", "-", "-q").stdout)
    assert all(op["sqnr_db"] is None for op in exact["ops"]) and len(exact["ops"]) > 20
    refused(ERROR, "compare", BERT, "--input", "x=1xf32=0", says=["x", "input_ids"])


def test_bench_and_doctor(artifact):
    r = quaver("bench", artifact, *INPUTS, "--seconds", 0, "--runs", 2, "--json", "-", "-q")
    assert 0 < json.loads(r.stdout)["median_ms"] < 1e4
    report = json.loads(quaver("doctor", "--json", "-", "-q").stdout)
    assert quaver("--version").stdout == f"quaver {report['version']}\n" and report["version"] == report["compiler"]["version"]
    assert report["host_target"] in report["compiler"]["targets"] and "fp8" in report["compiler"]["precisions"]
    assert "QUAVER_TRACE" in report["environment"]


def test_trace(artifact, tmp_path):
    """QUAVER_TRACE names a file for Chrome's trace viewer: every launch is in it."""
    file = tmp_path / "trace.json"
    subprocess.run([BIN / "quaver", "run", artifact, *INPUTS, "-q"], env={**os.environ, "QUAVER_TRACE": str(file)}, check=True)
    trace = json.loads(file.read_text())
    names = [e["name"] for e in (trace["traceEvents"] if isinstance(trace, dict) else trace)]
    assert names.count("run") == 1 and names.count("launch") > 10


def test_compile_refuses(tmp_path):
    out = tmp_path / "o.quaver"
    refused(ERROR, "compile", tmp_path / "none.onnx", "-o", out, says=["none.onnx"])
    refused(ERROR, "compile", tmp_path, "-o", out, says=[str(tmp_path)])
    (tmp_path / "text.onnx").write_text("hello " * 99)
    refused(ERROR, "compile", tmp_path / "text.onnx", "-o", out, says=["text.onnx"])
    raw = BERT.read_bytes()
    (tmp_path / "cut.onnx").write_bytes(raw[: len(raw) // 2])
    refused(ERROR, "compile", tmp_path / "cut.onnx", "-o", out, says=["cut.onnx"])
    refused(ERROR, "compile", BERT, "-o", out, "--precision", "fp7", says=["fp7", "fp8-weights"])
    refused(ERROR, "compile", BERT, "-o", out, "--target", "sm_10", says=["sm_10", "x86-64-v3"])
    refused(USAGE, "compile", BERT)
    refused(USAGE, "translate", BERT)
    refused(ERROR, "compile", BERT, "-o", tmp_path / "no" / "o.quaver", says=["no/o.quaver"])
    assert not out.exists()


def test_everything_unsupported_is_listed_at_once(tmp_path):
    graph = helper.make_graph(
        [helper.make_node("Mystery", ["x"], ["a"], name="first", domain="com.example"),
         helper.make_node("StringSplit", ["a"], ["b", "c"], name="second")], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])], [helper.make_tensor_value_info("c", TensorProto.INT64, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid("com.example", 1)], ir_version=9)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    refused(ERROR, "compile", tmp_path / "m.onnx", "-o", tmp_path / "o.quaver", says=["first", "second", "Mystery", "StringSplit"])
    assert not (tmp_path / "o.quaver").exists()


def test_external_data_stays_in_its_folder(tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "w.bin").write_bytes(np.eye(4, dtype=np.float32).tobytes())
    path = matmul(tmp_path / "model" / "m.onnx")
    model = onnx.load(path)
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL

    def point(location, length="64"):
        del tensor.external_data[:]
        for key, value in (("location", location), ("offset", "0"), ("length", length)):
            tensor.external_data.add(key=key, value=value)
        path.write_bytes(model.SerializeToString())

    out = tmp_path / "o.quaver"
    for location in ("../w.bin", "/etc/passwd", "a/../../w.bin"):
        point(location)
        refused(ERROR, "compile", path, "-o", out, says=[location])
    (tmp_path / "model" / "link.bin").symlink_to(tmp_path / "w.bin")
    point("link.bin")
    refused(ERROR, "compile", path, "-o", out, says=["link.bin"])
    (tmp_path / "model" / "w.bin").write_bytes(np.eye(4, dtype=np.float32).tobytes())
    point("w.bin", "99999999")
    refused(ERROR, "compile", path, "-o", out, says=["w.bin"])
    point("w.bin")
    assert quaver("compile", path, "-o", out).returncode == OK


def test_damaged_artifacts(artifact, tmp_path):
    good, draw = artifact.read_bytes(), random.Random(7)
    bad = tmp_path / "bad.quaver"
    for size in (0, 10, len(good) // 2, len(good) - 1):
        bad.write_bytes(good[:size])
        refused(ERROR, "inspect", bad, says=["bad.quaver"])
    for _ in range(20):
        flipped = bytearray(good)
        flipped[draw.randrange(len(good))] ^= 1 << draw.randrange(8)
        bad.write_bytes(flipped)
        refused(ERROR, "run", bad, *INPUTS, says=["bad.quaver"])
    refused(ERROR, "inspect", BERT, says=["bert-tiny.onnx"])
    refused(ERROR, "inspect", tmp_path / "none.quaver", says=["none.quaver"])
