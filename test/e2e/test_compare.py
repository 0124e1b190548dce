"""quaver compare: each figure on models where it is known, and that keeping the worst op wide helps."""
import csv
import html.parser
import json
import os
import pathlib
import subprocess

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ["QUAVER_BUILD"]) / "bin"
BERT = ROOT / "test" / "models" / "bert-tiny.onnx"


def compare(model, *args, code=0):
    """The report of one comparison."""
    r = subprocess.run([BIN / "quaver", "compare", str(model), "--json", "-", "-q", *map(str, args)], capture_output=True, text=True,
                       timeout=120)
    assert r.returncode == code, r.stderr
    return json.loads(r.stdout)


def by_node(report):
    return {op["node"]: op for op in report["ops"]}


def save(path, nodes, inputs, outputs, initializers=(), opset=19):
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)  # noqa: E731
    graph = helper.make_graph(nodes, "g", [value(*i) for i in inputs], [value(*o) for o in outputs],
                              [numpy_helper.from_array(w, n) if isinstance(w, np.ndarray) else w for n, w in initializers])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9), path)
    return path


def chain(path, names=("first", "bad", "last")):
    """x -> first -> bad -> last -> y, and aside of them x -> apart -> z. Only `bad` has a weight that E4M3 cannot hold: all
    else are integers and powers of two."""
    eye = np.eye(8, dtype=np.float32)
    rough = eye * np.float32(1 + 1 / 16) + np.float32(0.5) * np.roll(eye, 1, 0)
    weights = dict(zip(names, (2 * eye, rough, np.roll(eye, 2, 1))))
    nodes, value = [], "x"
    for i, name in enumerate(names):
        out = "y" if i == 2 else f"v{i}"
        nodes.append(helper.make_node("MatMul", [value, f"w{i}"], [out], name=name))
        value = out
    nodes.append(helper.make_node("MatMul", ["x", "w2"], ["z"], name="apart"))
    return save(path, nodes, [("x", [4, 8])], [("y", [4, 8]), ("z", [4, 8])], [(f"w{i}", weights[n]) for i, n in enumerate(names)])


def policy(path, *rules):
    path.write_text("rules:\n" + "".join(rules) + "  - match: '*'\n    lhs: fp32\n    rhs: fp32\n")
    return path


BAD_RULE = "  - match: bad\n    lhs: e4m3\n    rhs: e4m3\n    recipe: per_tensor\n"


@pytest.fixture(scope="module")
def integers(tmp_path_factory):
    """Inputs that E4M3 holds exactly under one scale: 448 makes it 1."""
    path = tmp_path_factory.mktemp("inputs") / "x.npy"
    x = np.random.default_rng(5).integers(-4, 5, (4, 8)).astype(np.float32)
    x[0, 0] = 224
    np.save(path, x)
    return path


def test_only_the_bad_op_has_an_error_of_its_own(tmp_path, integers):
    report = compare(chain(tmp_path / "m.onnx"), "--precision", policy(tmp_path / "p.yaml", BAD_RULE), "--input", f"x=@{integers}")
    ops = by_node(report)
    assert [n for n, op in ops.items() if op["own_sqnr_db"] is not None] == ["bad"]
    assert [n for n, op in ops.items() if op["sqnr_db"] is not None] == ["bad", "last"]
    bad, last = ops["bad"], ops["last"]
    # The largest of the weight, 1 + 1/16, decides the scale; 1/2 lies between two codes then.
    assert bad["own_sqnr_db"] == bad["sqnr_db"] == pytest.approx(last["sqnr_db"])
    assert 20 < bad["sqnr_db"] < 60
    assert bad["own_max_error"] == bad["max_error"] == last["max_error"] > 0 and last["own_max_error"] == 0
    assert bad["share"] == 1 and bad["effect_db"] == pytest.approx(report["outputs"][0]["sqnr_db"])
    assert report["ops"][0]["node"] == "bad" and bad["decision"] == "e4m3 x e4m3 per_tensor -> fp32"
    assert [i["node"] for i in last["inputs"]] == ["bad"] and [i["node"] for i in bad["inputs"]] == ["first"]
    assert report["outputs"][1]["sqnr_db"] is None


def test_bisect(tmp_path, integers):
    model, rules = chain(tmp_path / "m.onnx"), policy(tmp_path / "p.yaml", BAD_RULE)
    common = [model, "--precision", rules, "--input", f"x=@{integers}"]
    found = compare(*common, "--bisect", "sqnr=90dB", code=1)["bisect"]["found"]
    assert found["node"] == "bad" and found["own_exceeds"] and found["inputs"] == [{"node": "first", "sqnr_db": None}]
    assert compare(*common, "--bisect", "max=1e-6", code=1)["bisect"]["found"]["node"] == "bad"
    assert compare(*common, "--bisect", "sqnr=3dB")["bisect"]["found"] is None
    r = subprocess.run([BIN / "quaver", "compare", *map(str, common), "--bisect", "sqnr=90dB"], capture_output=True, text=True)
    assert r.returncode == 1 and 'the first op that exceeds sqnr=90dB is "bad"' in r.stdout and 'it reads "first"' in r.stdout
    r = subprocess.run([BIN / "quaver", "compare", *map(str, common), "--bisect", "30"], capture_output=True, text=True)
    assert r.returncode == 2 and "sqnr=30dB" in r.stderr


