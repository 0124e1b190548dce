"""attention24-cache-hand: a decoder layer in the composite operators of opset 24, with a cache; written by hand."""
import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from recording import FOLDER, record

WIDTH, HEADS, KV_HEADS, HEAD, POSITIONS, EPSILON = 64, 4, 2, 16, 64, 1e-5


def weights():
    draw = np.random.default_rng(31)
    normal = lambda *shape: draw.standard_normal(shape).astype(np.float32)  # noqa: E731
    angle = np.arange(POSITIONS)[:, None] / 10000.0 ** (np.arange(HEAD // 2) / (HEAD // 2))
    return {"gain": 1 + 0.2 * normal(WIDTH), "wq": normal(WIDTH, HEADS * HEAD) / 7, "wk": normal(WIDTH, KV_HEADS * HEAD) / 7,
            "wv": normal(WIDTH, KV_HEADS * HEAD) / 7, "wo": normal(WIDTH, HEADS * HEAD) / 7, "bo": 0.1 * normal(WIDTH),
            "cos": np.cos(angle).astype(np.float32), "sin": np.sin(angle).astype(np.float32)}


def model(w):
    node, value = helper.make_node, helper.make_tensor_value_info
    nodes = [node("RMSNormalization", ["x", "gain"], ["normed"], epsilon=EPSILON)]
    nodes += [node("MatMul", ["normed", f"w{i}"], [i]) for i in "qkv"]
    nodes += [node("RotaryEmbedding", [i, "cos", "sin", "position_ids"], [f"{i}_turned"], num_heads=n)
              for i, n in (("q", HEADS), ("k", KV_HEADS))]
    nodes += [
        node("Attention", ["q_turned", "k_turned", "v", "", "past_key", "past_value"], ["mixed", "present_key", "present_value"],
             q_num_heads=HEADS, kv_num_heads=KV_HEADS, is_causal=1),
        node("Reshape", ["mixed", "rows"], ["mixed_rows"]), node("Gemm", ["mixed_rows", "wo", "bo"], ["projected"], transB=1),
        node("Shape", ["x"], ["shape"]), node("Reshape", ["projected", "shape"], ["out"]), node("Add", ["x", "out"], ["y"])]
    inputs = [value("x", TensorProto.FLOAT, ["batch", "sequence", WIDTH]),
              value("position_ids", TensorProto.INT64, ["batch", "sequence"])]
    inputs += [value(f"past_{h}", TensorProto.FLOAT, ["batch", KV_HEADS, "past", HEAD]) for h in ("key", "value")]
    outputs = [value("y", TensorProto.FLOAT, ["batch", "sequence", WIDTH])]
    outputs += [value(f"present_{h}", TensorProto.FLOAT, ["batch", KV_HEADS, "past + sequence", HEAD]) for h in ("key", "value")]
    constants = w | {"rows": np.array([-1, HEADS * HEAD], np.int64)}
    graph = helper.make_graph(nodes, "layer", inputs, outputs, [numpy_helper.from_array(a, k) for k, a in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=11)


def eager(w, x, position_ids, past_key, past_value):
    """The same from first principles."""
    w = {k: torch.from_numpy(a) for k, a in w.items()}
    normed = x / (x.pow(2).mean(-1, keepdim=True) + EPSILON).sqrt() * w["gain"]
    split = lambda t: t.unflatten(-1, (-1, HEAD)).transpose(1, 2)  # noqa: E731

    def turned(t):
        a, b = t.chunk(2, -1)
        cos, sin = w["cos"][position_ids][:, None], w["sin"][position_ids][:, None]
        return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)

    q = turned(split(normed @ w["wq"]))
    k = torch.cat([past_key, turned(split(normed @ w["wk"]))], 2)
    v = torch.cat([past_value, split(normed @ w["wv"])], 2)
    past, length = past_key.shape[2], x.shape[1]
    hidden = torch.arange(past + length) > torch.arange(past, past + length)[:, None]
    wide_k, wide_v = (t.repeat_interleave(HEADS // KV_HEADS, 1) for t in (k, v))
    scores = (q @ wide_k.transpose(-1, -2) / HEAD**0.5).masked_fill(hidden, float("-inf"))
    y = x + (scores.softmax(-1) @ wide_v).transpose(1, 2).flatten(2) @ w["wo"].T + w["bo"]
    return y, k, v


def case(seed, batch, sequence, past):
    draw = torch.Generator().manual_seed(seed)
    normal = lambda *shape: torch.randn(shape, generator=draw)  # noqa: E731
    return {"x": normal(batch, sequence, WIDTH), "position_ids": torch.arange(past, past + sequence).repeat(batch, 1),
            "past_key": normal(batch, KV_HEADS, past, HEAD), "past_value": normal(batch, KV_HEADS, past, HEAD)}


def make():
    w, path = weights(), FOLDER / "attention24-cache-hand.onnx"
    onnx.save(model(w), path)
    record(path, lambda **inputs: eager(w, **inputs), [case(32, 2, 1, 6), case(33, 3, 3, 2)])
