"""Functions with many branches over texts."""

import datetime
import math
import re

COOKIE = re.compile("([a-z]+)=([a-zA-Z0-9]*)")


def calculate(operator, first, second):
    if operator == "plus":
        return str(first + second)
    elif operator == "minus":
        return str(first - second)
    elif operator == "times":
        return str(first * second)
    elif operator == "divide":
        if second == 0:
            raise ValueError("division by zero")
        return str(first / second)
    elif operator == "sqrt":
        return "imaginary" if first < 0 else str(math.sqrt(first))
    constants = {"pi": math.pi, "e": math.e}
    if operator in constants:
        return str(constants[operator])
    return "unknown"


def suffix(folder, file):
    dot = file.rfind(".")
    if dot < 0:
        return "bare"
    suffix = file[dot + 1 :]
    if folder == "text":
        if suffix == "txt":
            return "plain text"
        if suffix == "md" or suffix.lower() == "adoc":
            return "marked text"
    elif folder.startswith("image"):
        if suffix in ("png", "jpg", "gif"):
            return "thumbnail" if "thumb" in file else "image"
    elif folder.endswith("bin"):
        if not suffix or suffix == "exe" or suffix == "dll":
            return "program"
    return "other"


def cookie(name, value, site):
    name = name.lower()
    value = value.lower()
    if name == "userid":
        return "user" if value.startswith("user") else "stranger"
    if name == "session":
        if value == "am" and site == "abc.com":
            return "morning"
        return "session"
    pair = COOKIE.fullmatch(value)
    if pair:
        return "pair of " + pair.group(1)
    return "crumbs"


def date(text):
    try:
        day = datetime.date.fromisoformat(text)
    except ValueError:
        try:
            day = datetime.datetime.strptime(text, "%d.%m.%Y").date()
        except ValueError:
            return "no date"
    if day < datetime.date(1970, 1, 1):
        return "before time"
    if day == datetime.date(2000, 2, 29):
        return "leap"
    return "holidays" if day.month == 12 and day.day >= 24 else "workday"


def password(name, password):
    complaints = []
    if len(password) < 8:
        complaints.append("short")
    if len(password) > 40:
        complaints.append("long")
    if not re.search("[0-9]", password):
        complaints.append("no digit")
    if not any(c.isupper() for c in password):
        complaints.append("no capital")
    if name and name in password:
        complaints.append("name in it")
    if password == name:
        complaints.append("the name")
    if password.lower() == "password1":
        complaints.append("the worst")
    return complaints


def ordered(a, b, c):
    if a < b < c:
        return "ascending"
    if a > b > c:
        return "descending"
    return "same" if a == b == c else "mixed"


def total(text):
    """A tiny notation: key:number, parts separated by commas."""
    total = 0
    for part in text.split(","):
        pair = part.split(":")
        if len(pair) != 2:
            raise ValueError(f"`{part}` is not key:number")
        number = int(pair[1])
        match pair[0]:
            case "add":
                total += number
            case "sub":
                total -= number
            case _:
                raise ValueError("no such key")
    return total