def test_inherited_errors_are_not_the_next_ops_own(tmp_path, integers):
    """Two bad ops: each has its own, the second inherits the first one's on top."""
    rules = policy(tmp_path / "p.yaml", "  - match: '*a*d*'\n    lhs: e4m3\n    rhs: e4m3\n    recipe: per_tensor\n")
    ops = by_node(compare(chain(tmp_path / "m.onnx", ("bad1", "bad2", "last")), "--precision", rules, "--input", f"x=@{integers}"))
    one, two = ops["bad1"], ops["bad2"]
    assert one["own_sqnr_db"] is None  # powers of two
    assert two["own_sqnr_db"] is not None and ops["last"]["own_sqnr_db"] is None


def quantize_model(path, scale, x, axis=None):
    attributes = {} if axis is None else {"axis": axis}
    codes = helper.make_tensor("zero", TensorProto.FLOAT8E4M3FN, list(np.shape(scale)), np.zeros(np.size(scale)))
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "zero"], ["q"], name="quantize", **attributes),
             helper.make_node("DequantizeLinear", ["q", "s"], ["d"], name="dequantize", **attributes),
             helper.make_node("Relu", ["d"], ["y"], name="reader")]
    return save(path, nodes, [("x", list(x.shape))], [("y", list(x.shape))], [("s", np.asarray(scale, np.float32)), ("zero", codes)])


def test_shares_of_given_scales(tmp_path):
    x = np.array([[500, 464, -1000, 2.0**-10, 2.0**-11, 0, 1, 3]], np.float32)
    np.save(tmp_path / "x.npy", x)
    report = compare(quantize_model(tmp_path / "m.onnx", 1.0, x), "--precision", "source", "--input", f"x=@{tmp_path}/x.npy")
    (q,) = report["quantizations"]
    assert (q["elements"], q["values"]) == (8, 7) and q["tensor"] == "x" and q["weight"] == "" and q["format"] == "e4m3"
    assert q["saturated"] == pytest.approx(2 / 7) and q["underflowed"] == pytest.approx(2 / 7)
    assert q["scale_min"] == q["scale_max"] == 1 and q["read_by"] == ["reader"]
    assert q["histogram"] == {"low": -11, "counts": [1, 1] + [0] * 9 + [1, 1] + [0] * 6 + [2, 1]}
    assert by_node(report)["reader"]["saturated"] == q["saturated"]


def test_shares_per_axis(tmp_path):
    x = np.full((4, 2), 600, np.float32)
    x[3] = [2.0**-12, 1]
    np.save(tmp_path / "x.npy", x)
    model = quantize_model(tmp_path / "m.onnx", np.float32([1, 2]), x, axis=1)
    (q,) = compare(model, "--precision", "source", "--input", f"x=@{tmp_path}/x.npy")["quantizations"]
    assert q["saturated"] == 3 / 8 and q["underflowed"] == 1 / 8 and (q["scale_min"], q["scale_max"]) == (1, 2)


def test_shares_of_dynamic_scales(tmp_path):
    """Weights and activations: 448 makes a block's scale 1, so that 2^-10 vanishes and 2^-9 does not."""
    x, w = np.zeros((2, 128), np.float32), np.zeros((128, 8), np.float32)
    x[0, :4] = [448, 2.0**-10, 2.0**-9, -(2.0**-11)]
    x[1, :2] = [224, 2.0**-10]  # scale 1/2
    w[:3, 0] = [448, 2.0**-10, 1]
    np.save(tmp_path / "x.npy", x)
    model = save(tmp_path / "m.onnx", [helper.make_node("MatMul", ["x", "w"], ["y"], name="product")], [("x", [2, 128])],
                 [("y", [2, 8])], [("w", w)])
    report = compare(model, "--precision", "fp8", "--input", f"x=@{tmp_path}/x.npy")
    found = {q["tensor"]: q for q in report["quantizations"]}
    a, b = found["x"], found["w"]
    assert a["values"] == 6 and a["underflowed"] == pytest.approx(2 / 6) and a["saturated"] == 0
    assert (a["scale_min"], a["scale_max"]) == (0.5, 1)
    assert b["values"] == 3 and b["underflowed"] == pytest.approx(1 / 3) and b["weight"] == "w" and b["recipe"] == "128x128"
    assert a["read_by"] == b["read_by"] == ["product"] and sorted(by_node(report)["product"]["quantizations"]) == [0, 1]
    # An OCP MX scale rounds down: 500 lies beyond 448 under the scale 2^0.
    x[1, :2] = [500, 1]
    np.save(tmp_path / "x.npy", x)
    report = compare(model, "--precision", "fp8-mx", "--input", f"x=@{tmp_path}/x.npy")
    assert {q["tensor"]: q["saturated"] for q in report["quantizations"]} == {"x": pytest.approx(1 / 6), "w": 0}


