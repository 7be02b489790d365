"""The stock of parts on FastAPI."""

from fastapi import FastAPI
from pydantic import BaseModel

import stock

app = FastAPI()


class Line(BaseModel):
    part: int
    amount: int
    note: str = ""


@app.get("/parts")
def search(kind: str, most: int):
    return stock.search(kind, most)


@app.get("/parts/{number}")
def one(number: int):
    return stock.one(number)


@app.post("/orders")
def order(lines: list[Line]):
    return stock.order([line.model_dump() for line in lines])
