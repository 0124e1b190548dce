"""Precision policies from file to artifact: presets, files, decisions in the report, and what is said of mistakes."""
import json
import pathlib
import zipfile

import pytest
import quaver

MODELS = pathlib.Path(__file__).resolve().parents[1] / "models"
MODEL = str(MODELS / "deepseek-v3-tiny-batched.onnx")

MISTAKES = {
    "empty": ("", ":1: the policy is empty"),
    "number": ("rules: 7", ":1: rules: must be a list of maps"),
    "key": ("rulez: []", ":1: rulez: is unknown; allowed: rules, training"),
    "format": ("rules:\n  - match: '*'\n    lhs: e9m9", ":3: lhs: \"e9m9\" is unknown; allowed: e4m3,"),
    "idle": ("rules:\n  - match: 'no_such_node_*'\n    lhs: e4m3\n    rhs: e4m3", ":2: rules: this rule selects no op"),
    "yaml": ("rules: [", "is not YAML"),
    "binary": ("\0\1", ":1: is not text"),
    "recipe": ("rules:\n  - match: '*'\n    recipe: 7x7", ":3: recipe: \"7x7\" is unknown; allowed: 128x128,"),
}


def decisions(artifact):
    with zipfile.ZipFile(artifact) as z:
        return json.loads(z.read("report.json"))["precision_decisions"]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_name_file_and_line(mistake, tmp_path):
    text, said = MISTAKES[mistake]
    policy = tmp_path / "policy.yaml"
    policy.write_text(text)
    with pytest.raises(quaver.Error) as error:
        quaver.compile(MODEL, output=str(tmp_path / "m.quaver"), precision=str(policy))
    assert f"{policy}" in str(error.value) and said in str(error.value)
    assert len(str(error.value)) < 1500
    assert not (tmp_path / "m.quaver").exists()


def test_unknown_names(tmp_path):
    for name, said in (("fp33", "there is source, fp32"), ("nofile.yaml", "cannot be read")):
        with pytest.raises(quaver.Error, match=said):
            quaver.compile(MODEL, output=str(tmp_path / "m.quaver"), precision=name)


def test_one_format_per_layer_kind(tmp_path):
    artifact = str(tmp_path / "m.quaver")
    quaver.compile(MODEL, output=artifact, precision="deepseek-671b")
    table = {}
    for d in decisions(artifact):
        table.setdefault(d["kind"], set()).add((d["lhs"], d["rhs"], d["recipe"]))
        assert d["reason"].startswith("preset deepseek-671b:") and not d["fallback"]
    assert table["embedding"] == {("fp16", "", "")}
    assert table["attention_qkv"] == {("e4m3", "e4m3", "128x128")}
    assert table["attention_output"] == {("fp16", "fp16", "")}
    assert table["expert"] == {("e5m2", "e5m2", "128x128")}
    assert table["router"] == {("e4m3", "e4m3", "128x128")}
    assert table["output_head"] == {("fp16", "fp16", "")}


def test_rules_of_a_file(tmp_path):
    policy = tmp_path / "policy.yaml"
    policy.write_text("rules:\n  - kind: router\n    lhs: fp32\n    rhs: fp32\n    reason: discrete\n  - position: last\n    lhs: bf16\n    rhs: bf16\n"
                      "  - match: '*'\n    lhs: e4m3\n    rhs: e4m3\n    recipe: per_channel\n")
    artifact = str(tmp_path / "m.quaver")
    quaver.compile(MODEL, output=artifact, precision=str(policy))
    products = [d for d in decisions(artifact) if d["op"] == "matmul"]
    assert products[-1]["lhs"] == "bf16" and products[-1]["reason"] == f"{policy}:6: output_head"
    assert {d["recipe"] for d in products if d["kind"] == "router"} == {""}
    assert all(d["reason"] == f"{policy}:2: discrete" for d in products if d["kind"] == "router")
    assert all(d["recipe"] == "per_channel" for d in products[:-1] if d["kind"] != "router")
    quaver.Session(artifact)


def test_weights_are_stored_as_codes(tmp_path):
    artifact = str(tmp_path / "m.quaver")
    quaver.compile(str(MODELS / "bert-tiny.onnx"), output=artifact, precision="fp8")
    with zipfile.ZipFile(artifact) as z:
        stored = sum(i.file_size for i in z.infolist() if i.filename.startswith("blobs/"))
    quaver.compile(str(MODELS / "bert-tiny.onnx"), output=artifact, precision="fp32")
    with zipfile.ZipFile(artifact) as z:
        wide = sum(i.file_size for i in z.infolist() if i.filename.startswith("blobs/"))
    assert stored < 0.5 * wide  # codes, never a wide copy beside them
