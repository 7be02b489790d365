"""One row can be made, and all be looked for: the Foo service, on PostgreSQL (DATABASE_URL) or SQLite, in memory or in a file (ROWS_FILE)."""

import os
import sqlite3

from fastapi import FastAPI, Response

app = FastAPI()
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


@app.post("/api/foo")
async def make():
    connection.execute("INSERT INTO foo (x, y) VALUES (%s, %s)" % (MARK, MARK), (42, 77))
    connection.commit()


@app.get("/api/foo/{x}/{y}")
async def find(x: int, y: int):
    rows = connection.execute("SELECT id FROM foo WHERE x = %s AND y = %s" % (MARK, MARK), (x, y)).fetchall()
    if not rows:
        return Response(status_code=400)
    return Response(status_code=200)
