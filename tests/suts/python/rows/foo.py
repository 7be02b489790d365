"""The Foo service, without any framework: one row can be made, and all be looked for.

On PostgreSQL (DATABASE_URL) or SQLite, in memory or in a file (ROWS_FILE).
"""

import os
import sqlite3

URL = os.environ.get("DATABASE_URL", "")
if URL.startswith("postgres"):
    import psycopg

    connection = psycopg.connect(URL, autocommit=True)
    KEY, MARK = "SERIAL", "%s"
else:
    connection = sqlite3.connect(os.environ.get("ROWS_FILE", ":memory:"), check_same_thread=False)
    KEY, MARK = "INTEGER", "?"
connection.execute("CREATE TABLE IF NOT EXISTS foo (id %s PRIMARY KEY, x INTEGER NOT NULL, y INTEGER NOT NULL)" % KEY)
connection.commit()


def make():
    connection.execute("INSERT INTO foo (x, y) VALUES (%s, %s)" % (MARK, MARK), (42, 77))
    connection.commit()


def find(x, y):
    """The status of the response."""
    rows = connection.execute("SELECT id FROM foo WHERE x = %s AND y = %s" % (MARK, MARK), (x, y)).fetchall()
    if not rows:
        return 400
    return 200
