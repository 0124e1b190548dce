"""Runs quaver-sim on arguments that are numpy arrays and scalars."""

import os
import pathlib
import subprocess
from dataclasses import dataclass

import numpy as np

PROGRAM = pathlib.Path(os.environ["QUAVER_BUILD"]) / "bin" / "quaver-sim"
_SHORT = {"int": "i", "uint": "u", "float": "f"}


@dataclass
class Out:
    """Memory that starts as never written and is read back."""

    dtype: str
    shape: tuple


@dataclass
class InOut:
    """Memory that is read back."""

    array: np.ndarray


@dataclass
class Run:
    code: int
    error: str
    outputs: list  # arrays of Out and InOut arguments, in order


def short_name(dtype):
    dtype = np.dtype(dtype)
    return _SHORT[dtype.name.rstrip("0123456789")] + str(8 * dtype.itemsize)


def run(folder, ptx, arguments, entry=None, grid="1", block="1", shared=0, options=()):
    """`folder`: where arrays go. `arguments`: arrays (read only), Out, InOut, and numpy scalars."""
    command = [PROGRAM, ptx, "--grid", grid, "--block", block, "--shared", str(shared), "-q", *options]
    if entry:
        command += ["--entry", entry]
    outputs = []
    for i, a in enumerate(arguments):
        source, target = folder / f"in{i}.npy", folder / f"out{i}.npy"
        if isinstance(a, Out):
            text = f"out:{short_name(a.dtype)}" + "".join(f"x{n}" for n in a.shape) + f"@{target}"
            outputs.append(target)
        elif isinstance(a, InOut):
            np.save(source, a.array)
            text = f"inout:{source}@{target}"
            outputs.append(target)
        elif isinstance(a, np.ndarray):
            np.save(source, a)
            text = f"@{source}"
        else:
            text = f"{short_name(a.dtype)}:{a.item()!r}"
        command += ["--arg", text]
    for path in outputs:
        path.unlink(missing_ok=True)
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return Run(done.returncode, done.stderr, [np.load(p) for p in outputs] if done.returncode == 0 else [])
