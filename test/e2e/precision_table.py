"""The table of docs/precision.md: python test/e2e/precision_table.py MODEL.onnx [PRESET or POLICY.yaml ...]

100 inputs of 3 to 119 random tokens; the cosine of each precision's last output with FP32's, and artifact sizes.
"""
import os
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "build" / "python"))
import numpy as np  # noqa: E402
import quaver  # noqa: E402

RUNS = 100


def outputs(model, precision, inputs, folder):
    artifact = os.path.join(folder, "m.quaver")
    quaver.compile(model, output=artifact, precision=precision)
    session = quaver.Session(artifact)
    names = [i.name for i in session.get_inputs()]
    results = []
    for ids in inputs:
        feed = {name: np.ones_like(ids) if "mask" in name else np.zeros_like(ids) for name in names}
        feed[names[0]] = ids
        results.append(np.asarray(session.run(None, feed)[-1], np.float64).ravel())
    return results, os.path.getsize(artifact)


def main():
    model, precisions = sys.argv[1], sys.argv[2:] or ["bf16", "fp16", "fp8", "fp8-weights", "fp8-mx"]
    rng = np.random.default_rng(7)
    inputs = [rng.integers(1000, 20000, (1, int(rng.integers(3, 120)))) for _ in range(RUNS)]
    with tempfile.TemporaryDirectory() as folder:
        want, _ = outputs(model, "fp32", inputs, folder)
        for precision in precisions:
            got, size = outputs(model, precision, inputs, folder)
            cosines = [g @ w / np.linalg.norm(g) / np.linalg.norm(w) for g, w in zip(got, want)]
            print(f"{precision:16s} smallest {min(cosines):.5f}  mean {np.mean(cosines):.5f}  size {size / os.path.getsize(model):.3f}")


if __name__ == "__main__":
    main()
