"""What all generators of test/models share: weights from a seed, export, and the recording of what the outputs must be."""
import pathlib

import numpy as np
import onnx
import onnxruntime
import torch

FOLDER = pathlib.Path(__file__).resolve().parents[1]
LARGEST_DIFFERENCE = 2e-4  # onnxruntime against torch eager, both in FP32


def seeded(module, seed):
    """Gives every parameter and running statistic a value that no error can hide behind: no zero bias, no gain of one."""
    draw = torch.Generator().manual_seed(seed)
    for name, t in list(module.named_parameters()) + list(module.named_buffers()):
        if not t.is_floating_point() or "inv_freq" in name:
            continue
        z = torch.randn(t.shape, generator=draw)
        if name.endswith("running_var"):
            z = 0.75 + 0.25 * z.tanh()
        elif name.endswith(("bias", "running_mean")):
            z = 0.15 * z
        elif t.dim() < 2:
            z = 1 + 0.2 * z
        elif "embed" not in name and "wte" not in name and "wpe" not in name:
            inputs = t.shape[-1] if t.dim() == 3 else t[0].numel()
            z = 1.2 * z / inputs**0.5
        t.data.copy_(z)
    return module.eval()


def tokens(seed, batch, sequence, vocabulary):
    return torch.randint(0, vocabulary, (batch, sequence), generator=torch.Generator().manual_seed(seed))


def anonymous(message):
    """Drops what exporters note about themselves: stack traces, paths, most of the bytes."""
    for field, value in message.ListFields():
        if field.name in ("doc_string", "metadata_props"):
            message.ClearField(field.name)
        elif field.message_type is not None:
            for item in [value] if hasattr(value, "ListFields") else value:
                anonymous(item)


def clean(path):
    model = onnx.load(path)
    anonymous(model)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def session(path, optimized=True):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def record(path, eager, cases, by_eager=False):
    """Writes NAME.io.npz: `in:X` and `out:Y` of the first case, `in2:` and `out2:` of the second, which has other sizes.

    The outputs are onnxruntime's, within LARGEST_DIFFERENCE of torch; torch's own with `by_eager`, for files that this
    onnxruntime refuses.
    """
    names = [o.name for o in onnx.load(path).graph.output]
    arrays, worst = {}, 0.0
    for suffix, case in zip(("", "2"), cases, strict=True):
        with torch.no_grad():
            want = eager(**case)
        want = [t.numpy() for t in (want if isinstance(want, tuple) else (want,))]
        feeds = {k: v.numpy() for k, v in case.items()}
        got = want if by_eager else session(path).run(None, feeds)
        for name, g, w in zip(names, got, want, strict=True):
            assert g.shape == w.shape and np.isfinite(g).all() and np.isfinite(w).all(), f"{path.name}: {name}"
            worst = max(worst, float(np.abs(g - w).max()))
            arrays[f"out{suffix}:{name}"] = g
        arrays |= {f"in{suffix}:{k}": v for k, v in feeds.items()}
    assert worst < LARGEST_DIFFERENCE, f"{path.name}: {worst}"
    np.savez_compressed(path.with_suffix(".io.npz"), **arrays)
    print(f"{path.name}: {path.stat().st_size // 1024} KiB, largest difference {worst:.1e}", flush=True)


def export(name, module, cases, outputs, dims, opset=None, traced=False, optimize=True, by_eager=False, eager=None):
    """torch.onnx.export of `module` on cases[0]. dims: {input: {axis: symbol}}; `traced`: by the TorchScript exporter."""
    path, inputs = FOLDER / f"{name}.onnx", list(cases[0])
    module.eval()  # the TorchScript exporter puts back what it found, dropout too
    common = dict(input_names=inputs, output_names=outputs, opset_version=opset, verbose=False)
    if traced:
        torch.onnx.export(module, tuple(cases[0].values()), str(path), dynamo=False, dynamic_axes=dims, **common)
    else:
        shapes = {i: {axis: torch.export.Dim(symbol) for axis, symbol in dims.get(i, {}).items()} for i in inputs}
        torch.onnx.export(module, (), str(path), kwargs=cases[0], dynamo=True, external_data=False, dynamic_shapes=shapes,
                          optimize=optimize, **common)
    clean(path)
    record(path, eager or module, cases, by_eager)
