"""Functions of texts behind a REST API on Flask."""

from flask import Flask, request

import functions

app = Flask(__name__)


@app.errorhandler(ValueError)
def refuse(problem):
    return {"problem": str(problem)}, 400


@app.get("/calculate/<operator>/<first>/<second>")
def calculate(operator, first, second):
    return {"is": functions.calculate(operator, float(first), float(second))}


@app.get("/suffix/<folder>/<file>")
def suffix(folder, file):
    return {"is": functions.suffix(folder, file)}


@app.get("/cookie/<name>/<value>/<site>")
def cookie(name, value, site):
    return {"is": functions.cookie(name, value, site)}


@app.get("/date")
def date():
    return {"is": functions.date(request.args["text"])}


@app.post("/password")
def password():
    choice = request.get_json()
    if not isinstance(choice, dict):
        return {"problem": "no object"}, 400
    name, password = choice.get("name"), choice.get("password")
    if not isinstance(name, str) or not isinstance(password, str):
        return {"problem": "no texts"}, 400
    return functions.password(name, password)


@app.get("/ordered")
def ordered():
    a, b, c = (request.args[name] for name in "abc")
    return {"is": functions.ordered(a, b, c)}


@app.get("/sum")
def total():
    return {"is": functions.total(request.args["text"])}
