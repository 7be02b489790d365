"""Which frames belong to the service. Libraries read headers and look up keys themselves, and that says nothing about the service."""

import sys

from . import hidden

_files = None


def watch(modules):
    """These modules, by path, are the service's."""
    global _files
    _files = modules


def module_of(code):
    """The module of the service that some code is in, or none."""
    return _files.get(code.co_filename) if _files is not None else None


def called_by_service(through=()):
    """Whether the service called the library function that we stand for; frames of the files in `through` are passed."""
    if not _files:
        return False
    frame = sys._getframe(1)
    while frame is not None and (frame.f_code.co_filename == hidden.NAME or frame.f_code.co_filename.endswith(through)):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename in _files
