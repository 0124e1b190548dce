"""PTX that nvcc writes, run by quaver-sim: ordinary kernels for three architectures (make_ptx.sh makes the .ptx)."""

import pathlib

import numpy as np
import pytest
import quaver_sim
from cases import CASES

FOLDER = pathlib.Path(__file__).parent / "nvcc"
FILES = sorted(FOLDER.glob("*.ptx"))


def test_every_kernel_has_its_ptx():
    kernels = {p.stem for p in FOLDER.glob("*.cu")}
    assert kernels == set(CASES)
    assert {p.name for p in FILES} == {f"{k}.{sm}.ptx" for k in kernels for sm in ("sm_80", "sm_89", "sm_90a")}


# Schedules: in order; drawn, with the race detector.
@pytest.mark.parametrize("options", [(), ("--seed", "7", "--races")], ids=["in_order", "races"])
@pytest.mark.parametrize("file", FILES, ids=lambda p: p.stem)
def test_nvcc(file, options, tmp_path):
    name = file.name.split(".")[0]
    case = CASES[name]
    arguments, expected = case.make(np.random.default_rng(1))
    run = quaver_sim.run(tmp_path, file, arguments, name, case.grid, case.block, case.shared, options)
    assert run.code == 0, run.error
    for got, want in zip(run.outputs, expected, strict=True):
        want = np.asarray(want).reshape(got.shape)
        if case.tolerance:
            assert np.abs(got - want).max() <= case.tolerance * np.abs(want).max()
        else:
            np.testing.assert_array_equal(got, want)
