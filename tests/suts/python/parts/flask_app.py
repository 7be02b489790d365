"""The stock of parts on Flask."""

from flask import Flask, request

import stock

app = Flask(__name__)


@app.get("/parts")
def search():
    return stock.search(request.args["kind"], int(request.args["most"]))


@app.get("/parts/<int:number>")
def one(number):
    return stock.one(number) or ({}, 404)


@app.post("/orders")
def order():
    return stock.order(request.get_json())
