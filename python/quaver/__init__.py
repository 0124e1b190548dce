"""Quaver: a compiler and a runtime for FP8 models.

    import quaver
    quaver.compile("model.onnx", "model.quaver", precision="fp8")
    session = quaver.Session("model.quaver")
    outputs = session.run(None, {"input_ids": ids})

No algorithm lives here: Session binds the runtime, compile() loads the compiler when it is first called.
"""

from ._runtime import version as _version
from .compiler import Artifact, compile
from .errors import Error, InternalError, InvalidArgument, NotFound
from .session import Session, States, TensorInfo

__version__ = _version()
__all__ = [
    "Artifact",
    "Error",
    "InternalError",
    "InvalidArgument",
    "NotFound",
    "Session",
    "States",
    "TensorInfo",
    "compile",
]
