"""The request that the running code belongs to.

A context variable passes through asyncio tasks, `anyio.to_thread` and asgiref, so work that outlives its answer still knows its
candidate, and what is late is dropped. A bare thread knows no request and counts for the action that is running.
"""

import contextvars
import sys

from . import link
from .cells import CANDIDATE

CURRENT = contextvars.ContextVar("isobath_request", default=None)
_current = CURRENT.get


class Request:
    """One call of the core."""

    __slots__ = ("candidate", "action", "parameters")

    def __init__(self, candidate, action):
        self.candidate = candidate
        self.action = action
        self.parameters = set()


#: Stands for work that no request asked for, where the work is done by a thread that cannot tell.
OUTSIDE = Request(-1, 0)


def is_outside():
    """Whether the running code is known to belong to no request, such as a task that was started with the service."""
    request = CURRENT.get()
    if request is not None:
        return request is OUTSIDE
    asyncio = sys.modules.get("asyncio.events")
    return asyncio is not None and asyncio._get_running_loop() is not None


def action():
    """The action that the running code belongs to; none without a core, or when the core went on to another candidate."""
    connection = link.current
    if connection is None:
        return None
    request = _current()
    if request is None or request is OUTSIDE:
        return connection.cells.action
    return request.action if request.candidate == connection.words[CANDIDATE] else None