class Page(html.parser.HTMLParser):
    """Everything that a page holds; void elements aside, tags must close in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.text = [], [], [], ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *a) for a in attrs]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *a) for a in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def check_self_contained(page):
    assert not {"script", "link", "img", "iframe", "object"} & set(page.tags)
    assert not [a for a in page.attributes if a[1] in ("src", "href") or a[1].startswith("on")]


def test_csv_and_html(tmp_path, integers):
    names = ('<script>alert("1")</script>', "bad", "x,y & 'z'\"")
    report = compare(chain(tmp_path / "m.onnx", names), "--precision", policy(tmp_path / "p.yaml", BAD_RULE), "--csv",
                     tmp_path / "c.csv", "--html", tmp_path / "c.html", "--input", f"x=@{integers}", "--bisect", "sqnr=90dB", code=1)
    with open(tmp_path / "c.csv", newline="") as f:
        rows = list(csv.DictReader(f))
    assert [r["node"] for r in rows] == [op["node"] for op in report["ops"]] and set(names) < {r["node"] for r in rows}
    for row, op in zip(rows, report["ops"]):
        assert float(row["own_sqnr_db"] or "nan") == pytest.approx(op["own_sqnr_db"] or float("nan"), nan_ok=True)
        assert row["inputs"].split("; ") == ([i["node"] for i in op["inputs"]] or [""])
    page = Page((tmp_path / "c.html").read_text())
    check_self_contained(page)
    assert all(name in page.text for name in names) and page.tags.count("svg") >= 2
    headings = page.text[page.text.index("Worst nodes"):]
    assert headings.index("bad") < headings.index("Outputs")
    missing = tmp_path / "no" / "c.html"
    r = subprocess.run([BIN / "quaver", "compare", tmp_path / "m.onnx", "--html", missing], capture_output=True, text=True)
    assert r.returncode == 1 and str(missing) in r.stderr


def test_compile_report_as_page(tmp_path):
    r = subprocess.run([BIN / "quaver", "compile", BERT, "-o", tmp_path / "m.quaver", "--precision", "fp8", "--report",
                        tmp_path / "r.html"], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    page = Page((tmp_path / "r.html").read_text())
    check_self_contained(page)
    assert "e4m3 x e4m3 128x128" in page.text and "preset fp8" in page.text and "attention_qkv" in page.text


def test_the_worst_op_kept_wide_helps(tmp_path):
    inputs = ["--input", "input_ids=2x12xi64=rand(0,256)", "--input", "attention_mask=2x12xi64=1", "--seed", 4]
    before = compare(BERT, "--precision", "fp8", *inputs)
    worst = before["ops"][0]
    assert worst["share"] == max(op["share"] or 0 for op in before["ops"]) or worst["effect_db"] <= before["ops"][1]["effect_db"]
    assert sum({op["node"]: op["share"] or 0 for op in before["ops"]}.values()) == pytest.approx(1)
    preset = (ROOT / "compiler/Precision/Policy/presets/fp8.yaml").read_text()
    rule = f"rules:\n  - match: '{worst['node']}'\n    lhs: fp32\n    rhs: fp32\n"
    (tmp_path / "p.yaml").write_text(preset.replace("rules:\n", rule, 1))
    after = compare(BERT, "--precision", tmp_path / "p.yaml", *inputs)
    noise = lambda report: sum(10 ** (-o["sqnr_db"] / 10) for o in report["outputs"])  # noqa: E731
    assert noise(after) < 0.95 * noise(before)
    assert by_node(after)[worst["node"]]["own_sqnr_db"] is None


def test_every_model_compares():
    """States, loops, experts and shapes that data decides; source precision differs from itself nowhere."""
    for model in sorted((ROOT / "test" / "models").glob("*.onnx")):
        if "fp8" in model.name or "train" in model.name:
            continue
        report = compare(model, "--precision", "source", "--effects", 4)
        assert len(report["ops"]) > 10 and all(op["sqnr_db"] is None and op["own_sqnr_db"] is None for op in report["ops"]), model.name
        report = compare(model, "--precision", "bf16", "--effects", 4)
        assert sum(op["share"] is not None for op in report["ops"]) >= 4, model.name
