"""./dev bench: speed as ratios against onnxruntime in the same run, with the machine's limits measured beside them.

Absolute times drift on shared machines; only the ratios count. A run is marked "disturbed" when two threads do not scale at
its start or end. onnxruntime is a peer, never a dependency: install it into .venv first.
"""
import argparse
import json
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "build" / "python"))
import numpy as np  # noqa: E402

THREADS = 2
PAUSE = 0.1  # seconds; onnxruntime 1.32's workers were seen to spin for 50 ms after a run


def paired(ours, peer, pairs=15, warm=3):
    """Median of time(ours) / time(peer), interleaved; the pause lets the other's pool go to sleep."""
    for _ in range(warm):
        ours(), peer()
    ratios, mine = [], []
    for _ in range(pairs):
        t0 = time.perf_counter()
        ours()
        t1 = time.perf_counter()
        time.sleep(PAUSE)
        t2 = time.perf_counter()
        peer()
        t3 = time.perf_counter()
        time.sleep(PAUSE)
        ratios.append((t1 - t0) / (t3 - t2))
        mine.append(t1 - t0)
    return float(np.median(ratios)), 1e3 * float(np.median(mine))


def matmul_model(m, k, n):
    from onnx import TensorProto, helper, numpy_helper
    w = (np.random.default_rng(1).standard_normal((k, n)) / np.sqrt(k)).astype(np.float32)
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "g",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, [m, k])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [m, n])],
                              [numpy_helper.from_array(w, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9).SerializeToString()


def scaling():
    """How much faster two processes run a compute-bound loop than one after the other (2.0 on an idle machine)."""
    loop = "import time; t=time.perf_counter(); sum(i*i for i in range(3000000)); print(time.perf_counter()-t)"
    one = float(subprocess.run([sys.executable, "-c", loop], capture_output=True, text=True).stdout)
    both = [subprocess.Popen([sys.executable, "-c", loop], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    return 2 * one / max(float(p.communicate()[0]) for p in both)


def compile_model(folder, model, precision):
    import quaver
    path = f"{folder}/{precision}.quaver"
    quaver.compile(model, output=path, precision=precision)
    return quaver.Session(path, threads=THREADS)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", default=str(ROOT / "build" / "bench.json"))
    parser.add_argument("--model", default=str(ROOT / "build" / "demo" / "paraphrase-MiniLM-L3-v2.onnx"),
                        help="the demo's model (./dev demo fetches it)")
    args = parser.parse_args()
    try:
        import onnxruntime as ort
    except ImportError:
        sys.exit("onnxruntime is not installed: .venv/bin/pip install onnxruntime")

    def peer(model):
        options = ort.SessionOptions()
        options.intra_op_num_threads = THREADS
        return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    before, cases = scaling(), []
    with tempfile.TemporaryDirectory() as folder:
        if pathlib.Path(args.model).exists():
            reference = peer(args.model)
            for batch, sequence in ((1, 16), (1, 128), (8, 128)):
                ids = np.random.default_rng(0).integers(1000, 20000, (batch, sequence)).astype(np.int64)
                x = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
                for precision in ("fp32", "bf16", "fp8"):
                    session = compile_model(folder, args.model, precision)
                    ratio, ms = paired(lambda: session.run(None, x), lambda: reference.run(None, x))
                    cases.append({"case": f"MiniLM-L3 {batch}x{sequence} {precision}", "ratio": ratio, "ms": ms})
        for m, k, n in ((256, 4096, 4096), (1, 4096, 14336)):
            model = matmul_model(m, k, n)
            reference = peer(model)
            x = {"x": np.random.default_rng(2).standard_normal((m, k)).astype(np.float32)}
            for precision in ("fp32", "fp8-weights", "fp8"):
                session = compile_model(folder, model, precision)
                ratio, ms = paired(lambda: session.run(None, x), lambda: reference.run(None, x))
                cases.append({"case": f"MatMul {m}x{k}x{n} {precision}", "ratio": ratio, "ms": ms})
    after = scaling()
    result = {"cpu": platform.processor() or platform.machine(), "onnxruntime": ort.__version__, "threads": THREADS,
              "scaling": [before, after], "disturbed": min(before, after) < 1.8, "cases": cases}
    pathlib.Path(args.json).write_text(json.dumps(result, indent=2) + "\n")
    print(f"time ratio quaver / onnxruntime {ort.__version__} fp32, {THREADS} threads"
          + (" (disturbed: other work on this machine)" if result["disturbed"] else ""))
    for case in cases:
        print(f"  {case['case']:36s} {case['ratio']:6.2f}   {case['ms']:9.3f} ms")


if __name__ == "__main__":
    main()
