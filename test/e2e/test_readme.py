"""What README.md shows works as it stands: its shell lines, its Python, its C++."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["QUAVER_BUILD"])
TEXT = (ROOT / "README.md").read_text()


def blocks(language):
    found = re.findall(rf"```{language}\n(.*?)```", TEXT, re.S)
    assert found
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder in which the README's relative paths lead to this build."""
    path = tmp_path_factory.mktemp("readme")
    (path / "build").symlink_to(BUILD)
    (path / "test").symlink_to(ROOT / "test")
    ids = np.random.default_rng(0).integers(0, 256, (2, 16))
    np.save(path / "ids.npy", ids)
    np.save(path / "mask.npy", np.ones_like(ids))
    return path


def test_shell(folder):
    ran = 0
    for block in blocks("sh"):
        for line in block.splitlines():
            if line.startswith("build/bin/"):
                subprocess.run(line, shell=True, cwd=folder, check=True, capture_output=True)
                ran += 1
    assert ran >= 7 and (folder / "y.npy").exists()


def test_python(folder):
    for code in blocks("python"):
        subprocess.run([sys.executable, "-c", code + "\nassert pooled.shape == (2, 64)"], cwd=folder, check=True)


def test_cpp(folder):
    compiler = shutil.which("clang++-22") or shutil.which("g++-12")
    (code,) = blocks("cpp")
    (folder / "embed.cpp").write_text(code)
    subprocess.run([compiler, "-std=c++20", "embed.cpp", "-o", "embed", f"-I{ROOT}/runtime/api", f"-L{BUILD}/lib", "-lquaver",
                    f"-Wl,-rpath,{BUILD}/lib"], cwd=folder, check=True)
    subprocess.run([BUILD / "bin/quaver", "compile", "test/models/bert-tiny.onnx", "-o", "bert.quaver"], cwd=folder, check=True)
    out = subprocess.run(["./embed"], cwd=folder, check=True, capture_output=True, text=True).stdout
    assert len([float(v) for v in out.split()]) == 4
