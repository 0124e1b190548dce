"""--weights: initializers bound to safetensors tensors by name, FP8 codes kept bit for bit with their scales."""
import json
import os
import pathlib
import subprocess

import ml_dtypes
import numpy as np
import pytest
import quaver
from onnx import TensorProto, helper, numpy_helper

BUILD = pathlib.Path(os.environ.get("QUAVER_BUILD", pathlib.Path(__file__).resolve().parents[2] / "build"))
DTYPES = {"float32": "F32", "bfloat16": "BF16", "float16": "F16", "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2",
          "float8_e8m0fnu": "F8_E8M0", "int64": "I64"}
N, K, BLOCK = 200, 300, 128


def write_safetensors(path, tensors, edit=None):
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, value in tensors.items():
        raw = np.ascontiguousarray(value).tobytes()
        header[name] = {"dtype": DTYPES[value.dtype.name], "shape": list(value.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header)
    text = edit(text) if edit else text
    path.write_bytes(len(text).to_bytes(8, "little") + text.encode() + data)


def linear(shape=(N, K), element=TensorProto.FLOAT):
    """y = x W^T + b with weights "layer.weight" and "layer.bias", zeros in the file itself."""
    n, k = shape
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["m", k])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["m", n])
    nodes = [helper.make_node("Cast", ["layer.weight"], ["w"], to=TensorProto.FLOAT),
             helper.make_node("Transpose", ["w"], ["wt"], perm=[1, 0]),
             helper.make_node("MatMul", ["x", "wt"], ["p"], name="product"),
             helper.make_node("Add", ["p", "layer.bias"], ["y"])]
    zeros = np.zeros((n, k), helper.tensor_dtype_to_np_dtype(element))
    weights = [helper.make_tensor("layer.weight", element, (n, k), zeros.tobytes(), raw=True),
               numpy_helper.from_array(np.zeros(n, np.float32), "layer.bias")]
    return helper.make_model(helper.make_graph(nodes, "g", [x], [y], weights), opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def checkpoint(scale_shape, suffix="_scale_inv", scale_type=np.float32, code_type=ml_dtypes.float8_e4m3fn):
    rng = np.random.default_rng(7)
    codes = rng.standard_normal((N, K)).astype(np.float32).astype(code_type)
    scales = (2.0 ** rng.integers(-3, 4, scale_shape)).astype(scale_type)
    wide = scales.astype(np.float32)
    if wide.ndim == 2 and wide.shape[1] > 1:
        wide = np.repeat(np.repeat(wide, BLOCK, 0), BLOCK, 1)[:N, :K]
    elif wide.ndim == 1 and wide.size == N:
        wide = wide[:, None]
    bias = rng.standard_normal(N).astype(np.float32)
    return {"layer.weight": codes, "layer.weight" + suffix: scales, "layer.bias": bias}, codes.astype(np.float32) * wide, bias


def check(artifact, weight, bias):
    x = np.random.default_rng(8).integers(-4, 5, (5, K)).astype(np.float32)
    got = quaver.Session(artifact).run(None, {"x": x})[0]
    np.testing.assert_allclose(got, x @ weight.T + bias, rtol=1e-5, atol=1e-3)


TILES = (-(-N // BLOCK), -(-K // BLOCK))


@pytest.mark.parametrize("shape, suffix, scale_type, code_type, recipe", [
    (TILES, "_scale_inv", np.float32, ml_dtypes.float8_e4m3fn, "128x128"),
    (TILES, "_scale_inv", ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, "128x128"),
    (TILES, "_scale_inv", ml_dtypes.float8_e8m0fnu, ml_dtypes.float8_e4m3fn, "128x128"),
    ((N, 1), "_scale", np.float32, ml_dtypes.float8_e4m3fn, "per_channel"),
    ((N,), "_scale", np.float32, ml_dtypes.float8_e5m2, "per_channel"),
    ((), "_scale", np.float32, ml_dtypes.float8_e4m3fn, "per_tensor"),
    ((1,), "_scale", np.float32, ml_dtypes.float8_e4m3fn, "per_tensor"),
])
def test_codes_and_scales_stay(shape, suffix, scale_type, code_type, recipe, tmp_path):
    tensors, weight, bias = checkpoint(shape, suffix, scale_type, code_type)
    write_safetensors(tmp_path / "model.safetensors", tensors)
    artifact = tmp_path / "m.quaver"
    made = quaver.compile(linear(), output=artifact, weights=tmp_path)
    assert "3 tensors" in made.warnings
    check(artifact, weight, bias)
    subprocess.run([BUILD / "bin" / "quaver", "inspect", artifact, "--weight", "layer.weight", "-o", tmp_path / "w.npz", "-q"], check=True)
    stored = np.load(tmp_path / "w.npz")
    assert stored["codes"].tobytes() == tensors["layer.weight"].tobytes()
    assert stored["scales"].tobytes() == tensors["layer.weight" + suffix].tobytes()
    described = subprocess.run([BUILD / "bin" / "quaver", "inspect", artifact, "--json", "-", "-q"], check=True, capture_output=True, text=True)
    weights = {w["name"]: w for w in json.loads(described.stdout)["weights"]}
    assert weights["layer.weight"]["recipe"] == recipe


def test_bf16_checkpoint_of_an_fp32_model(tmp_path):
    rng = np.random.default_rng(9)
    weight = rng.standard_normal((N, K)).astype(ml_dtypes.bfloat16)
    bias = rng.standard_normal(N).astype(np.float32)
    write_safetensors(tmp_path / "model.safetensors", {"layer.weight": weight, "layer.bias": bias, "extra": bias})
    made = quaver.compile(linear(), weights=tmp_path)
    assert "1 are not used by the model: \"extra\"" in made.warnings
    check(made, weight.astype(np.float32), bias)


@pytest.mark.parametrize("model_prefix, checkpoint_prefix", [("wrapped.", ""), ("", "model.")])
def test_one_more_part_before_all_names(model_prefix, checkpoint_prefix, tmp_path):
    tensors, weight, bias = checkpoint(TILES)
    write_safetensors(tmp_path / "model.safetensors", {checkpoint_prefix + k: v for k, v in tensors.items()})
    model = linear()
    for owner in [*model.graph.initializer]:
        owner.name = model_prefix + owner.name
    for node in model.graph.node:
        for i, name in enumerate(node.input):
            node.input[i] = model_prefix + name if name.startswith("layer.") else name
    made = quaver.compile(model, weights=tmp_path)
    assert (model_prefix or checkpoint_prefix) in made.warnings
    check(made, weight, bias)


def test_codes_that_nothing_reads_are_told(tmp_path):
    tensors, _, bias = checkpoint(TILES)
    write_safetensors(tmp_path / "model.safetensors", renamed(tensors, "layer.weight", "another.weight"))
    assert "1 of these hold FP8 codes" in quaver.compile(linear(), weights=tmp_path).warnings


def test_shards_by_an_index(tmp_path):
    tensors, weight, bias = checkpoint(TILES)
    shards = {"model-00001-of-00002.safetensors": ["layer.weight"],
              "model-00002-of-00002.safetensors": ["layer.weight_scale_inv", "layer.bias"]}
    for name, parts in shards.items():
        write_safetensors(tmp_path / name, {p: tensors[p] for p in parts})
    index = {"metadata": {}, "weight_map": {p: name for name, parts in shards.items() for p in parts}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    check(quaver.compile(linear(), weights=tmp_path), weight, bias)
    for where, message in (("../model.safetensors", "same folder"), ("model-00002-of-00002.safetensors", "is not in")):
        broken = {**index, "weight_map": {**index["weight_map"], "layer.weight": where}}
        (tmp_path / "model.safetensors.index.json").write_text(json.dumps(broken))
        with pytest.raises(quaver.errors.Error, match=message):
            quaver.compile(linear(), weights=tmp_path)


def without(tensors, name):
    return {k: v for k, v in tensors.items() if k != name}


def renamed(tensors, old, new):
    return {new if k == old else k: v for k, v in tensors.items()}


@pytest.mark.parametrize("change, messages", [
    (lambda t: without(t, "layer.weight_scale_inv"), ["\"layer.weight\"", "has no scale", "layer.weight_scale_inv"]),
    (lambda t: renamed(t, "layer.weight_scale_inv", "layer.weight_scales"), ["\"layer.weight\"", "rename", "\"layer.weight_scales\""]),
    (lambda t: {**t, "layer.weight_scale_inv": t["layer.weight_scale_inv"][:, :-1]}, ["\"layer.weight_scale_inv\"", "does not fit", "\"layer.weight\"", "128x128"]),
    (lambda t: {**t, "layer.weight_scale": t["layer.weight_scale_inv"]}, ["two scales"]),
    (lambda t: {**t, "layer.weight_scale_inv": np.ones(TILES, np.int64)}, ["does not fit", "expected floats"]),
    (lambda t: {**t, "layer.weight": t["layer.weight"][:-1]}, ["layer.weight", "shapes differ"]),
    (lambda t: {**t, "layer.bias": np.zeros(N, np.int64)}, ["layer.bias", "element types differ"]),
    (lambda t: {"other": t["layer.bias"]}, ["none of its 1 tensors", "other"]),
])
def test_what_does_not_fit_is_named(change, messages, tmp_path):
    write_safetensors(tmp_path / "model.safetensors", change(checkpoint(TILES)[0]))
    with pytest.raises(quaver.errors.Error) as error:
        quaver.compile(linear(), weights=tmp_path)
    for message in messages:
        assert message in str(error.value)


@pytest.mark.parametrize("edit, message", [
    (lambda t: t.replace('"F32"', '"F31"'), "dtype"),
    (lambda t: t.replace("[200]", "[201]"), "takes 804 bytes"),
    (lambda t: t.replace("[200]", "[-200]"), "impossible shape"),
    (lambda t: t.replace("[200]", "[281474976710656, 281474976710656]"), "impossible shape"),
    (lambda t: t.replace('"layer.bias"', '"layer.weight"'), "two tensors are called"),
    (lambda t: t.replace('"data_offsets": [0, 60000]', '"data_offsets": [1, 60001]'), "hole"),
    (lambda t: t.replace('"data_offsets": [60000,', '"data_offsets": [59999,').replace("60024]", "60023]"), "overlap"),
    (lambda t: t[:-1], "not a JSON object"),
    (lambda t: "[]", "not a JSON object"),
])
def test_broken_files(edit, message, tmp_path):
    write_safetensors(tmp_path / "model.safetensors", checkpoint(TILES)[0], edit)
    with pytest.raises(quaver.errors.Error, match=message):
        quaver.compile(linear(), weights=tmp_path)


def test_truncated_and_missing_files(tmp_path):
    path = tmp_path / "model.safetensors"
    write_safetensors(path, checkpoint(TILES)[0])
    whole = path.read_bytes()
    for size in (0, 7, 100, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(quaver.errors.Error, match="safetensors"):
            quaver.compile(linear(), weights=tmp_path)
    with pytest.raises(quaver.errors.Error):
        quaver.compile(linear(), weights=tmp_path / "nowhere")
    path.unlink()
    with pytest.raises(quaver.errors.Error, match="neither"):
        quaver.compile(linear(), weights=tmp_path)
