"""Numeric functions behind a REST API on FastAPI."""

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

import functions

app = FastAPI()


@app.exception_handler(ValueError)
@app.exception_handler(ArithmeticError)
async def refuse(request: Request, problem: Exception):
    return JSONResponse(str(problem), status_code=400)


@app.get("/triangle/{a}/{b}/{c}")
def triangle(a: int, b: int, c: int):
    return {"is": functions.triangle(a, b, c)}


@app.get("/remainder/{a}/{b}")
def remainder(a: int, b: int):
    if abs(a) > 10_000 or abs(b) > 10_000:
        return JSONResponse("too large", status_code=400)
    return {"is": functions.remainder(a, b)}


@app.get("/bessel/{order}/{x}")
def bessel(order: int, x: float):
    return {"is": str(functions.bessel(order, x))}


@app.get("/gamma/{a}/{x}")
def gamma(a: float, x: float):
    return {"is": str(functions.gamma(a, x))}


@app.get("/chart/{latitude}/{longitude}/{depth}")
def chart(latitude: int, longitude: int, depth: float):
    return {"is": functions.chart(latitude, longitude, depth)}


@app.get("/named/{number}")
def named(number: int):
    return {"is": functions.named(number)}
