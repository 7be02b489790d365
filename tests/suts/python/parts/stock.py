"""A stock of parts: a loop over rows, a look-up, and orders whose lines are checked. Shows what the driver costs."""

PARTS = [
    {"id": number, "name": "part %d" % number, "kind": ("bolt", "nut", "gear")[number % 3], "price": 7 * number % 50}
    for number in range(133)
]


def search(kind, most):
    """A loop with two conditions."""
    found = []
    for part in PARTS:
        if part["kind"] == kind and part["price"] <= most:
            found.append(part["name"])
    return {"found": found}


def one(number):
    """A look-up by identifier."""
    if number < 0 or number >= len(PARTS):
        return None
    return PARTS[number]


def order(lines):
    """Four conditions for each line."""
    total, refused = 0, []
    for line in lines:
        part = one(line.get("part", -1))
        if part is None:
            refused.append("no such part")
            continue
        amount = line.get("amount", 0)
        if amount < 1 or amount > 1000:
            refused.append("bad amount")
            continue
        total += part["price"] * amount
        if line.get("note", "").startswith("urgent"):
            total += 10
    return {"total": total, "refused": refused}
