"""Statements that client libraries execute are told with values, rows and failures."""

import asyncio
import contextlib
import importlib
import shutil
import struct

import pytest

import core
import servers
from conftest import needs
from isobath_driver import frame, link, patch, probe
from isobath_driver.cells import CANDIDATE, Cells
from isobath_driver.patch import memory, statements
from isobath_driver.request import CURRENT, Request

_patched = set()


def library(name, *modules):
    """A library, patched once."""
    for one in modules or (name,):
        module = importlib.import_module(one)
        if one not in _patched:
            _patched.add(one)
            patches = patch.Patches()
            patches.apply(one, module)
            assert patches.unwatched == []
    return importlib.import_module(name)


@pytest.fixture
def told():
    """Gives the statements since the last time: text, rows, failure."""
    cells = Cells.alone(1)
    cells.words[CANDIDATE] = 1
    connection, far = link.alone(cells)
    probe.reserve(1)

    def ask():
        statements.settle()
        connection.queue.flush(frame.synced(1))
        found = []
        while True:
            (length,) = struct.unpack("<I", far.recv(4, 0x100))
            name, fields = core.decode(far.recv(length, 0x100))
            if name == "Synced":
                return found
            if name == "Statement":
                found.append(tuple(fields[2:]))

    yield ask
    link.current = None
    far.close()


@contextlib.contextmanager
def in_request():
    token = CURRENT.set(Request(1, 0))
    yield
    CURRENT.reset(token)


def texts(found):
    return [one[0] for one in found]


def test_values_are_filled_in_outside_of_texts_and_comments():
    fill = statements.fill
    assert fill("SELECT ?, '?', \"?\" -- ?\n, ?", (1, "it's")) == "SELECT 1, '?', \"?\" -- ?\n, 'it''s'"
    assert fill("SELECT :a, :b, ':a'", {"a": None, "b": b"\x01"}) == "SELECT NULL, X'01', ':a'"
    assert fill("SELECT ?2, ?1", (1, 2)) == "SELECT 2, 1"
    assert fill("SELECT $2::text, $1", (True, "x"), "postgres") == "SELECT 'x'::text, TRUE"


def test_sqlite3_tells_values_rows_and_failures(told):
    sqlite3 = library("sqlite3", "sqlite3.dbapi2", "sqlite3")
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE t (x INT, y TEXT)")
    db.executemany("INSERT INTO t VALUES (?, ?)", [(1, "a"), (2, "b"), (3, None)])
    told()
    assert db.execute("SELECT * FROM t WHERE x > ?", (1,)).fetchall() == [(2, "b"), (3, None)]
    cursor = db.cursor()
    cursor.execute("SELECT * FROM t WHERE y = :y", {"y": "a"})
    assert list(cursor) == [(1, "a")]
    db.execute("UPDATE t SET y = 'z' WHERE x >= 2")
    with pytest.raises(sqlite3.OperationalError):
        db.execute("SELECT * FROM missing")
    db.row_factory = sqlite3.Row
    assert db.execute("SELECT x FROM t").fetchone()["x"] == 1
    assert told() == [
        ("SELECT * FROM t WHERE x > 1", 2, None),
        ("SELECT * FROM t WHERE y = 'a'", 1, None),
        ("UPDATE t SET y = 'z' WHERE x >= 2", 2, None),
        ("SELECT * FROM missing", 0, "no such table: missing"),
        ("SELECT x FROM t", 1, None),
    ]
    db.close()


