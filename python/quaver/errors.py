"""What the package raises. The message is one sentence: what, where, what to do."""


class Error(RuntimeError):
    """A model cannot be compiled, loaded or run."""


class InvalidArgument(Error, ValueError):
    """The call is wrong: a name, a shape, a type, an option."""


class NotFound(Error, LookupError):
    """No such file, entry, state, target or device."""


class InternalError(Error):
    """Our fault."""


# Codes of qv_code (runtime/api/quaver.h); the others are plain Errors.
_BY_CODE = {1: InvalidArgument, 2: NotFound, 7: InternalError}


def from_code(code, message):
    return _BY_CODE.get(code, Error)(message)
