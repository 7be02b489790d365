"""The examples of the papers, without any framework: figures 1, 7 and 9."""

import datetime
import json


def figure1(date, number, setting):
    """A date, a number and a word that must be just right."""
    parsed = datetime.date.fromisoformat(date)
    n = int(number)
    if parsed.year == 2019 and n == 42 and setting in ["Foo", "Bar"]:
        return "OK"
    return "ERROR"


def figure7(param):
    """A query parameter that no document names."""
    if param == "FOO":
        return "OK"
    return "ERROR"


def figure9(body):
    """A body that the service reads by itself."""
    content = json.loads(body)
    if content["x"] > 0:
        return "OK"
    return "ERROR"
