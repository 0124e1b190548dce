"""Every model of test/models, compiled once, gives its recorded outputs at two batch and sequence sizes."""
import json
import os
import pathlib
import subprocess

import numpy as np
import pytest
import quaver

MODELS = pathlib.Path(__file__).resolve().parents[1] / "models"
BIN = pathlib.Path(os.environ["QUAVER_BUILD"]) / "bin"
FLOAT = sorted(p for p in MODELS.glob("*.onnx") if "fp8" not in p.name)
TOLERANCE = 2e-4  # of the output's largest magnitude
TARGETS = json.loads(subprocess.run([BIN / "quaver", "doctor", "--json", "-", "-q"], capture_output=True, check=True).stdout)["targets"]
RUNS_HERE = [name for name, t in TARGETS.items() if t["runs"]]


def cases(model):
    data = np.load(str(model)[: -len(".onnx")] + ".io.npz")
    for case in ("", "2"):
        inputs = {k.split(":", 1)[1]: data[k] for k in data.files if k.startswith(f"in{case}:")}
        outputs = {k.split(":", 1)[1]: data[k] for k in data.files if k.startswith(f"out{case}:")}
        if inputs:
            yield inputs, outputs


def relative_error(got, want):
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    assert got.shape == want.shape
    if want.size == 0:
        return 0.0
    assert np.isfinite(got).all()
    return float(np.abs(got - want).max() / max(np.abs(want).max(), 1e-30))


def compiled(model, folder, **options):
    artifact = str(folder / "m.quaver")
    quaver.compile(str(model), output=artifact, **options)
    session = quaver.Session(artifact)
    return session, [o.name for o in session.get_outputs()]


@pytest.mark.parametrize("model", FLOAT, ids=lambda p: p.stem)
def test_outputs(model, tmp_path):
    session, names = compiled(model, tmp_path, precision="fp32")
    ran = 0
    for inputs, outputs in cases(model):
        got = dict(zip(names, session.run(None, inputs)))
        for name, want in outputs.items():
            assert relative_error(got[name], want) <= TOLERANCE, name
        ran += 1
    assert ran == 2


@pytest.mark.parametrize("model", FLOAT, ids=lambda p: p.stem)
def test_interpreter(model, tmp_path):
    for inputs, outputs in cases(model):
        command = [BIN / "quaver-interpret", model]
        for name, value in inputs.items():
            np.save(tmp_path / "in.npy", value)
            path = tmp_path / f"in{len(command)}.npy"
            (tmp_path / "in.npy").rename(path)
            command += ["--input", f"{name}=@{path}"]
        paths = {name: tmp_path / f"out{i}.npy" for i, name in enumerate(outputs)}
        for name, path in paths.items():
            command += ["--output", f"{name}=@{path}"]
        subprocess.run(command, check=True, capture_output=True)
        for name, want in outputs.items():
            assert relative_error(np.load(paths[name]), want) <= TOLERANCE, name


@pytest.mark.parametrize("target", RUNS_HERE)
@pytest.mark.parametrize("precision, bound", [("bf16", 40), ("fp8", 17), ("fp8-weights", 20)])
def test_precisions_on_every_target_that_runs_here(target, precision, bound, tmp_path):
    """Bounds in dB; measured are 42.1, 18.1, 22.3 at least. Random weights of 64 columns are harder than trained ones."""
    model = MODELS / "bert-tiny.onnx"
    artifact = str(tmp_path / "m.quaver")
    quaver.compile(str(model), output=artifact, precision=precision, target=target)
    session = quaver.Session(artifact, target=target)
    for inputs, outputs in cases(model):
        for name, got in zip([o.name for o in session.get_outputs()], session.run(None, inputs)):
            noise = ((got - outputs[name]) ** 2).sum()
            assert 10 * np.log10((outputs[name] ** 2).sum() / noise) > bound


def test_explicit_quantization_is_honoured(tmp_path):
    """Q/DQ around products, as onnxruntime's quantizer writes it: against ONNX's own evaluator."""
    model = MODELS / "bert-tiny-fp8-qdq.onnx"
    session, names = compiled(model, tmp_path, strict=True)
    data = np.load(str(model)[: -len(".onnx")] + ".io.npz")
    for case, (inputs, _) in zip(("", "2"), cases(model), strict=True):
        for name, got in zip(names, session.run(None, inputs)):
            want = data[f"reference{case}:{name}"].astype(np.float64)
            noise = ((got - want) ** 2).sum()
            assert noise == 0 or 10 * np.log10((want**2).sum() / noise) >= 60, name


def test_code_for_another_cpu_is_refused(tmp_path):
    """Every target compiles everywhere; what the CPU lacks is named when it is loaded."""
    assert "x86-64-v3" in RUNS_HERE and len(TARGETS) == 3
    for target, about in TARGETS.items():
        artifact = str(tmp_path / "m.quaver")
        quaver.compile(str(MODELS / "mlp-train.onnx"), output=artifact, target=target)
        if about["runs"]:
            assert quaver.Session(artifact).run(None, {"features": np.zeros((1, 48), np.float32)})
        else:
            with pytest.raises(quaver.Error, match=about["missing"][0]):
                quaver.Session(artifact)


def test_one_artifact_for_several_targets(tmp_path):
    model = MODELS / "bert-tiny.onnx"

    def size(*targets):
        path = tmp_path / "m.quaver"
        quaver.compile(str(model), output=str(path), target=list(targets))
        return path.stat().st_size

    # These two want FP32 weights in the same layout: they share them. Another layout is another blob.
    assert size("x86-64-v4", "x86-64-v4+bf16") < 1.7 * size("x86-64-v4")
    size("x86-64-v3", "x86-64-v4")
    inputs, outputs = next(cases(model))
    got = quaver.Session(str(tmp_path / "m.quaver"), target="x86-64-v3").run(None, inputs)[0]
    assert relative_error(got, next(iter(outputs.values()))) <= TOLERANCE


def test_bytes_are_deterministic(tmp_path):
    model = str(MODELS / "bert-tiny.onnx")
    files = []
    for name in ("a", "b"):
        quaver.compile(model, output=str(tmp_path / name), precision="fp8")
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1]
