"""ONNX's own node tests (the data that onnx 1.22.0 ships) through quaver.backend, in one process.

    python test/onnx/node_suite.py [--need N] [--list] [SUBSTRING]

Prints the count by operator. Exit code 1 if fewer than N pass, or if a test that passed before (passing.txt beside this
file) fails now; `--record` writes that list anew. A crash or a hang would end the process: neither may happen.
"""
import argparse
import collections
import glob
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, os.environ.get("QUAVER_PYTHON", str(ROOT / "build" / "python")))
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import quaver.backend  # noqa: E402
from onnx import numpy_helper  # noqa: E402

PASSING = pathlib.Path(__file__).with_name("passing.txt")
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


def run(name):
    """The operator, and what went wrong: None when the test passes."""
    model = onnx.load(f"{DATA}/{name}/model.onnx")
    operator = model.graph.node[0].op_type
    try:
        rep = quaver.backend.prepare(model)
        for folder in sorted(glob.glob(f"{DATA}/{name}/test_data_set_*")):
            for got, want in zip(rep.run(tensors(folder, "input")), tensors(folder, "output")):
                check(got, want)
    except Exception as error:  # whatever it is, it is this test's failure
        return operator, f"{type(error).__name__}: {error}".replace("\n", " ")
    return operator, None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("substring", nargs="?", default="")
    parser.add_argument("--need", type=int, default=0)
    parser.add_argument("--list", action="store_true", help="print why each failing test fails")
    parser.add_argument("--record", action="store_true", help="write the list of passing tests")
    args = parser.parse_args()
    names = [n for n in sorted(os.listdir(DATA)) if args.substring in n]
    good, total, passed = collections.Counter(), collections.Counter(), []
    failures = {}
    for name in names:
        operator, why = run(name)
        total[operator] += 1
        if why is None:
            good[operator] += 1
            passed.append(name)
        else:
            failures[name] = why
            if args.list:
                print(f"{name}: {why[:300]}")
    for operator in sorted(total):
        print(f"{operator:28s} {good[operator]:4d} of {total[operator]}")
    print(f"{len(passed)} of {len(names)} pass")
    if args.record:
        PASSING.write_text("\n".join(passed) + "\n")
    lost = [n for n in PASSING.read_text().split() if n in failures] if PASSING.exists() else []
    for name in lost:
        print(f"passed before, fails now: {name}: {failures[name][:300]}")
    return bool(lost) or len(passed) < args.need


if __name__ == "__main__":
    sys.exit(main())
