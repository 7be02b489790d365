"""How far values are apart, as the core's `distance` crate has it; drivers/conformance/distances.json holds both to the same numbers.

Distances look only at exact built-in types, values of enumerations, decimals, dates and UUIDs. Methods of the service's own
classes are never called.
"""

import datetime
import decimal
import enum
import fractions
import math
import uuid

EQUAL, NOT_EQUAL, LESS, LESS_OR_EQUAL, GREATER, GREATER_OR_EQUAL = range(6)

LIMIT = 1.7976931348623157e308 / 1e6
SMALLEST = 2.2250738585072014e-308
#: Longer texts are compared in their first characters only.
LONGEST = 4096
#: So many parts of a text are compared with what it should contain.
MOST_PARTS = 256
#: So many elements of a container are looked at.
MOST_ELEMENTS = 256


def positive(distance):
    """A distance that is not zero and not infinite, whatever the arithmetic gave."""
    if distance != distance:
        return 1.0
    return SMALLEST if distance < SMALLEST else LIMIT if distance > LIMIT else distance


def normalize(distance):
    """Squeezes a distance below one, keeping its order."""
    return distance / (distance + 1.0)


def holds(relation, order):
    """Whether a relation holds of two things that are ordered so."""
    return (order == 0, order != 0, order < 0, order <= 0, order > 0, order >= 0)[relation]


def judge(relation, order, gap):
    """How far two things that are ordered so and lie `gap` apart are from the other verdict (Korel's rules)."""
    gap = 0.0 if order == 0 else abs(gap)
    if relation <= NOT_EQUAL:
        return positive(gap if order else 1.0)
    strict = relation in (LESS, GREATER)
    return positive(gap if holds(relation, order) == strict else gap + 1.0)


def numbers(relation, a, b):
    """As `judge`, of two numbers. NaN equals itself and lies above all others."""
    if a != a or b != b:
        return judge(relation, (a != a) - (b != b), math.nan)
    order = (a > b) - (a < b)
    try:
        gap = float(abs(a - b))
    except OverflowError:
        gap = LIMIT
    return judge(relation, order, gap)


def substitution(a, b):
    """The cost of replacing one character by another, below one."""
    gap = abs(ord(a) - ord(b))
    return gap / (gap + 1.0)


def positions(a, b):
    """Sum over positions; a missing character costs one."""
    total = float(abs(len(a) - len(b)))
    for x, y in zip(a, b):
        if x != y:
            gap = abs(ord(x) - ord(y))
            total += gap / (gap + 1.0)
    return total


def _first_difference(a, b):
    """How far two texts lie apart in their order: halved by every character that they share at the start."""
    scale = 1.0
    at = 0
    for x, y in zip(a, b):
        if x != y:
            gap = float(abs(ord(x) - ord(y)))
            break
        scale = max(scale / 2.0, 1e-12)
        at += 1
    else:
        if len(a) == len(b):
            return 0.0
        gap = float(max(len(a), len(b)) - at)
    return scale * (1.0 + normalize(gap)) / 2.0


def texts(relation, a, b):
    """As `judge`, of two texts, by code points."""
    a, b = a[:LONGEST], b[:LONGEST]
    gap = positions(a, b) if relation <= NOT_EQUAL else _first_difference(a, b)
    return judge(relation, (a > b) - (a < b), gap)


def folded(text):
    """The letters of ASCII in lower case."""
    return text[:LONGEST].translate(_FOLD)


_FOLD = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def prefix(text, wanted):
    """How far a text is from starting with another."""
    return positions(text[: len(wanted)], wanted[:LONGEST])


def suffix(text, wanted):
    """How far a text is from ending with another."""
    wanted = wanted[:LONGEST]
    return positions(text[max(0, len(text) - len(wanted)) :], wanted)


def part(text, wanted):
    """How far a text is from containing another: the nearest of its parts counts."""
    text, wanted = text[:LONGEST], wanted[:LONGEST]
    parts = min(MOST_PARTS, max(0, len(text) - len(wanted)) + 1)
    return min(positions(text[at : at + len(wanted)], wanted) for at in range(parts))


def like(text, pattern):
    """The cheapest edit that makes a text match; `%` stands for any characters, `_` for one."""
    row = [0.0]
    for piece in pattern:
        row.append(row[-1] + (0.0 if piece == "%" else 1.0))
    for c in text:
        diagonal = row[0]
        row[0] += 1.0
        for at, piece in enumerate(pattern):
            above = row[at + 1]
            if piece == "%":
                row[at + 1] = min(above, row[at])
            else:
                cost = 0.0 if piece == "_" else substitution(piece, c)
                row[at + 1] = min(diagonal + cost, above + 1.0, row[at] + 1.0)
            diagonal = above
    return row[-1]


class Moment:
    """A moment in its calendar parts: year, month, day, hour, minute, second, nanosecond."""

    __slots__ = ("parts",)

    def __init__(self, *parts):
        self.parts = parts

    @classmethod
    def of(cls, value):
        """The moment that a value is, or none."""
        kind = type(value)
        if kind is datetime.datetime:
            offset = value.utcoffset() if type(value.tzinfo) in _PLAIN_ZONES else None
            if offset is not None:
                try:
                    value = value.replace(tzinfo=None) - offset
                except OverflowError:
                    return None
            elif value.tzinfo is not None:
                return None
            nano = value.microsecond * 1000
            return cls(value.year, value.month, value.day, value.hour, value.minute, value.second, nano)
        if kind is datetime.date:
            return cls(value.year, value.month, value.day, 0, 0, 0, 0)
        if kind is datetime.time:
            return cls(0, 0, 0, value.hour, value.minute, value.second, value.microsecond * 1000)
        return None

    def _days(self):
        year, month, day, hour, minute, second, nano = self.parts
        shifted = year - (month <= 2)
        era, of_era = divmod(shifted, 400)
        of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
        days = era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year
        return days + (hour * 3600.0 + minute * 60.0 + second + nano / 1e9) / 86_400.0