def test_sqlite_in_memory_is_read_written_and_reset_on_the_service_s_connection(told):
    sqlite3 = library("sqlite3", "sqlite3.dbapi2", "sqlite3")
    memory._connections.clear()
    memory._snapshot = None
    with pytest.raises(memory.NoDatabase):
        memory.run("SELECT 1")
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT)")
    db.execute("INSERT INTO t (x) VALUES ('first')")
    db.commit()
    told()
    assert memory.describe() == [["sqlite"], ["CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT)"]]
    memory.reset()
    assert memory.run("INSERT INTO t (x) VALUES ('a;b'); INSERT INTO t (x) VALUES (x'01') RETURNING id, x") == [["3", "01"]]
    # The service cannot roll the core's rows back.
    db.rollback()
    assert db.execute("SELECT count(*) FROM t").fetchone() == (3,)
    with pytest.raises(sqlite3.Error, match="no such table"):
        memory.run("INSERT INTO missing VALUES (1)")
    memory.reset()
    assert db.execute("SELECT x FROM t").fetchall() == [("first",)]
    memory.run("BEGIN; INSERT INTO t (x) VALUES ('gone')")
    memory.run("ROLLBACK")
    assert memory.run("SELECT id, x, NULL FROM t") == [["1", "first", None]]
    assert texts(told()) == ["SELECT count(*) FROM t", "SELECT x FROM t"]
    db.close()


@needs("aiosqlite")
def test_aiosqlite_tells_statements(told):
    library("sqlite3", "sqlite3.dbapi2", "sqlite3", "aiosqlite.core")
    import aiosqlite

    async def work():
        async with aiosqlite.connect(":memory:") as db:
            async with db.execute("SELECT ? AS n", (5,)) as cursor:
                return [row async for row in cursor]

    with in_request():
        assert asyncio.run(work()) == [(5,)]
    assert told() == [("SELECT 5 AS n", 1, None)]
    # A task that no request started is not the business of any.
    asyncio.run(work())
    assert told() == []


@needs("sqlalchemy")
def test_sqlalchemy_tells_statements(told):
    library("sqlite3", "sqlite3.dbapi2", "sqlite3")
    import sqlalchemy as sa

    engine = sa.create_engine("sqlite://", poolclass=sa.pool.StaticPool)
    table = sa.Table("t", sa.MetaData(), sa.Column("id", sa.Integer, primary_key=True), sa.Column("x", sa.String))
    table.metadata.create_all(engine)
    with engine.begin() as connection:
        connection.execute(table.insert(), [{"x": "a"}, {"x": "b"}])
        told()
        rows = connection.execute(sa.select(table.c.x).where(table.c.x == "b")).fetchall()
    assert [tuple(row) for row in rows] == [("b",)]
    (text, count, failure), = told()
    assert (text.replace("\n", ""), count, failure) == ("SELECT t.x FROM t WHERE t.x = 'b'", 1, None)


@needs("django")
def test_django_tells_statements(told):
    library("sqlite3", "sqlite3.dbapi2", "sqlite3")
    import django
    from django.conf import settings

    if not settings.configured:
        settings.configure(DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}})
        django.setup()
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE d (x TEXT)")
        cursor.execute("INSERT INTO d VALUES (%s)", ["a"])
        told()
        cursor.execute("SELECT x FROM d WHERE x = %s", ["a"])
        assert cursor.fetchall() == [("a",)]
    assert told() == [("SELECT x FROM d WHERE x = 'a'", 1, None)]


@pytest.fixture(scope="module")
def postgres():
    process, folder, address = servers.postgres()
    yield address
    process.terminate()
    process.wait()
    shutil.rmtree(folder)


SCRIPT = [
    ("CREATE TABLE IF NOT EXISTS p (x INT PRIMARY KEY, y TEXT)", None),
    ("DELETE FROM p", None),
    ("INSERT INTO p VALUES (%s, %s), (%s, %s)", (1, "it's", 2, None)),
    ("UPDATE p SET y = %s WHERE x = %s", ("b", 2)),
    ("SELECT x, y FROM p WHERE y = %s", ("it's",)),
]
TOLD = [
    ("INSERT INTO p VALUES (1, 'it''s'), (2, NULL)", 2, None),
    ("UPDATE p SET y = 'b' WHERE x = 2", 1, None),
    ("SELECT x, y FROM p WHERE y = 'it''s'", 1, None),
]


