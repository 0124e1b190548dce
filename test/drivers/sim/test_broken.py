"""Kernels with one fault each, which ptxas accepts: found and named; their corrected twins run clean."""

import pathlib
import re

import pytest
from ptx_file import assemble, corrected, find_ptxas, read_cases, run_case

FILES = sorted((pathlib.Path(__file__).parent / "broken").glob("*.ptx"))


def twin(file, folder):
    path = folder / file.name
    path.write_text(corrected(file.read_text()))
    return path


@pytest.mark.parametrize("file", FILES, ids=lambda p: p.stem)
def test_fault_is_named(file, tmp_path):
    (case,) = read_cases(file)
    run = run_case(tmp_path, file, case)
    assert run.code == 1, "not found" if run.code == 0 else run.error
    assert case.fault in run.error, run.error
    assert re.match(rf"quaver-sim: {re.escape(file.name)}:\d+: kernel 'k'", run.error), "says neither line nor kernel"


@pytest.mark.parametrize("file", FILES, ids=lambda p: p.stem)
def test_corrected_twin_is_clean(file, tmp_path):
    (case,) = read_cases(file)
    path = twin(file, tmp_path)
    assert path.read_text() != file.read_text()
    for extra in ([], ["--seed", "11"], ["--seed", "12", "--races"]):
        case.options = extra
        run = run_case(tmp_path, path, case)
        assert run.code == 0, run.error


@pytest.mark.skipif(not find_ptxas(), reason="no ptxas was found: whether it accepts the kernels is not checked")
@pytest.mark.parametrize("file", FILES, ids=lambda p: p.stem)
def test_ptxas_accepts(file, tmp_path):
    assert assemble(file, tmp_path) == ""
    assert assemble(twin(file, tmp_path), tmp_path) == ""
