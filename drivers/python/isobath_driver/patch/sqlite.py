"""`sqlite3`: connections and cursors of subclasses that tell statements. SQLAlchemy, Django and aiosqlite stand on them."""

import functools

from ..request import CURRENT, OUTSIDE
from . import memory, replaced, statements

_classes = {}


def _subclass(base, ours):
    """A class that first does what `base` does and, where that calls the library, what `ours` does."""
    known = _classes.get(base)
    if known is None:
        bases = (ours,) if base in ours.__mro__ else (base, ours)
        known = _classes[base] = type(base.__name__, bases, {"__module__": base.__module__})
    return known


class Counting:
    """Rows that are fetched from a cursor. `_record` is the statement that it executes."""

    _record = None

    def _seen(self, count):
        if self._record is not None:
            self._record.rows += count

    def fetchone(self):
        row = super().fetchone()
        if row is not None:
            self._seen(1)
        return row

    def fetchmany(self, *arguments, **keywords):
        rows = super().fetchmany(*arguments, **keywords)
        self._seen(len(rows))
        return rows

    def fetchall(self):
        rows = super().fetchall()
        self._seen(len(rows))
        return rows

    def __next__(self):
        row = super().__next__()
        self._seen(1)
        return row


def dbapi(module):
    if hasattr(module, "_isobath_connect"):
        return

    class Cursor(Counting, module.Cursor):
        def execute(self, sql, *arguments):
            values = arguments[0] if arguments else ()
            return self._tell(super().execute, sql, _values(values), sql, *arguments)

        def executemany(self, sql, values):
            return self._tell(super().executemany, sql, None, sql, values)

        def executescript(self, script):
            for one in statements.split(script)[:100] if isinstance(script, str) else ():
                statements.begin("sqlite", one)
            self._record = None
            return super().executescript(script)

        def _tell(self, execute, sql, values, *arguments):
            record = None
            if isinstance(sql, str):
                try:
                    record = statements.begin("sqlite", statements.fill(sql, values))
                except Exception:
                    record = None
            try:
                result = execute(*arguments)
            except Exception as failure:
                if record is not None:
                    record.failure = str(failure)
                raise
            self._record = record
            if record is not None and self.rowcount > 0:
                record.rows = self.rowcount
                # Rows of RETURNING are not counted twice.
                self._record = None
            return result

    class Connection(module.Connection):
        def cursor(self, *arguments, **keywords):
            factory = arguments[0] if arguments else keywords.get("factory")
            if factory is None:
                factory = module.Cursor
            if isinstance(factory, type) and issubclass(factory, module.Cursor):
                factory = _subclass(factory, Cursor)
            return super().cursor(factory)

        # Newer releases make the cursors of these without asking for them.

        def execute(self, *arguments):
            return self.cursor().execute(*arguments)

        def executemany(self, *arguments):
            return self.cursor().executemany(*arguments)

        def executescript(self, *arguments):
            return self.cursor().executescript(*arguments)

    plain = module.connect

    @functools.wraps(plain)
    def connect(database, *arguments, **keywords):
        arguments = list(arguments)
        factory = arguments[4] if len(arguments) > 4 else keywords.get("factory", module.Connection)
        if isinstance(factory, type) and issubclass(factory, module.Connection):
            factory = _subclass(factory, Connection)
        if len(arguments) > 4:
            arguments[4] = factory
        else:
            keywords["factory"] = factory
        in_memory = memory.is_in_memory(database)
        if in_memory:
            # The core's rows are brought by another thread, under a lock.
            if len(arguments) > 3:
                arguments[3] = False
            else:
                keywords["check_same_thread"] = False
        connection = plain(database, *arguments, **keywords)
        if in_memory:
            memory.opened(connection, module)
        else:
            memory.opened_elsewhere()
        return connection

    module.connect = connect
    module._isobath_connect = plain


def package(module):
    """`sqlite3` itself has the names of `sqlite3.dbapi2` at the time that it was loaded."""
    from sqlite3 import dbapi2

    dbapi(dbapi2)
    module.connect = dbapi2.connect


def _values(values):
    return values if isinstance(values, (dict, list, tuple)) else tuple(values) if values else ()


def aiosqlite(module):
    """Each connection has a thread, which does not know the request that a statement belongs to."""

    @replaced(module.Connection, "_execute")
    async def _execute(original, self, function, *arguments, **keywords):
        request = CURRENT.get() or OUTSIDE

        def run(*inner, **more):
            token = CURRENT.set(request)
            try:
                return function(*inner, **more)
            finally:
                CURRENT.reset(token)

        return await original(self, run, *arguments, **keywords)
