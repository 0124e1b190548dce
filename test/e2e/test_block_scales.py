"""FP8 weights with 128x128 scales as exporters write them (Gather, then DequantizeLinear along one axis): the codes and scales stay as
they are, and matrix kernels read them."""
import json
import os
import pathlib
import subprocess
import zipfile

import ml_dtypes
import numpy as np
import pytest
import quaver
from onnx import TensorProto, helper, numpy_helper

BUILD = pathlib.Path(os.environ.get("QUAVER_BUILD", pathlib.Path(__file__).resolve().parents[2] / "build"))


def product(codes, scales, positions):
    n, k = codes.shape
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["m", k])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["m", n])
    nodes = [helper.make_node("Gather", ["scales", "positions"], ["rows"], axis=0),
             helper.make_node("DequantizeLinear", ["codes", "rows"], ["w"], axis=1, block_size=128),
             helper.make_node("Transpose", ["w"], ["wt"], perm=[1, 0]),
             helper.make_node("MatMul", ["x", "wt"], ["y"], name="product")]
    weights = [helper.make_tensor("codes", TensorProto.FLOAT8E4M3FN, codes.shape, codes.tobytes(), raw=True),
               numpy_helper.from_array(scales, "scales"), numpy_helper.from_array(positions, "positions")]
    return helper.make_model(helper.make_graph(nodes, "g", [x], [y], weights), opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


@pytest.mark.parametrize("n, k", [(256, 384), (200, 300), (72, 192)])
def test_kernels_read_codes(n, k, tmp_path):
    rng = np.random.default_rng(5)
    codes = rng.standard_normal((n, k)).astype(np.float32).astype(ml_dtypes.float8_e4m3fn)
    scales = rng.uniform(0.5, 2, (-(-n // 128), -(-k // 128))).astype(np.float32)
    artifact = str(tmp_path / "m.quaver")
    quaver.compile(product(codes, scales, np.arange(n) // 128), output=artifact)
    with zipfile.ZipFile(artifact) as z:
        targets = json.loads(z.read("report.json"))["targets"]
        stored = sum(i.file_size for i in z.infolist() if i.filename.startswith("blobs/"))
    assert any("e4m3" in kernel["description"] for target in targets.values() for kernel in target["kernels"])
    assert stored < 3 * n * k  # never wide
    x = rng.standard_normal((5, k)).astype(np.float32)
    wide = codes.astype(np.float32) * np.repeat(np.repeat(scales, 128, 0), 128, 1)[:n, :k]
    got = quaver.Session(artifact).run(None, {"x": x})[0]
    np.testing.assert_allclose(got, x @ wide.T, rtol=1e-4, atol=1e-4)


def test_other_positions_mean_what_they_say(tmp_path):
    rng = np.random.default_rng(6)
    codes = rng.standard_normal((256, 256)).astype(np.float32).astype(ml_dtypes.float8_e4m3fn)
    scales = rng.uniform(0.5, 2, (2, 2)).astype(np.float32)
    positions = 1 - np.arange(256) // 128  # the other way round
    artifact = str(tmp_path / "m.quaver")
    quaver.compile(product(codes, scales, positions), output=artifact)
    x = rng.standard_normal((3, 256)).astype(np.float32)
    wide = codes.astype(np.float32) * np.repeat(scales[positions], 128, 1)
    np.testing.assert_allclose(quaver.Session(artifact).run(None, {"x": x})[0], x @ wide.T, rtol=1e-4, atol=1e-4)


def test_inspect_gives_back_codes_and_scales(tmp_path):
    rng = np.random.default_rng(7)
    codes = rng.standard_normal((200, 300)).astype(np.float32).astype(ml_dtypes.float8_e4m3fn)
    scales = rng.uniform(0.5, 2, (2, 3)).astype(np.float32)
    artifact, unpacked = tmp_path / "m.quaver", tmp_path / "w.npz"
    quaver.compile(product(codes, scales, np.arange(200) // 128), output=str(artifact))
    subprocess.run([BUILD / "bin" / "quaver", "inspect", artifact, "--weight", "codes", "-o", unpacked], check=True, capture_output=True)
    halves = np.load(unpacked)
    assert halves["codes"].tobytes() == codes.tobytes()
    assert halves["scales"].tobytes() == scales.tobytes()
