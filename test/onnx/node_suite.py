"""ONNX's own node tests (the data that onnx 1.22.0 ships) through quaver.backend or the interpreter, in one process.

    python test/onnx/node_suite.py [--interpreter] [--need N] [--list] [SUBSTRING]

Prints the count by operator. Exit code 1 if fewer than N pass, or if a test that passed before (passing.txt beside this file,
one list for both) fails now; `--record` writes that list anew. A crash or a hang would end the process: neither may
happen.
"""
import argparse
import collections
import glob
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, os.environ.get("QUAVER_PYTHON", str(ROOT / "build" / "python")))
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import quaver.backend  # noqa: E402
from onnx import numpy_helper  # noqa: E402

DATA = os.path.join(os.path.dirname(onnx.__file__), "backend/test/data/node")


def tensors(folder, kind):
    values = []
    for i in range(len(glob.glob(f"{folder}/{kind}_*.pb"))):
        tensor = onnx.TensorProto()
        tensor.ParseFromString(pathlib.Path(f"{folder}/{kind}_{i}.pb").read_bytes())
        values.append(numpy_helper.to_array(tensor))
    return values


def check(got, want):
    got = np.asarray(got)
    assert got.shape == want.shape and got.dtype == want.dtype, f"{got.dtype}{got.shape}, expected {want.dtype}{want.shape}"
    if got.dtype.kind in "biu":
        assert (got == want).all(), "values differ"
    else:
        np.testing.assert_allclose(got.astype(np.float64), want.astype(np.float64), rtol=1e-3,
                                   atol=1e-5 if want.dtype.itemsize > 2 else 1e-2)


def data_sets(name):
    return sorted(glob.glob(f"{DATA}/{name}/test_data_set_*"))


def by_backend(names):
    """{name: what went wrong, None when the test passes}."""
    found = {}
    for name in names:
        try:
            rep = quaver.backend.prepare(onnx.load(f"{DATA}/{name}/model.onnx"))
            for folder in data_sets(name):
                for got, want in zip(rep.run(tensors(folder, "input")), tensors(folder, "output"), strict=True):
                    check(got, want)
            found[name] = None
        except Exception as error:  # whatever it is, it is this test's failure
            found[name] = f"{type(error).__name__}: {error}"
    return found


def by_interpreter(names):
    """The same through `quaver-interpret --batch`."""
    import ml_dtypes

    narrow = {1: {"f8E4M3FN": "float8_e4m3fn", "f8E5M2": "float8_e5m2", "f8E4M3FNUZ": "float8_e4m3fnuz",
                  "f8E5M2FNUZ": "float8_e5m2fnuz", "f8E8M0FNU": "float8_e8m0fnu"}, 2: {"bf16": "bfloat16"}}
    found, lines, wanted = {}, [], []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            for number, data in enumerate(data_sets(name)):
                try:
                    inputs, outputs = tensors(data, "input"), tensors(data, "output")
                    files = [f"{folder}/{name}.{number}.in{i}.npy" for i in range(len(inputs))]
                    for file, value in zip(files, inputs):
                        np.save(file, value.view(f"V{value.dtype.itemsize}") if value.dtype.kind == "V" or
                                value.dtype.name.startswith(("float8", "bfloat16")) else value)
                except Exception as error:  # sequences, strings
                    found[name] = f"{type(error).__name__}: {error}"
                    continue
                lines.append(json.dumps({"model": f"{DATA}/{name}/model.onnx", "inputs": files,
                                         "outputs": f"{folder}/{name}.{number}.out"}))
                wanted.append((name, outputs))
        batch = pathlib.Path(folder, "batch.jsonl")
        batch.write_text("\n".join(lines) + "\n")
        program = pathlib.Path(sys.path[0]).parent / "bin" / "quaver-interpret"
        ran = subprocess.run([program, "--batch", batch], capture_output=True, text=True)
        reports = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
        assert len(reports) == len(lines), f"quaver-interpret ended early ({ran.returncode}): {ran.stderr[-500:]}"
        for (name, outputs), report in zip(wanted, reports):
            try:
                assert report.get("ok"), report.get("error", "")
                for out, want in zip(report["outputs"], outputs, strict=True):
                    got = np.load(out["file"])
                    kind = narrow.get(got.dtype.itemsize, {}).get(out["type"])
                    check(got.view(getattr(ml_dtypes, kind)) if kind else got, want)
                found.setdefault(name, None)
            except Exception as error:
                found[name] = f"{type(error).__name__}: {error}"
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("substring", nargs="?", default="")
    parser.add_argument("--interpreter", action="store_true")
    parser.add_argument("--need", type=int, default=0)
    parser.add_argument("--list", action="store_true", help="print why each failing test fails")
    parser.add_argument("--record", action="store_true", help="write the list of passing tests")
    args = parser.parse_args()
    names = [n for n in sorted(os.listdir(DATA)) if args.substring in n]
    good, total = collections.Counter(), collections.Counter()
    found = (by_interpreter if args.interpreter else by_backend)(names)
    failures = {name: why.replace("\n", " ")[:300] for name, why in found.items() if why is not None}
    passed = [name for name in names if name not in failures]
    for name in names:
        operator = onnx.load(f"{DATA}/{name}/model.onnx").graph.node[0].op_type
        total[operator] += 1
        good[operator] += name not in failures
        if args.list and name in failures:
            print(f"{name}: {failures[name]}")
    for operator in sorted(total):
        print(f"{operator:28s} {good[operator]:4d} of {total[operator]}")
    print(f"{len(passed)} of {len(names)} pass")
    passing = pathlib.Path(__file__).with_name("passing.txt")
    if args.record:
        passing.write_text("\n".join(passed) + "\n")
    lost = [n for n in passing.read_text().split() if n in failures] if passing.exists() else []
    for name in lost:
        print(f"passed before, fails now: {name}: {failures[name]}")
    return bool(lost) or len(passed) < args.need


if __name__ == "__main__":
    sys.exit(main())
