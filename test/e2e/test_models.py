"""Every model of test/models, compiled once, gives its recorded outputs at two batch and sequence sizes."""
import pathlib

import numpy as np
import pytest
import quaver

MODELS = pathlib.Path(__file__).resolve().parents[1] / "models"
FLOAT = sorted(p for p in MODELS.glob("*.onnx") if "fp8" not in p.name)
TOLERANCE = 2e-4  # of the output's largest magnitude


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


@pytest.mark.parametrize("model", FLOAT, ids=lambda p: p.stem)
def test_outputs(model, tmp_path):
    artifact = str(tmp_path / "m.quaver")
    quaver.compile(str(model), output=artifact, precision="fp32")
    session = quaver.Session(artifact)
    names = [o.name for o in session.get_outputs()]
    ran = 0
    for inputs, outputs in cases(model):
        got = dict(zip(names, session.run(None, inputs)))
        for name, want in outputs.items():
            assert relative_error(got[name], want) <= TOLERANCE, name
        ran += 1
    assert ran == 2


def test_bytes_are_deterministic(tmp_path):
    model = str(MODELS / "bert-tiny.onnx")
    files = []
    for name in ("a", "b"):
        quaver.compile(model, output=str(tmp_path / name), precision="fp8")
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1]
