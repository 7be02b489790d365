"""Client libraries of PostgreSQL and MySQL. Values are filled in by the libraries themselves, where they can."""

import functools

from . import memory, replaced, statements
from .sqlite import Counting, _subclass


def _begin(database, text):
    try:
        if isinstance(text, (bytes, bytearray)):
            text = bytes(text).decode("utf-8", "replace")
        return statements.begin(database, text)
    except Exception:
        return None


def _failed(record, failure):
    if record is not None:
        record.failure = str(failure).strip()


def _counted(record, count):
    if record is not None and isinstance(count, int) and count > 0:
        record.rows = count


# psycopg2: its types are in C, so connections and cursors of subclasses are handed out.


def psycopg2(module):
    extensions = module.extensions

    class Cursor(Counting, extensions.cursor):
        def execute(self, query, vars=None):
            return self._tell(super().execute, query, vars)

        def callproc(self, procname, *arguments):
            return self._tell(super().callproc, procname, *arguments)

        def _tell(self, execute, query, *arguments):
            self._record = None
            try:
                result = execute(query, *arguments)
            except Exception as failure:
                _failed(_begin("postgres", self._text(query)), failure)
                raise
            record = _begin("postgres", self._text(query))
            # A named cursor does not know how many rows there are.
            if self.name is None:
                _counted(record, self.rowcount)
            else:
                self._record = record
            return result

        def _text(self, query):
            if self.query is not None:
                return self.query
            return query if isinstance(query, (str, bytes)) else repr(query)

    class Connection(extensions.connection):
        def cursor(self, *arguments, **keywords):
            arguments = list(arguments)
            factory = arguments[1] if len(arguments) > 1 else keywords.get("cursor_factory")
            factory = factory or self.cursor_factory or extensions.cursor
            if isinstance(factory, type) and issubclass(factory, extensions.cursor):
                factory = _subclass(factory, Cursor)
            if len(arguments) > 1:
                arguments[1] = factory
            else:
                keywords["cursor_factory"] = factory
            return super().cursor(*arguments, **keywords)

    plain = module.connect

    @functools.wraps(plain)
    def connect(dsn=None, connection_factory=None, cursor_factory=None, **keywords):
        factory = connection_factory or extensions.connection
        if isinstance(factory, type) and issubclass(factory, extensions.connection):
            factory = _subclass(factory, Connection)
        memory.opened_elsewhere()
        return plain(dsn, connection_factory=factory, cursor_factory=cursor_factory, **keywords)

    module.connect = connect


# psycopg 3.


def psycopg(module):
    for cursor, client in ((module.Cursor, module.ClientCursor), (module.AsyncCursor, module.AsyncClientCursor)):
        _psycopg_cursor(cursor, client, is_async=cursor is module.AsyncCursor)
    for connection in (module.Connection, module.AsyncConnection):
        _counts_connections(connection, "__init__")


def _psycopg_text(client, connection, query, values):
    try:
        if values:
            return client(connection).mogrify(query, values)
        return query.as_string(connection) if hasattr(query, "as_string") else query
    except Exception:
        return query if isinstance(query, (str, bytes)) else repr(query)


def _psycopg_cursor(cursor, client, is_async):
    def told(self, query, params):
        return _begin("postgres", _psycopg_text(client, self.connection, query, params))

    if is_async:

        @replaced(cursor, "execute")
        async def execute(original, self, query, params=None, **keywords):
            try:
                result = await original(self, query, params, **keywords)
            except Exception as failure:
                _failed(told(self, query, params), failure)
                raise
            _counted(told(self, query, params), self.rowcount)
            return result

        @replaced(cursor, "executemany")
        async def executemany(original, self, query, params_seq, **keywords):
            params_seq = list(params_seq)
            result = await original(self, query, params_seq, **keywords)
            for params in params_seq[:100]:
                told(self, query, params)
            return result

    else:

        @replaced(cursor, "execute")
        def execute(original, self, query, params=None, **keywords):
            try:
                result = original(self, query, params, **keywords)
            except Exception as failure:
                _failed(told(self, query, params), failure)
                raise
            _counted(told(self, query, params), self.rowcount)
            return result

        @replaced(cursor, "executemany")
        def executemany(original, self, query, params_seq, **keywords):
            params_seq = list(params_seq)
            result = original(self, query, params_seq, **keywords)
            for params in params_seq[:100]:
                told(self, query, params)
            return result


def _counts_connections(owner, name):
    @replaced(owner, name)
    def counted(original, self, *arguments, **keywords):
        memory.opened_elsewhere()
        return original(self, *arguments, **keywords)


# asyncpg.


def asyncpg(module):
    _counts_connections(module.Connection, "__init__")

    @replaced(module.Connection, "_execute")
    async def _execute(original, self, query, arguments, *rest, **keywords):
        record = _begin_asyncpg(query, arguments)
        try:
            result = await original(self, query, arguments, *rest, **keywords)
        except Exception as failure:
            _failed(record, failure)
            raise
        _counted(record, _rows_of(result))
        return result

    @replaced(module.Connection, "execute")
    async def execute(original, self, query, *arguments, **keywords):
        if arguments:
            return await original(self, query, *arguments, **keywords)
        record = _begin_asyncpg(query, ())
        try:
            result = await original(self, query, **keywords)
        except Exception as failure:
            _failed(record, failure)
            raise
        _counted(record, _rows_of(result))
        return result

    @replaced(module.Connection, "executemany")
    async def executemany(original, self, command, arguments, **keywords):
        arguments = list(arguments)
        result = await original(self, command, arguments, **keywords)
        for one in arguments[:100]:
            _begin_asyncpg(command, one)
        return result


def asyncpg_prepared(module):
    @replaced(module.PreparedStatement, "_PreparedStatement__bind_execute")
    async def bind_execute(original, self, arguments, *rest, **keywords):
        record = _begin_asyncpg(self._query, arguments)
        try:
            result = await original(self, arguments, *rest, **keywords)
        except Exception as failure:
            _failed(record, failure)
            raise
        _counted(record, _rows_of(result))
        return result


def _begin_asyncpg(query, arguments):
    try:
        return _begin("postgres", statements.fill(query, tuple(arguments), "postgres"))
    except Exception:
        return None


def _rows_of(result):
    """Rows, or a status such as `UPDATE 3`, or both."""
    if isinstance(result, tuple) and len(result) == 3:
        rows, status, _ = result
        return _rows_of(rows) or _rows_of(status)
    if isinstance(result, list):
        return len(result)
    if isinstance(result, (str, bytes)):
        last = (result.decode() if isinstance(result, bytes) else result).split()[-1:]
        return int(last[0]) if last and last[0].isdigit() else 0
    return 0


# MySQL and MariaDB.


def pymysql(module):
    _mysql_cursor(module.Cursor)


def mysqlclient(module):
    _mysql_cursor(module.BaseCursor)


def _mysql_cursor(cursor):
    @replaced(cursor, "__init__")
    def init(original, self, *arguments, **keywords):
        memory.opened_elsewhere()
        return original(self, *arguments, **keywords)

    @replaced(cursor, "execute")
    def execute(original, self, query, args=None):
        try:
            result = original(self, query, args)
        except Exception as failure:
            _failed(_begin("mysql", _mysql_text(self, query, args)), failure)
            raise
        _counted(_begin("mysql", _mysql_text(self, query, args)), self.rowcount)
        return result


def _mysql_text(cursor, query, args):
    try:
        return cursor.mogrify(query, args)
    except Exception:
        return getattr(cursor, "_executed", None) or query
