"""Exceptions in threads and in tasks that nobody waits for."""

from .. import faults
from . import replaced


def threads(module):
    @replaced(module, "excepthook")
    def excepthook(original, arguments):
        faults.seen(arguments.exc_value)
        return original(arguments)


def loops(module):
    @replaced(module.BaseEventLoop, "call_exception_handler")
    def call_exception_handler(original, self, context):
        failure = context.get("exception")
        if isinstance(failure, Exception):
            faults.seen(failure)
        return original(self, context)
