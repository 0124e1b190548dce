"""Test data of the PTX machine: .ptx files whose head says how to run them and what must come out.

  // RUN: ENTRY GRID BLOCK [shared=BYTES] [races] [seed=N] [steps=N]
  // ARG: a Python expression, one line an argument (quaver_sim.run); np, Out, InOut and the names below are there
  // EXPECT: one for each Out and InOut; equal to the bit, all NaN alike, or within the file's `// TOLERANCE: x` (relative)
  // FAULT: instead of EXPECT: what the diagnostic must hold

A file may hold several RUNs, each followed by its own lines; an ARG is an argument of the RUN before it. In files with
faults, lines that end in `// BROKEN` are the fault, and `//+ ` begins lines of the corrected kernel (`corrected`).
"""

import shutil
import subprocess
from dataclasses import dataclass, field

import ml_dtypes
import numpy as np
from quaver_sim import InOut, Out, run


def u4(*values):
    """32-bit words; negative ones wrap."""
    return np.array([v & 0xFFFFFFFF for v in values], "u4")


def u8(*values):
    return np.array([v & 0xFFFFFFFFFFFFFFFF for v in values], "u8")


def u2(*values):
    return np.array([v & 0xFFFF for v in values], "u2")


def f4(*values):
    return np.array(values, "f4")


def f8(*values):
    return np.array(values, "f8")


NAMES = {f.__name__: f for f in (u2, u4, u8, f4, f8, InOut, Out)}
NAMES |= {"np": np, "ml_dtypes": ml_dtypes, "lane": np.arange(32, dtype="u4"), "nan": float("nan"), "inf": float("inf")}


@dataclass
class Case:
    entry: str
    grid: str
    block: str
    shared: int = 0
    options: list = field(default_factory=list)
    arguments: list = field(default_factory=list)
    expected: list = field(default_factory=list)
    fault: str = ""
    tolerance: float = 0.0


def read_cases(path):
    cases = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        key, colon, text = line.removeprefix("// ").partition(": ")
        if not line.startswith("// ") or not colon or key not in ("RUN", "ARG", "EXPECT", "FAULT", "TOLERANCE"):
            continue
        if key == "RUN":
            entry, grid, block, *rest = text.split()
            cases.append(Case(entry, grid, block))
            for word in rest:
                name, _, value = word.partition("=")
                if name == "shared":
                    cases[-1].shared = int(value)
                else:
                    cases[-1].options += {"races": ["--races"], "seed": ["--seed", value], "steps": ["--max-steps", value]}[name]
        elif key == "FAULT":
            cases[-1].fault = text
        elif key == "TOLERANCE":
            cases[-1].tolerance = float(text)
        else:
            try:
                value = eval(text, dict(NAMES))  # the text is a file of this repository
            except Exception as e:
                raise ValueError(f"{path.name}:{number}: {text}: {e}") from e
            (cases[-1].arguments if key == "ARG" else cases[-1].expected).append(value)
    return cases


def corrected(text):
    lines = [line.removeprefix("//+ ") for line in text.splitlines() if not line.endswith("// BROKEN")]
    return "\n".join(lines) + "\n"


def run_case(folder, path, case):
    return run(folder, path, case.arguments, case.entry, case.grid, case.block, case.shared, case.options)


def find_ptxas():
    return shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")


def assemble(path, folder):
    """What ptxas says about the file for its own target; empty: accepted."""
    target = next(line.split()[1] for line in path.read_text().splitlines() if line.startswith(".target"))
    done = subprocess.run([find_ptxas(), f"-arch={target}", path, "-o", folder / "out.cubin"], capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stdout + done.stderr
