"""Statements that the service executes: text with values filled in, rows, failures. Nothing is parsed but where texts and comments end."""

import _thread
import datetime
import decimal
import enum
import uuid

from .. import frame, link
from ..request import action, is_outside

MOST = 2000

_lock = _thread.RLock()
_told = []
_ours = _thread._local()


class Record:
    """One statement; its rows are counted while they are fetched."""

    __slots__ = ("action", "database", "text", "rows", "failure")

    def __init__(self, number, database, text):
        self.action = number
        self.database = database
        self.text = text
        self.rows = 0
        self.failure = None


class Ours:
    """What is done in this block is ours and not told."""

    def __enter__(self):
        _ours.depth = getattr(_ours, "depth", 0) + 1

    def __exit__(self, *_):
        _ours.depth -= 1


def begin(database, text):
    """A statement is executed; none when nobody wants to know."""
    connection = link.current
    # What the service does while it starts belongs to no call.
    if connection is None or getattr(_ours, "depth", 0) or connection.candidate() == 0 or is_outside():
        return None
    number = action()
    if number is None or len(text) > 1 << 20:
        return None
    record = Record(number, database, text)
    with _lock:
        if len(_told) < MOST:
            _told.append(record)
    return record


def settle():
    """Sends all statements so far."""
    global _told
    connection = link.current
    with _lock:
        told, _told = _told, []
    if connection is None:
        return
    for one in told:
        rows = max(0, int(one.rows))
        connection.queue.add(frame.statement(one.action, one.database, one.text, rows, one.failure))


def literal(value, database="sqlite"):
    """A value as it is written in SQL."""
    if isinstance(value, enum.Enum):
        value = value.value
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(int(value)) if database == "sqlite" else str(value).upper()
    if isinstance(value, (int, float, decimal.Decimal)):
        return str(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        digits = bytes(value).hex()
        return "'\\x%s'" % digits if database == "postgres" else "X'%s'" % digits
    if isinstance(value, datetime.datetime):
        value = value.isoformat(" ")
    elif isinstance(value, (datetime.date, datetime.time)):
        value = value.isoformat()
    elif isinstance(value, (list, tuple)) and database == "postgres":
        return "ARRAY[%s]" % ", ".join(literal(one, database) for one in value)
    elif not isinstance(value, (str, uuid.UUID)):
        value = repr(value)
    return "'%s'" % str(value).replace("'", "''")


def fill(sql, values, database="sqlite"):
    """Fills values in for `?`, `?1`, `:name`, `@name` and `$name` (SQLite) or `$1` (PostgreSQL); what has no value stays."""
    if not values:
        return sql
    by_name = isinstance(values, dict)
    out, number, at = [], 0, 0
    while at < len(sql):
        c = sql[at]
        end = at + 1
        if c in "'\"`":
            end = _after(sql, c, at + 1)
        elif sql.startswith("--", at):
            end = _after(sql, "\n", at)
        elif sql.startswith("/*", at):
            end = _after(sql, "*/", at + 2)
        elif c in "?:@$" and not (c == ":" and (sql[at : at + 2] == "::" or sql[at - 1 : at] == ":")):
            while end < len(sql) and (sql[end].isalnum() or sql[end] == "_"):
                end += 1
            name = sql[at + 1 : end]
            found, value = _value(c, name, values, by_name, number)
            if c == "?" and not name:
                number += 1
            elif c == "?" and name.isdigit():
                number = int(name)
            elif c in ":@$" and name and not by_name and database == "sqlite" and found:
                number += 1
            if found:
                out.append(literal(value, database))
                at = end
                continue
        out.append(sql[at:end])
        at = end
    return "".join(out)


def _value(sign, name, values, by_name, number):
    if by_name:
        return (True, values[name]) if name and name in values else (False, None)
    if sign == "?" and not name:
        index = number
    elif name.isdigit():
        index = int(name) - 1
    elif sign in ":@" and name:
        index = number
    else:
        return False, None
    return (True, values[index]) if 0 <= index < len(values) else (False, None)


def _after(sql, sign, start):
    found = sql.find(sign, start)
    return len(sql) if found < 0 else found + len(sign)


def split(sql):
    """Statements one by one."""
    statements, start, at = [], 0, 0
    while at < len(sql):
        c = sql[at]
        if c in "'\"`":
            at = _after(sql, c, at + 1)
        elif sql.startswith("--", at):
            at = _after(sql, "\n", at)
        elif sql.startswith("/*", at):
            at = _after(sql, "*/", at + 2)
        else:
            at += 1
            if c == ";":
                statements.append(sql[start : at - 1].strip())
                start = at
    statements.append(sql[start:].strip())
    return [one for one in statements if one]
