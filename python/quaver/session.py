"""Running artifacts, shaped as onnxruntime's InferenceSession."""

import os
from dataclasses import dataclass

import numpy as np

from . import _runtime, errors, types


@dataclass(frozen=True)
class TensorInfo:
    """An input or output: shape holds numbers, and names where a dimension is symbolic."""

    name: str
    shape: list
    type: str
    dtype: np.dtype

    @staticmethod
    def _of(raw):
        name, number, dims = raw
        shape = [dim_name if size < 0 else size for dim_name, size in dims]
        return TensorInfo(name, shape, types.NAMES[number], types.DTYPES[number])


class States:
    """All states of a model (key-value caches, parameters, moments), by name; made by Session.create_states()."""

    def __init__(self, raw, infos):
        self._raw = raw
        self._infos = {info.name: info for info in infos}

    def names(self):
        return list(self._infos)

    def reset(self, name=None):
        """Back to the initial value: one state, or all."""
        self._raw.reset(name)

    def save(self, name):
        """The state as an array of its type, of one dimension."""
        return self._raw.save(name).view(self._dtype(name))

    def load(self, name, array):
        """Sets the state from an array of its type and size."""
        array = np.ascontiguousarray(array)
        if array.dtype != self._dtype(name):
            raise errors.InvalidArgument(f"state '{name}' has dtype {self._dtype(name)}, the array {array.dtype}")
        self._raw.load(name, array.reshape(-1).view(np.uint8))

    def _dtype(self, name):
        if name not in self._infos:
            known = ", ".join(f"'{n}'" for n in self._infos) or "none"
            raise errors.NotFound(f"the model has no state '{name}'; it has {known}")
        return self._infos[name].dtype


class Session:
    """A compiled model on a device.

    path: an artifact (model.quaver), or what quaver.compile returned.
    device: 'host'. target: one of the artifact's targets, None = the best for the device.
    threads: workers, 0 = all CPUs that this process may use. seed: of the model's random generator.

    One session may be used from many threads at once; the interpreter lock is released while it runs.
    """

    def __init__(self, path, device="host", target=None, threads=0, seed=0):
        self._raw = _runtime.Session(os.fspath(path), device, target or "", threads, seed)
        self._entries = {}
        self._states = None

    def get_inputs(self, entry=None):
        return list(self._describe(entry)[0])

    def get_outputs(self, entry=None):
        return list(self._describe(entry)[1])

    def run(self, output_names, inputs, entry=None, states=None):
        """Runs an entry (None = the first) and returns the named outputs as arrays (None = all, in order).

        inputs: {name: array}; numpy arrays (ml_dtypes for bf16 and fp8), or anything with __dlpack__ in CPU memory.
        """
        wanted = self._names(output_names, entry)
        raw = self._raw.run(entry or "", self._feed(inputs, entry), wanted, states._raw if states else None)
        return [data.view(types.DTYPES[number]).reshape(shape) for data, number, shape in raw]

    def run_into(self, outputs, inputs, entry=None, states=None):
        """Runs into the caller's arrays {name: array}, which must be contiguous and have the exact type and size."""
        infos = {info.name: info for info in self._describe(entry)[1]}
        raw = {}
        for name, array in outputs.items():
            if not isinstance(array, np.ndarray) or not array.flags.c_contiguous or not array.flags.writeable:
                raise errors.InvalidArgument(f"output '{name}' must be a writeable, contiguous numpy array")
            if name in infos and array.dtype != infos[name].dtype:
                raise errors.InvalidArgument(
                    f"output '{name}' has dtype {array.dtype}, expected {infos[name].dtype}")
            raw[name] = array.reshape(-1).view(np.uint8)
        self._raw.run_into(entry or "", self._feed(inputs, entry), raw, states._raw if states else None)

    def run_dlpack(self, output_names, inputs, entry=None, states=None):
        """As run(), but returns objects with __dlpack__ that own their memory, also of types that numpy cannot export."""
        wanted = self._names(output_names, entry)
        return self._raw.run_dlpack(entry or "", self._feed(inputs, entry), wanted, states._raw if states else None)

    def get_states(self):
        return [TensorInfo._of(raw) for raw in self._raw.describe_states()]

    @property
    def states(self):
        """The session's own states."""
        if self._states is None:
            self._states = States(self._raw.own_states(), self.get_states())
        return self._states

    def create_states(self):
        """A fresh set, to be passed to run()."""
        return States(self._raw.create_states(), self.get_states())

    @property
    def entries(self):
        return self._raw.entries()

    @property
    def target(self):
        return self._raw.target()

    @property
    def threads(self):
        return self._raw.threads()

    def memory(self):
        """Bytes: weights, states, arenas now and at most, and the most that one run used of its arena."""
        return self._raw.memory()

    def peak_formula(self, entry=None):
        """The arena of one run, in bytes, as a formula of the dimension symbols."""
        return self._raw.peak_formula(entry or "")

    def _describe(self, entry):
        if entry not in self._entries:
            inputs, outputs = self._raw.describe(entry or "")
            self._entries[entry] = ([TensorInfo._of(raw) for raw in inputs], [TensorInfo._of(raw) for raw in outputs])
        return self._entries[entry]

    def _names(self, output_names, entry):
        if output_names is None:
            return [info.name for info in self._describe(entry)[1]]
        if isinstance(output_names, str):
            raise errors.InvalidArgument("output_names is a string; give a list of names, or None for all")
        return list(output_names)

    def _feed(self, inputs, entry):
        if not hasattr(inputs, "items"):
            raise errors.InvalidArgument("inputs must be a dictionary {name: array}")
        infos = {info.name: info for info in self._describe(entry)[0]}
        return {name: _to_runtime(name, value, infos.get(name)) for name, value in inputs.items()}


def _to_runtime(name, value, info):
    """(bytes, type number, shape) of an array, or the object itself where the runtime is to ask it for DLPack."""
    if not isinstance(value, (np.ndarray, np.generic)):
        if hasattr(value, "__dlpack__"):
            return value
        # Lists and Python numbers have no type of their own.
        value = np.asarray(value, dtype=info.dtype if info else None)
    array = np.asarray(value)
    number = types.NUMBERS.get(array.dtype)
    if number is None and not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
        number = types.NUMBERS.get(array.dtype)
    if number is None:
        expected = f", expected {info.dtype}" if info else ""
        raise errors.InvalidArgument(f"input '{name}' has dtype {array.dtype}{expected}")
    if not array.flags.c_contiguous or not array.flags.aligned:
        array = np.array(array, order="C")
    return (array.reshape(-1).view(np.uint8), number, array.shape)
