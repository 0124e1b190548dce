"""ONNX's Backend, so that ONNX's own test suites can be pointed at Quaver. Needs the onnx package.

    import quaver.backend
    outputs = quaver.backend.prepare(model).run([x, y])

Options of prepare and run_model: `precision` and `target` as in quaver.compile, `threads` and `seed` as in quaver.Session.
"""

import onnx
from onnx.backend.base import Backend, BackendRep, namedtupledict

from .compiler import compile
from .session import Session


class QuaverRep(BackendRep):
    """A compiled model, ready to run. Inputs are positional, in the order of the graph's inputs."""

    def __init__(self, session):
        self.session = session
        self._inputs = [info.name for info in session.get_inputs()]
        self._outputs = [info.name for info in session.get_outputs()]

    def run(self, inputs, **kwargs):
        if hasattr(inputs, "items"):
            feed = dict(inputs)
        else:
            inputs = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
            if len(inputs) != len(self._inputs):
                raise ValueError(f"{len(inputs)} inputs given, the model takes {len(self._inputs)}: {self._inputs}")
            feed = dict(zip(self._inputs, inputs))
        results = self.session.run(None, feed)
        return namedtupledict("Outputs", self._outputs)(*results)


class QuaverBackend(Backend):
    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        """model: an onnx.ModelProto, the bytes of one, or a path."""
        cls._need_device(device)
        session_options = {key: kwargs.pop(key) for key in ("threads", "seed") if key in kwargs}
        artifact = compile(model, **kwargs)
        return QuaverRep(Session(artifact, **session_options))

    @classmethod
    def run_model(cls, model, inputs, device="CPU", **kwargs):
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(cls, node, inputs, device="CPU", outputs_info=None, **kwargs):
        """Runs one node. outputs_info: [(dtype, shape)] of its outputs; without it their types are inferred."""
        cls._need_device(device)
        opset = kwargs.pop("opset_version", onnx.defs.onnx_opset_version())
        return cls.run_model(_model_of(node, inputs, outputs_info, opset), inputs, device, **kwargs)

    @classmethod
    def supports_device(cls, device):
        return device.split(":")[0].upper() == "CPU"

    @classmethod
    def _need_device(cls, device):
        if not cls.supports_device(device):
            raise ValueError(f"device {device!r} is not supported, only 'CPU'")


def _model_of(node, inputs, outputs_info, opset):
    """A model of one node whose inputs have the types and shapes of `inputs`."""
    import numpy as np
    from onnx import helper

    names = [name for name in dict.fromkeys(node.input) if name]
    values = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.asarray(x).dtype), np.asarray(x).shape)
        for name, x in zip(names, inputs)
    ]
    results = []
    for i, name in enumerate(output for output in node.output if output):
        if outputs_info is None:
            results.append(onnx.ValueInfoProto(name=name))
        else:
            dtype, shape = outputs_info[i]
            results.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape))
    graph = helper.make_graph([node], "node", values, results)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid(node.domain, opset)])
    return onnx.shape_inference.infer_shapes(model) if outputs_info is None else model


prepare = QuaverBackend.prepare
run_model = QuaverBackend.run_model
run_node = QuaverBackend.run_node
supports_device = QuaverBackend.supports_device
