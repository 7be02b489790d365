"""Patches of libraries, applied when a library is loaded. One that does not fit is reported and left out.

Patches tell the driver; what the library does stays as it is.
"""

import functools
import importlib
import inspect
import sys

from .. import hidden

#: Which module of ours patches which module of a library, in a function of the name given.
TABLE = {
    "starlette.middleware.errors": ("web", "starlette"),
    "uvicorn.protocols.http.h11_impl": ("web", "uvicorn"),
    "uvicorn.protocols.http.httptools_impl": ("web", "uvicorn"),
    "flask.app": ("web", "flask"),
    "django.core.handlers.base": ("web", "django"),
    "django.core.handlers.exception": ("web", "django_exceptions"),
    "wsgiref.handlers": ("web", "wsgiref"),
    "threading": ("background", "threads"),
    "asyncio.base_events": ("background", "loops"),
    "starlette.datastructures": ("parameters", "starlette"),
    "starlette.requests": ("parameters", "starlette_requests"),
    "werkzeug.datastructures.structures": ("parameters", "werkzeug"),
    "werkzeug.datastructures.headers": ("parameters", "werkzeug_headers"),
    "werkzeug.datastructures": ("parameters", "old_werkzeug"),
    "werkzeug.wrappers.request": ("parameters", "werkzeug_requests"),
    "django.http.request": ("parameters", "django"),
    "rest_framework.request": ("parameters", "rest_framework"),
    "sqlite3.dbapi2": ("sqlite", "dbapi"),
    "sqlite3": ("sqlite", "package"),
    "aiosqlite.core": ("sqlite", "aiosqlite"),
    "psycopg2": ("databases", "psycopg2"),
    "psycopg": ("databases", "psycopg"),
    "asyncpg.connection": ("databases", "asyncpg"),
    "asyncpg.prepared_stmt": ("databases", "asyncpg_prepared"),
    "pymysql.cursors": ("databases", "pymysql"),
    "MySQLdb.cursors": ("databases", "mysqlclient"),
    "http.client": ("outbound", "http_client"),
    "httpx._transports.default": ("outbound", "httpx"),
    "aiohttp.client": ("outbound", "aiohttp"),
    "fastapi.routing": ("bodies", "fastapi"),
    "pydantic.main": ("bodies", "pydantic"),
    "marshmallow.schema": ("bodies", "marshmallow"),
    "rest_framework.serializers": ("bodies", "rest_framework"),
    "django.core.validators": ("validators", "django"),
    "django.forms.fields": ("validators", "django_forms"),
    "django.db.models.fields": ("validators", "django_models"),
    "rest_framework.fields": ("validators", "rest_framework"),
    "marshmallow.validate": ("validators", "marshmallow"),
    "marshmallow.fields": ("validators", "marshmallow_fields"),
    "attr.validators": ("validators", "attrs"),
}
#: Without a core only these are needed, to know how the service reaches its database.
FOR_ROWS = {"sqlite3.dbapi2", "sqlite3"}


_hidden = set()


class Patches:
    """The patches of this process."""

    def __init__(self, names=None):
        self.names = set(TABLE if names is None else names)
        self.unwatched = []

    def __contains__(self, name):
        return name in self.names

    def apply(self, name, module):
        """Patches a module that was just loaded."""
        ours, function = TABLE[name]
        try:
            found = importlib.import_module("." + ours, __name__)
            if ours not in _hidden:
                _hidden.add(ours)
                hidden.hide(vars(found))
            getattr(found, function)(module)
        except Exception as problem:
            self.unwatched.append((name, "this release of the library is not known: %r" % (problem,)))

    def apply_loaded(self):
        """Patches what was loaded before us."""
        for name in sorted(self.names):
            if name in sys.modules:
                self.apply(name, sys.modules[name])


def replaced(owner, name):
    """A decorator: puts a function in the place of a method; it gets the original first.

    What replaces a coroutine function is one: asgiref tells by that how an application wants to be called.
    """

    def put(function):
        setattr(owner, name, standing_for(getattr(owner, name), function))
        return function

    return put


def standing_for(original, function):
    """A function that looks like the original and calls `function` with it first."""
    if inspect.iscoroutinefunction(original):

        @functools.wraps(original)
        async def replacement(*arguments, **keywords):
            return await function(original, *arguments, **keywords)

    else:

        @functools.wraps(original)
        def replacement(*arguments, **keywords):
            return function(original, *arguments, **keywords)

    return replacement


hidden.hide({"__name__": __name__, "replaced": replaced, "standing_for": standing_for})
