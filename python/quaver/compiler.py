"""quaver.compile: the entry point of libquaver-compiler.so (compiler/Capi/quaver_compiler.h), loaded at first use."""

import ctypes
import json
import os
import pathlib
import tempfile
import threading
import weakref

from . import errors

_LIBRARY = "libquaver-compiler.so"
_lock = threading.Lock()
_loaded = None


class Artifact(os.PathLike):
    """A compiled model: its path, and the compiler's warnings. A temporary file goes with this object."""

    def __init__(self, path, warnings="", is_temporary=False):
        self.path = str(path)
        self.warnings = warnings
        if is_temporary:
            weakref.finalize(self, _remove, self.path)

    def __fspath__(self):
        return self.path

    def __repr__(self):
        return f"quaver.Artifact({self.path!r})"


def compile(model, output=None, *, precision="source", target="host", dims=None, strict=False, folder=None,
            weights=None, weight_storage="embed", emit_stages=None, report=None, progress=None):
    """Compiles an ONNX model and returns the Artifact.

    model: a path, the bytes of a ModelProto, or an object with SerializeToString (onnx.ModelProto).
    output: where to write; None = a temporary file that lives as long as the returned object.
    precision: 'source', a preset ('fp32', 'bf16', 'fp16', 'fp8', ...: docs/precision.md), or a policy file.
    target: 'host', 'x86-64-v3', 'x86-64-v4', 'x86-64-v4+bf16', 'sm_89', 'sm_90a', or a list of them.
    dims: {'sequence': (1, 4096)}, ranges of dimension symbols. strict: an op not computed as decided is an error.
    folder: where external data of a model given as bytes lies. weights: a folder of safetensors files, or one: initializers
    take the bytes of the tensors that have their names, FP8 codes with their scales. report, emit_stages: paths to write to.
    progress: called as progress(stage, done, total).
    """
    library = _load()
    options = {
        "targets": [target] if isinstance(target, str) else list(target),
        "precision": os.fspath(precision),
        "strict": bool(strict),
        "weight_storage": weight_storage,
    }
    if dims:
        options["dims"] = {name: list(limits) for name, limits in dims.items()}
    for key, value in (("weights", weights), ("emit_stages", emit_stages), ("report", report)):
        if value is not None:
            options[key] = os.fspath(value)
    data = None
    if isinstance(model, (str, os.PathLike)):
        options["model"] = os.fspath(model)
    elif isinstance(model, (bytes, bytearray, memoryview)):
        data = bytes(model)
    elif hasattr(model, "SerializeToString"):
        data = model.SerializeToString()
    else:
        raise errors.InvalidArgument(
            f"model is a {type(model).__name__}; give a path, the bytes of an ONNX model, or an onnx.ModelProto")
    if data is not None and folder is not None:
        options["folder"] = os.fspath(folder)

    is_temporary = output is None
    if is_temporary:
        handle, output = tempfile.mkstemp(suffix=".quaver")
        os.close(handle)
    options["output"] = os.fspath(output)
    try:
        warnings = _call(library, options, data, progress)
    except BaseException:
        if is_temporary:
            _remove(output)
        raise
    return Artifact(options["output"], warnings, is_temporary)


_Progress = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_int)


def _call(library, options, data, progress):
    """Runs qvc_compile; returns its warnings or raises its error."""
    failure = []

    def report(_, stage, done, total):
        try:
            progress((stage or b"").decode(), done, total)
        except BaseException as error:  # an exception cannot pass through the compiler: raised afterwards
            failure.append(error)

    callback = _Progress(report) if progress else _Progress()
    message = ctypes.c_void_p()
    code = library.qvc_compile(json.dumps(options).encode(), data, len(data) if data is not None else 0, callback, None,
                               ctypes.byref(message))
    text = ""
    if message:
        text = ctypes.string_at(message.value).decode(errors="replace")
        library.qvc_free(message)
    if code == 2:
        raise errors.InvalidArgument(text)
    if code == 3:
        raise errors.InternalError(text)
    if code:
        raise errors.Error(text)
    if failure:
        raise failure[0]
    return text


def _load():
    global _loaded
    with _lock:
        if _loaded is None:
            _loaded = _open()
        return _loaded


def _open():
    here = pathlib.Path(__file__).resolve().parent
    candidates = [here / _LIBRARY, here.parent.parent / "lib" / _LIBRARY]
    if "QUAVER_COMPILER_LIBRARY" in os.environ:
        candidates.insert(0, pathlib.Path(os.environ["QUAVER_COMPILER_LIBRARY"]))
    path = next((str(c) for c in candidates if c.exists()), None)
    if path is None:
        raise errors.NotFound(f"{_LIBRARY} is in neither {' nor '.join(str(c.parent) for c in candidates)}: build with the "
                              "compiler (./dev build), or set QUAVER_COMPILER_LIBRARY to its path")
    library = ctypes.CDLL(path)
    library.qvc_compile.restype = ctypes.c_int
    library.qvc_compile.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t, _Progress, ctypes.c_void_p,
                                    ctypes.POINTER(ctypes.c_void_p)]
    library.qvc_free.restype = None
    library.qvc_free.argtypes = [ctypes.c_void_p]
    return library


def _remove(path):
    try:
        os.remove(path)
    except OSError:
        pass
