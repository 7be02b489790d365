"""The Foo service on FastAPI."""

import foo
from fastapi import FastAPI, Response

app = FastAPI()


@app.post("/api/foo")
async def make():
    foo.make()


@app.get("/api/foo/{x}/{y}")
async def find(x: int, y: int):
    return Response(status_code=foo.find(x, y))
