"""The examples of the papers on Flask."""

from flask import Flask, request

from figures import figure1, figure7, figure9
from hidden import hidden


def create_app():
    app = Flask(__name__)

    @app.get("/api/testability/<date>/<number>/<setting>")
    def testability(date, number, setting):
        return figure1(date, number, setting)

    @app.get("/api/param")
    def param():
        return figure7(request.args.get("param"))

    @app.post("/api/body")
    def body():
        return figure9(request.get_data())

    @app.post("/api/hidden")
    def unnamed():
        return hidden(request.headers.get("X-Shift"), request.get_json(force=True))

    return app
