"""GPU artifacts on the sim device: the recorded answers, and no diagnostic whatever the order of warps. Where ptxas is found, it takes
the PTX without spills."""
import os
import pathlib
import re
import shutil
import subprocess
import zipfile

import numpy as np
import pytest
import quaver

MODELS = pathlib.Path(__file__).resolve().parents[1] / "models"
FLOAT_MODELS = sorted(p.stem for p in MODELS.glob("*.onnx") if "fp8" not in p.stem)
PTXAS = shutil.which("ptxas") or next((str(p) for p in [pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "bin" / "ptxas"] if p.exists()), None)


def cases(name):
    recorded = np.load(MODELS / f"{name}.io.npz")
    for case in ("", "2"):
        inputs = {k.split(":", 1)[1]: recorded[k] for k in recorded.files if k.startswith(f"in{case}:")}
        outputs = {k.split(":", 1)[1]: recorded[k] for k in recorded.files if k.startswith(f"out{case}:")}
        if inputs:
            yield inputs, outputs


def check(session, name):
    names = [o.name for o in session.get_outputs()]
    for inputs, outputs in cases(name):
        got = dict(zip(names, session.run(None, inputs)))
        for key, want in outputs.items():
            magnitude = np.abs(want).max() if want.size else 0
            assert np.abs(got[key].astype(np.float64) - want).max(initial=0) <= 2e-4 * max(magnitude, 1e-30), key


@pytest.mark.parametrize("name", FLOAT_MODELS)
def test_models(name, tmp_path):
    artifact = quaver.compile(MODELS / f"{name}.onnx", tmp_path / "m.quaver", target=["sm_89", "sm_90a"], precision="fp32")
    for target, seed in (("sm_89", 0), ("sm_90a", 1)):
        check(quaver.Session(artifact, device=f"sim:seed={seed}", target=target), name)
    assert_ptxas_accepts(artifact)


@pytest.mark.parametrize("name", ["bert-tiny", "mixtral-tiny-loop"])
def test_no_race_in_any_order(name, tmp_path):
    artifact = quaver.compile(MODELS / f"{name}.onnx", tmp_path / "m.quaver", target="sm_90a", precision="fp32")
    for seed in range(2):
        check(quaver.Session(artifact, device=f"sim:seed={seed},races", target="sm_90a"), name)


@pytest.mark.parametrize("precision", ["bf16", "fp8", "fp8-mx"])
def test_precisions_agree_with_the_host(precision, tmp_path):
    model = MODELS / "llama-tiny.onnx"
    artifact = quaver.compile(model, tmp_path / "m.quaver", target=["host", "sm_90a"], precision=precision)
    host, gpu = quaver.Session(artifact), quaver.Session(artifact, device="sim", target="sm_90a")
    inputs, _ = next(cases("llama-tiny"))
    for a, b in zip(host.run(None, inputs), gpu.run(None, inputs)):
        # Equal codes and scales; sums in another order may move an activation over a rounding border.
        assert np.abs(a - b).max() <= 0.02 * np.abs(a).max()
    assert_ptxas_accepts(artifact)


def assert_ptxas_accepts(artifact):
    if not PTXAS:
        return
    with zipfile.ZipFile(artifact) as z:
        for entry in z.namelist():
            if not entry.endswith(".ptx"):
                continue
            ptx = z.read(entry)
            assert b".extern .func" not in ptx
            path = pathlib.Path(os.fspath(artifact)).with_suffix(".ptx")
            path.write_bytes(ptx)
            done = subprocess.run([PTXAS, "-v", f"-arch={entry.split('/')[1]}", path, "-o", "/dev/null"], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            assert sum(int(n) for n in re.findall(r"(\d+) bytes spill", done.stderr)) == 0, done.stderr


def test_a_gpu_artifact_says_where_it_runs(tmp_path):
    artifact = quaver.compile(MODELS / "mlp-train.onnx", tmp_path / "m.quaver", target="sm_90a")
    with pytest.raises(quaver.errors.Error, match="sm_90a"):
        quaver.Session(artifact)
    with pytest.raises(quaver.errors.Error, match="seed=N and races"):
        quaver.Session(artifact, device="sim:sead=3")
