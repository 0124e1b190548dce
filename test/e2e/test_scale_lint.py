"""Warnings about scales: each names tensor, block or element, value and remedy. None of them for healthy models."""
import pathlib

import numpy as np
import quaver
from onnx import TensorProto, helper, numpy_helper

MODELS = pathlib.Path(__file__).resolve().parents[1] / "models"


def product(weight):
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, weight.shape[0]])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, weight.shape[1]])
    node = helper.make_node("MatMul", ["x", "w"], ["y"], name="product")
    graph = helper.make_graph([node], "g", [x], [y], [numpy_helper.from_array(weight, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)


def warnings_of(model, tmp_path, precision):
    return quaver.compile(model, output=str(tmp_path / "m.quaver"), precision=precision).warnings


def test_a_nan_in_a_weight(tmp_path):
    weight = np.random.default_rng(1).standard_normal((256, 384)).astype(np.float32)
    weight[130, 260] = np.nan
    said = warnings_of(product(weight), tmp_path, "fp8")
    assert 'weight "w", block [1, 2] of 128x128: 1 of its values are NaN or Inf' in said and 'match: "w"' in said


def test_one_value_hides_the_others(tmp_path):
    weight = np.random.default_rng(1).standard_normal((256, 384)).astype(np.float32)
    weight[3, 140] = 1e7
    said = warnings_of(product(weight), tmp_path, "fp8")
    assert 'weight "w", block [0, 1] of 128x128:' in said and "values round to zero beside one of" in said and "1x128" in said
    assert "round to zero" not in warnings_of(product(weight), tmp_path, "bf16")


def test_a_scale_of_zero_in_the_file(tmp_path):
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], name="quantize"),
             helper.make_node("DequantizeLinear", ["q", "s"], ["y"], name="dequantize")]
    scale = numpy_helper.from_array(np.float32(0), "s")
    zero = helper.make_tensor("z", TensorProto.FLOAT8E4M3FN, [], [0])
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in "xy"]
    model = helper.make_model(helper.make_graph(nodes, "g", infos[:1], infos[1:], [scale, zero]),
                              opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
    said = warnings_of(model, tmp_path, "source")
    assert 'node "quantize"' in said and "is 0" in said and "at element 0" in said


def test_healthy_models_are_not_warned_of(tmp_path):
    for name in ("bert-tiny", "bert-tiny-fp8-qdq", "cnn-tiny-unfolded"):
        said = warnings_of(str(MODELS / f"{name}.onnx"), tmp_path, "fp8")
        assert "scale" not in said and "round to zero" not in said, said
