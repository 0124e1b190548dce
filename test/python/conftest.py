"""Fixtures: the build's folder, artifacts made by hand, and whether the compiler is there."""

import os
import pathlib
import subprocess

import pytest

BUILD = pathlib.Path(os.environ["QUAVER_BUILD"])


@pytest.fixture(scope="session")
def artifacts(tmp_path_factory):
    """A folder with matmul.quaver, nonzero.quaver, counter.quaver and control.quaver (test/lib/test_artifacts.h)."""
    folder = tmp_path_factory.mktemp("artifacts")
    subprocess.run([BUILD / "bin" / "quaver_test_artifacts_writer", folder], check=True)
    return folder


@pytest.fixture(scope="session")
def compiler():
    """Skips where the build has no compiler (-DQUAVER_BUILD_COMPILER=OFF)."""
    if not (BUILD / "lib" / "libquaver-compiler.so").exists():
        pytest.skip("this build has no compiler")
