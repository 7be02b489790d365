"""One row can be made, and all be looked for: the Foo service, on SQLite in memory or in a file (ROWS_FILE)."""

import os
import sqlite3

from fastapi import FastAPI, Response

app = FastAPI()
connection = sqlite3.connect(os.environ.get("ROWS_FILE", ":memory:"), check_same_thread=False)
connection.execute("CREATE TABLE IF NOT EXISTS foo (id INTEGER PRIMARY KEY, x INTEGER NOT NULL, y INTEGER NOT NULL)")
connection.commit()


@app.post("/api/foo")
async def make():
    connection.execute("INSERT INTO foo (x, y) VALUES (?, ?)", (42, 77))
    connection.commit()


@app.get("/api/foo/{x}/{y}")
async def find(x: int, y: int):
    rows = connection.execute("SELECT id FROM foo WHERE x = ? AND y = ?", (x, y)).fetchall()
    if not rows:
        return Response(status_code=400)
    return Response(status_code=200)
