"""The Foo service on Flask."""

import foo
from flask import Flask

app = Flask(__name__)


@app.post("/api/foo")
def make():
    foo.make()
    return ""


@app.get("/api/foo/<int(signed=True):x>/<int(signed=True):y>")
def find(x, y):
    return "", foo.find(x, y)
