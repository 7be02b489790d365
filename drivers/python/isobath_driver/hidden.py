"""Frames of the driver: compiled under a name that is no file, so tracebacks print no wrong source line.

`warnings` does not count frames of the import machinery, which it knows by two words in their names, when it looks for the code
that a warning is about. With these words in ours a `stacklevel` of the service or a library still means the same.
"""

import types

NAME = "<isobath importlib _bootstrap>"


def hide(names):
    """Gives all functions of a module that name."""
    for value in list(names.values()):
        if isinstance(value, types.FunctionType) and value.__module__ == names["__name__"]:
            value.__code__ = _renamed(value.__code__)
        elif isinstance(value, type) and value.__module__ == names["__name__"]:
            for member in vars(value).values():
                if isinstance(member, types.FunctionType):
                    member.__code__ = _renamed(member.__code__)


def _renamed(code):
    constants = tuple(_renamed(one) if isinstance(one, types.CodeType) else one for one in code.co_consts)
    return code.replace(co_filename=NAME, co_consts=constants)
