"""Eight conditions that random inputs do not meet, one of each kind."""

import datetime
import re
import sqlite3

from fastapi import FastAPI, Request
from pydantic import BaseModel

app = FastAPI()
connection = sqlite3.connect(":memory:", check_same_thread=False)
connection.execute("CREATE TABLE parts (code TEXT NOT NULL, stock INTEGER NOT NULL)")
connection.execute("INSERT INTO parts VALUES ('bolt-m8-steel', 12)")
connection.commit()

RATES = {"harbor": 3, "lighthouse": 5}


class Parcel(BaseModel):
    kind: str
    weight: int


@app.get("/numbers")
def numbers(a: int, b: int):
    if 1000 < a < 1010 and a * 3 - b == 77:
        return "open"
    return "closed"


@app.get("/text")
def text(word: str):
    if word == "isobath-7":
        return "open"
    return "closed"


@app.get("/date")
def date(day: str):
    try:
        parsed = datetime.date.fromisoformat(day)
    except ValueError:
        return "no date"
    if parsed.year == 2031 and parsed.month == 2:
        return "open"
    return "closed"


@app.get("/pattern")
def pattern(code: str):
    if re.fullmatch(r"[A-Z]{3}-\d{4}(x|y)", code) and code.endswith("7y"):
        return "open"
    return "closed"


@app.get("/lookup")
def lookup(place: str):
    if RATES.get(place) == 5:
        return "open"
    return "closed"


@app.post("/match")
def match(parcel: Parcel):
    match parcel.kind:
        case "crate" if parcel.weight > 500:
            return "open"
        case "crate" | "bag":
            return "light"
    return "closed"


@app.get("/sql")
def sql(code: str):
    row = connection.execute("SELECT stock FROM parts WHERE code = ?", (code,)).fetchone()
    if row is not None:
        return "open"
    return "closed"


@app.get("/header")
def header(request: Request):
    if request.headers.get("x-tide") == "spring":
        return "open"
    return "closed"
