"""The SQLite database in memory that the service opened first: read, written and reset on the service's own connection."""

import _thread
import os
import weakref

from .. import door, start
from . import statements

_lock = _thread.RLock()
_connections = []
_module = None
_snapshot = None
_began = False
#: How many connections to other databases were opened. A process that has some must not be forked.
connections_elsewhere = 0


class NoDatabase(Exception):
    """There is nothing to run SQL on."""


def is_in_memory(database):
    """Whether a name is that of a database in memory."""
    try:
        name = os.fspath(database)
    except TypeError:
        return False
    if isinstance(name, bytes):
        name = os.fsdecode(name)
    return name == ":memory:" or (name.startswith("file:") and (":memory:" in name or "mode=memory" in name))


def opened(connection, module):
    """The service opened a database in memory."""
    global _module
    _module = module
    with _lock:
        _connections.append(weakref.ref(connection))
    if start.driver is not None and not start.driver.settings.has_core:
        door.open_once(start.driver.settings)


def opened_elsewhere():
    """The service opened a connection to a file or a server."""
    global connections_elsewhere
    connections_elsewhere += 1


def _connection():
    for reference in list(_connections):
        connection = reference()
        if connection is not None and _is_open(connection):
            return connection
        _connections.remove(reference)
    if connections_elsewhere:
        raise NoDatabase("only SQLite databases in memory are reached through the driver; name others by --db")
    raise NoDatabase("the service has not opened a database")


def _is_open(connection):
    try:
        connection.total_changes
    except _module.Error:
        return False
    return True


def run(text):
    """Runs statements; the rows of the last one."""
    with _lock, statements.Ours():
        return _run(_connection(), statements.split(text))


def _run(connection, texts):
    global _began
    rows = []
    was_in_transaction = connection.in_transaction
    cursor = _module.Cursor(connection)
    factory = cursor.row_factory
    cursor.row_factory = None
    try:
        for text in texts:
            word = text.split(None, 1)[0].upper()
            if word == "BEGIN":
                _began = True
                if connection.in_transaction:
                    continue
            elif word in ("COMMIT", "END", "ROLLBACK") and " TO " not in text.upper():
                _began = False
                if not connection.in_transaction:
                    continue
            cursor.execute(text)
            rows = [[_text(value) for value in row] for row in cursor.fetchall()] if cursor.description else []
        if not _began and not was_in_transaction and connection.in_transaction:
            connection.commit()
    except Exception:
        if not _began and not was_in_transaction and connection.in_transaction:
            connection.rollback()
        raise
    finally:
        cursor.row_factory = factory
        cursor.close()
    return rows


def _text(value):
    if value is None:
        return None
    if isinstance(value, bytes):
        return value.hex()
    return str(value)


def describe():
    """The database system, then its tables as SQL."""
    order = "CASE type WHEN 'table' THEN 0 WHEN 'view' THEN 1 WHEN 'index' THEN 2 ELSE 3 END, rowid"
    query = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite~_%%' ESCAPE '~' ORDER BY %s" % order
    with _lock, statements.Ours():
        return [["sqlite"]] + _run(_connection(), [query])


def reset():
    """Remembers all rows, the first time; puts them back, later."""
    global _snapshot
    with _lock, statements.Ours():
        connection = _connection()
        if connection.in_transaction:
            connection.rollback()
        plain = _module._isobath_connect
        if _snapshot is None:
            _snapshot = plain(":memory:", check_same_thread=False)
            connection.backup(_snapshot)
        else:
            _snapshot.backup(connection)
