"""Exceptions that no handler of the service wanted: the framework was left with them."""

import os
import traceback

from . import frame, hidden, link
from .frames import module_of
from .request import action

LONGEST_STACK = 8000
LONGEST_MESSAGE = 2000
_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
#: The client went away, which is no fault of the service.
_NO_FAULTS = {"ClientDisconnect", "SystemExit", "KeyboardInterrupt"}


def seen(failure):
    """The framework was left with this."""
    try:
        _tell(failure)
    except Exception:
        # An exception that cannot even be printed must not become another one.
        pass


def _tell(failure):
    connection = link.current
    if connection is None or failure is None:
        return
    # A task group wraps what one of its tasks raised.
    while len(getattr(failure, "exceptions", ())) == 1 and isinstance(failure.exceptions[0], BaseException):
        failure = failure.exceptions[0]
    if type(failure).__name__ in _NO_FAULTS or failure.__dict__.get("_isobath_seen"):
        return
    number = action()
    if number is None:
        return
    try:
        failure._isobath_seen = True
    except AttributeError:
        pass
    stack = [entry for entry in _entries(failure.__traceback__) if not _is_ours(entry[0])]
    place = next((entry for entry in reversed(stack) if module_of(entry[0].tb_frame.f_code) is not None), None)
    if place is None and stack:
        place = stack[-1]
    file, line, column = _place(*place) if place else (type(failure).__name__, 1, 1)
    message = "".join(traceback.format_exception_only(type(failure), failure)).strip()[:LONGEST_MESSAGE]
    lines = ["%s\n" % message] + [
        '  File "%s", line %d, in %s\n' % (_place(entry, at)[0], at, entry.tb_frame.f_code.co_name)
        for entry, at in reversed(stack)
    ]
    data = frame.panicked(number, None, file, line, column, message, "".join(lines)[:LONGEST_STACK])
    connection.queue.add_urgent(data)


def _entries(tb):
    while tb is not None:
        yield tb, tb.tb_lineno or 1
        tb = tb.tb_next


def _is_ours(tb):
    name = tb.tb_frame.f_code.co_filename
    return name == hidden.NAME or name.startswith(_HERE)


def _place(tb, line):
    code = tb.tb_frame.f_code
    module = module_of(code)
    if module is not None:
        return module.file, line, _column(code, tb.tb_lasti)
    path = code.co_filename.replace(os.sep, "/")
    for folder in ("/site-packages/", "/dist-packages/"):
        if folder in path:
            path = path.rsplit(folder, 1)[1]
    return path, line, 1


def _column(code, instruction):
    positions = getattr(code, "co_positions", None)
    if positions is None or instruction < 0:
        return 1
    for at, (_, _, column, _) in enumerate(positions()):
        if 2 * at == instruction:
            return (column or 0) + 1
    return 1
