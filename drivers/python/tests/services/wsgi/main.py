"""A Flask service with the parts that a driver looks at."""

import sys

from flask import Flask, jsonify, request

app = Flask(__name__)
COUNT = {"calls": 0}


@app.route("/")
def root():
    COUNT["calls"] += 1
    return jsonify(calls=COUNT["calls"])


@app.route("/lock/<int:n>")
def lock(n):
    if n == 4711:
        return jsonify(open=True)
    if request.headers.get("X-Secret") == "sesame":
        return jsonify(open="by header")
    return jsonify(open=False)


@app.route("/fail")
def fail():
    return {}["missing"]


@app.route("/things", methods=["POST"])
def things():
    body = request.get_json()
    if body.get("name") == "gold":
        return jsonify(found=body["amount"]["grams"])
    if request.cookies.get("token") or request.args.get("debug") or "level" in request.args:
        return jsonify(debug=True)
    return jsonify(found=None)


@app.route("/form", methods=["POST"])
def form():
    return jsonify(color=request.form["color"])


if __name__ == "__main__":
    app.run("127.0.0.1", int(sys.argv[1]))
