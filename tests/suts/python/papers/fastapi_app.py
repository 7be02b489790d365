"""The examples of the papers on FastAPI."""

from fastapi import FastAPI, Request
from pydantic import BaseModel, Field

from figures import figure1, figure7, figure9
from hidden import hidden

app = FastAPI()


class Order(BaseModel):
    """What is ordered; checked before any code of the service runs."""

    code: str = Field(pattern="^[A-Z]{2}-[0-9]{3}(/[a-f]+)?$")
    name: str = Field(min_length=3, max_length=8)


@app.get("/api/testability/{date}/{number}/{setting}")
def testability(date: str, number: str, setting: str):
    return figure1(date, number, setting)


@app.get("/api/param")
def param(request: Request):
    return figure7(request.query_params.get("param"))


@app.post("/api/body")
async def body(request: Request):
    return figure9(await request.body())


@app.post("/api/hidden")
async def unnamed(request: Request):
    return hidden(request.headers.get("X-Shift"), await request.json())


@app.post("/api/orders/{id}/{size}")
def checked(id: str, size: str, order: Order):
    if size == "LARGE":
        return "L " + order.code.lower()
    return "S " + id
