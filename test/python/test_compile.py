"""quaver.compile and quaver.backend: what needs the compiler, and what is said without it."""

import pathlib

import numpy as np
import pytest

import quaver

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper  # noqa: E402


def add_model(type=TensorProto.FLOAT):
    return helper.make_model(
        helper.make_graph(
            [helper.make_node("Add", ["a", "b"], ["c"], name="sum")],
            "add",
            [helper.make_tensor_value_info(n, type, ["n", 3]) for n in "ab"],
            [helper.make_tensor_value_info("c", type, ["n", 3])],
        ),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=9,
    )


A = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_options_are_checked_before_anything_is_loaded():
    with pytest.raises((quaver.InvalidArgument, quaver.NotFound)):
        quaver.compile(42)


def test_compile_to_a_temporary_artifact(compiler):
    artifact = quaver.compile(add_model())
    path = pathlib.Path(artifact.path)
    assert path.exists()
    session = quaver.Session(artifact)
    np.testing.assert_array_equal(session.run(None, {"a": A, "b": A})[0], A + A)
    assert [i.shape for i in session.get_inputs()] == [["n", 3]] * 2
    del artifact
    assert not path.exists()
    np.testing.assert_array_equal(session.run(None, {"a": A, "b": A})[0], A + A)


def test_compile_bytes_and_paths(compiler, tmp_path):
    model = add_model()
    onnx.save(model, tmp_path / "m.onnx")
    for source in (model.SerializeToString(), tmp_path / "m.onnx", str(tmp_path / "m.onnx")):
        artifact = quaver.compile(source, tmp_path / "m.quaver", precision="fp32", target="host")
        assert artifact.path == str(tmp_path / "m.quaver")
        np.testing.assert_array_equal(quaver.Session(artifact.path).run(["c"], {"a": A, "b": A})[0], A + A)


def test_compile_reports_progress(compiler):
    stages = []
    quaver.compile(add_model(), progress=lambda stage, done, total: stages.append(stage))
    assert stages


def test_compile_errors_name_the_problem(compiler, tmp_path):
    with pytest.raises(quaver.Error, match="none.onnx"):
        quaver.compile(tmp_path / "none.onnx", tmp_path / "o.quaver")
    with pytest.raises(quaver.Error):
        quaver.compile(b"this is no model", tmp_path / "o.quaver")
    with pytest.raises(quaver.Error, match="fp7"):
        quaver.compile(add_model(), tmp_path / "o.quaver", precision="fp7")
    assert not (tmp_path / "o.quaver").exists()


def test_backend(compiler):
    import quaver.backend as backend

    assert backend.supports_device("CPU") and not backend.supports_device("CUDA")
    rep = backend.prepare(add_model(), device="CPU")
    np.testing.assert_array_equal(rep.run([A, A])[0], A + A)
    np.testing.assert_array_equal(rep.run({"a": A, "b": A}).c, A + A)
    np.testing.assert_array_equal(backend.run_model(add_model(), [A, A])[0], A + A)
    node = helper.make_node("Add", ["x", "y"], ["z"])
    np.testing.assert_array_equal(backend.run_node(node, [A, A])[0], A + A)
    with pytest.raises(ValueError, match="1 inputs given"):
        rep.run([A])
    with pytest.raises(ValueError, match="CUDA"):
        backend.prepare(add_model(), device="CUDA")
