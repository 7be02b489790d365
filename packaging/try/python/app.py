"""The service of ../service as a WSGI application, without dependencies."""

import json
import os
import re


def app(environ, start_response):
    if environ["REQUEST_METHOD"] != "GET":
        return answer(start_response, "405 Method Not Allowed", {"error": "only GET"}, [("Allow", "GET")])
    length = re.fullmatch(r"/berths/([0-9]{1,9})", environ["PATH_INFO"])
    if not environ["PATH_INFO"].startswith("/berths/"):
        return answer(start_response, "404 Not Found", {"error": "no such page"})
    meters = int(length[1]) if length else 0
    if meters < 1 or meters > 200:
        return answer(start_response, "400 Bad Request", {"error": "no boat has this length"})
    if meters > 50 and "FAULTY" in os.environ:
        return answer(start_response, "500 Internal Server Error", {"error": "no berth"})
    return answer(start_response, "200 OK", {"berth": meters // 10})


def answer(start_response, status, body, headers=()):
    start_response(status, [("Content-Type", "application/json"), *headers])
    return [json.dumps(body).encode()]