@needs("psycopg2")
def test_psycopg2_tells_statements(told, postgres):
    psycopg2 = library("psycopg2")
    import psycopg2.extras

    db = servers.wait_for(lambda: psycopg2.connect(**postgres))
    for factory in (None, psycopg2.extras.RealDictCursor):
        with db, db.cursor(cursor_factory=factory) as cursor:
            for text, values in SCRIPT:
                cursor.execute(text, values)
            assert len(cursor.fetchall()) == 1
        assert told()[-3:] == TOLD
    with pytest.raises(psycopg2.Error), db, db.cursor() as cursor:
        cursor.execute("INSERT INTO p VALUES (%s, 'c')", (1,))
    (text, rows, failure), = told()
    assert text == "INSERT INTO p VALUES (1, 'c')" and "p_pkey" in failure
    db.close()


@needs("psycopg")
def test_psycopg_3_tells_statements(told, postgres):
    psycopg = library("psycopg")
    address = dict(postgres)
    address["dbname"] = address.pop("database")
    db = servers.wait_for(lambda: psycopg.connect(**address))
    with db, db.cursor() as cursor:
        for text, values in SCRIPT:
            cursor.execute(text, values)
        assert len(cursor.fetchall()) == 1
    assert told()[-3:] == TOLD

    async def work():
        async with await psycopg.AsyncConnection.connect(**address) as other:
            async with other.cursor() as cursor:
                for text, values in SCRIPT:
                    await cursor.execute(text, values)
                with pytest.raises(psycopg.Error):
                    await cursor.execute("SELECT * FROM missing")

    with in_request():
        asyncio.run(work())
    found = told()
    assert found[-4:-1] == TOLD
    assert "missing" in found[-1][2]


@needs("asyncpg")
def test_asyncpg_tells_statements(told, postgres):
    asyncpg = library("asyncpg", "asyncpg.connection", "asyncpg.prepared_stmt")

    async def work():
        for _ in range(100):
            try:
                db = await asyncpg.connect(**postgres)
                break
            except OSError:
                await asyncio.sleep(0.1)
        for text, values in SCRIPT:
            values = values or ()
            for at in range(len(values)):
                text = text.replace("%s", "$%d" % (at + 1), 1)
            rows = await (db.fetch(text, *values) if text.startswith("SELECT") else db.execute(text, *values))
        assert len(rows) == 1
        statement = await db.prepare("SELECT y FROM p WHERE x = $1")
        assert await statement.fetchval(2) == "b"
        with pytest.raises(asyncpg.UniqueViolationError):
            await db.execute("INSERT INTO p VALUES ($1, 'c')", 1)
        await db.close()

    with in_request():
        asyncio.run(work())
    found = [one for one in told() if " p " in one[0]]
    assert found[-5:-2] == TOLD
    assert found[-2] == ("SELECT y FROM p WHERE x = 2", 1, None)
    assert found[-1][0] == "INSERT INTO p VALUES (1, 'c')" and "p_pkey" in found[-1][2]


@pytest.fixture(scope="module")
def mariadb():
    process, folder, address = servers.mariadb()
    yield address
    process.terminate()
    process.wait()
    shutil.rmtree(folder)


@pytest.mark.parametrize("name, cursors", [
    pytest.param("pymysql", "pymysql.cursors", marks=needs("pymysql")),
    pytest.param("MySQLdb", "MySQLdb.cursors", marks=needs("MySQLdb")),
])  # fmt: skip
def test_mysql_libraries_tell_statements(told, mariadb, name, cursors):
    module = library(name, cursors)
    address = dict(mariadb)
    address.pop("database")
    db = servers.wait_for(lambda: module.connect(**address))
    with db.cursor() as cursor:
        cursor.execute("CREATE DATABASE IF NOT EXISTS test")
        cursor.execute("USE test")
        for text, values in SCRIPT:
            cursor.execute(text, values)
        assert len(cursor.fetchall()) == 1
        found = [(text.replace("\\'", "''"), rows, failure) for text, rows, failure in told()]
        assert found[-3:] == TOLD
        with pytest.raises(module.Error):
            cursor.execute("INSERT INTO p VALUES (%s, 'c')", (1,))
    (text, rows, failure), = told()
    assert text == "INSERT INTO p VALUES (1, 'c')" and "Duplicate" in failure
    db.close()