_PLAIN_ZONES = {datetime.timezone}
try:
    import zoneinfo

    _PLAIN_ZONES.add(zoneinfo.ZoneInfo)
except ImportError:  # pragma: no cover
    pass


def moments(relation, a, b):
    """As `judge`, of two moments. A sum of parts can shrink while the moment moves the wrong way, so order counts days."""
    order = (a.parts > b.parts) - (a.parts < b.parts)
    if relation <= NOT_EQUAL:
        gap = sum(abs(x - y) for x, y in zip(a.parts[:6], b.parts[:6])) + abs(a.parts[6] - b.parts[6]) / 1e9
    else:
        gap = abs(a._days() - b._days())
    return judge(relation, order, gap)


_NUMBERS = (int, float, bool)
_PLAIN = (int, float, bool, str, type(None))
#: A missing value, or one of another type, is further away than any of the right type.
UNLIKE = 1e6


def to_other(relation, a, b):
    """How far a relation between two values is from the other verdict; none when nothing is known."""
    kind, other = type(a), type(b)
    if kind in _NUMBERS and other in _NUMBERS:
        return numbers(relation, a, b)
    if kind is str and other is str:
        return texts(relation, a, b)
    return _other_types(relation, a, b)


def _other_types(relation, a, b):
    a, b = plain(a), plain(b)
    kind, other = type(a), type(b)
    if kind in _NUMBERS and other in _NUMBERS:
        return numbers(relation, a, b)
    if kind is str and other is str:
        return texts(relation, a, b)
    if kind in (list, tuple) and kind is other and relation <= NOT_EQUAL:
        return _sequences(relation, a, b)
    x = Moment.of(a)
    y = Moment.of(b) if x is not None else None
    if y is not None:
        return moments(relation, x, y)
    is_plain = kind in _PLAIN and other in _PLAIN
    return UNLIKE if is_plain and kind is not other and relation <= NOT_EQUAL else None


def plain(value):
    """A value of a type that can be measured, where that is known without calling anything of the service."""
    kind = type(value)
    if kind is decimal.Decimal or kind is fractions.Fraction:
        try:
            return float(value)
        except (OverflowError, ValueError):
            return value
    if kind is uuid.UUID:
        return str(value)
    if kind is bytes or kind is bytearray:
        return value[:LONGEST].decode("latin-1")
    if kind is datetime.timedelta:
        return value.total_seconds()
    if isinstance(kind, enum.EnumMeta):
        # `_value_` is where the value is kept; `value` may be a property of the service.
        inner = value.__dict__.get("_value_") if hasattr(value, "__dict__") else None
        return inner if type(inner) in (int, float, bool, str) else value
    if isinstance(value, str) and kind.__eq__ is str.__eq__ and kind.__len__ is str.__len__:
        return str.__str__(value) if kind.__str__ is str.__str__ else str.__getitem__(value, slice(None))
    return value


def _sequences(relation, a, b):
    """Lists and tuples: what is missing costs one, each element is squeezed below one."""
    if len(a) > MOST_ELEMENTS or len(b) > MOST_ELEMENTS:
        return None
    total = float(abs(len(a) - len(b)))
    for x, y in zip(a, b):
        gap = 0.0 if x is y else equality(x, y)
        if gap is None:
            return None
        total += normalize(gap)
    return judge(relation, 0 if total == 0 else 1, total)


def equality(a, b):
    """How far two values are from being equal: zero when they are; none when nothing is known."""
    known = to_other(EQUAL, a, b)
    if known is None:
        return None
    return 0.0 if _same(plain(a), plain(b)) else known


def _same(a, b):
    kind, other = type(a), type(b)
    if kind in _NUMBERS and other in _NUMBERS:
        return a == b
    if kind in (list, tuple):
        return len(a) == len(b) and all(equality(x, y) == 0.0 for x, y in zip(a, b))
    if kind is str:
        return a == b
    x, y = Moment.of(a), Moment.of(b)
    return x is not None and y is not None and x.parts == y.parts


_CONTAINERS = (list, tuple, set, frozenset, dict)
_VIEWS = (type({}.keys()), type({}.values()))


def elements(container):
    """The elements of an exact built-in container, if they are few; none of anything else. Never iterates something else."""
    kind = type(container)
    if kind not in _CONTAINERS and kind not in _VIEWS or len(container) > MOST_ELEMENTS:
        return None
    try:
        return list(container)
    except RuntimeError:  # Another thread is changing it.
        return None


def nearest(element, container):
    """How far an element is from the nearest of a container; none when nothing is known."""
    if type(element) is str and type(container) is str:
        return positive(part(container, element))
    among = elements(container)
    if not among:
        return None
    known = [gap for gap in (equality(element, one) for one in among) if gap is not None]
    return positive(min(known)) if known else None


def apart(element, container):
    """How far an element of a container is from being none of it: all that equal it must be broken."""
    among = elements(container)
    if among is None:
        return 1.0
    return float(max(1, sum(1 for one in among if equality(element, one) == 0.0)))
