"""One function per rule of rewriting, with everything that could go wrong. Each returns what it saw; run plain and rewritten."""

import contextlib
import dataclasses
import datetime
import decimal
import enum
import functools
import inspect
import ipaddress
import json
import re
import typing
import uuid


class Log(list):
    """Records what is evaluated, in order."""

    def __call__(self, value):
        self.append(value)
        return value


class Loud:
    """Counts truth tests and comparisons; compares to odd things."""

    def __init__(self, log, name, truth=True, result=None):
        self.log, self.name, self.truth, self.result = log, name, truth, result

    def __bool__(self):
        self.log.append(("bool", self.name))
        if self.truth is None:
            raise ValueError("truth of %s is ambiguous" % self.name)
        return self.truth

    def __eq__(self, other):
        self.log.append(("eq", self.name))
        return self.result

    def __lt__(self, other):
        self.log.append(("lt", self.name))
        return self.result

    def __contains__(self, item):
        self.log.append(("contains", self.name))
        return self.truth

    def __getitem__(self, key):
        self.log.append(("item", self.name, key))
        return key

    def startswith(self, text):
        self.log.append(("startswith", text))
        return self.result

    def get(self, key, default=None):
        self.log.append(("get", key))
        return default

    __hash__ = None


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


def statements():
    """A docstring that stays."""
    global GLOBAL
    GLOBAL = 1
    x = 0
    while True:
        x += 1
        if x > 3:
            break
        elif x == 2:
            continue
        else:
            pass
    else:
        x = -1
    for n in range(3):
        if n == 5:
            break
    else:
        x += 10
    del n
    with contextlib.suppress(KeyError):
        {}["k"]
    try:
        raise KeyError("a")
    except (KeyError, ValueError) as problem:
        x += len(problem.args)
    else:
        x = -2
    finally:
        x += 100
    assert x, "message"
    return x, statements.__doc__, GLOBAL


def conditions():
    log = Log()
    a, b = Loud(log, "a", False), Loud(log, "b", True)
    out = []
    if a or b:
        out.append(1)
    if a and b:
        out.append(2)
    if not a:
        out.append(3)
    out.append("x" if log(0) else "y")
    out.append([n for n in range(5) if n if n % 2 == 0])
    while log(len(log) < 12):
        pass
    return out, [one for one in log if isinstance(one, tuple)], len(log)


def comparisons_as_values():
    log = Log()
    odd = Loud(log, "odd", None, result=[1, 2])
    same = odd == 3
    less = odd < 3
    both_none = 1
    both = (1 == 1, 1 != 1, "a" < "b", 2 <= 2, 3 > 4, 3 >= 4, None is None, both_none is not None)
    nan = float("nan")
    return same, less, both, nan == nan, nan != nan, nan < 1, log


def comparisons_in_conditions():
    log = Log()
    odd = Loud(log, "odd", True, result=Loud(log, "result", True))
    out = []
    if odd == 3:
        out.append("eq")
    if odd < 3:
        out.append("lt")
    if 1 in odd:
        out.append("in")
    if 1 not in odd:
        out.append("not in")
    return out, log


def ambiguous_truth_raises():
    log = Log()
    odd = Loud(log, "odd", None)
    try:
        if odd:
            return "no"
    except ValueError as problem:
        return str(problem), log


def arguments_stay():
    log = Log()
    column = Loud(log, "column", None, result="an expression")
    seen = list(map(str, [column == 1]))
    taken = [column == 2, str(column == 3), dict(a=column == 4)]
    return seen, taken, log


def membership():
    generator = (n for n in range(10))
    found = 3 in generator
    rest = list(generator)
    text = "bc" in "abcd", "x" not in "abcd"
    keys = "a" in {"a": 1}, 1 in {1, 2}, 5 in (1, 2), 5 in [1, 5], 3 in range(5)
    try:
        1 in 5
    except TypeError as problem:
        return found, rest, text, keys, str(problem)


def chains():
    log = Log()
    a = 5
    out = [0 < a < 10, 0 < a < 3, 1 < a != 5, a is a is not None, 0 < a in (5, 6)]
    out.append(log(1) < log(2) < log(3))
    out.append(log(3) < log(2) < log(1))
    out.append([n for n in range(5) if 0 < log(n) < log(4)])
    if log(0) <= a < log(10) < log(20):
        out.append("in order")
    odd = Loud(log, "odd", True, result=[])
    out.append(odd < 3 < 4)
    return out, log


def chains_with_locals():
    a = 2
    found = abs(1) < abs(a) < abs(3)
    return found, sorted(locals())


def values_of_or_and_and():
    log = Log()
    zero, full = [], [1]
    a, b = Loud(log, "a", False), Loud(log, "b", True)
    names = [(zero or full), (full or zero), (zero and full), (full and zero), (None or 0 or "" or "last")]
    same = (a or b) is b, (b or a) is b, (a and b) is a, (b and a) is a, (zero or a) is a
    mixed = 1 == 2 or log("right"), 1 == 1 and log("left"), not zero or 5, (1 < 2 and zero) or 7
    return names, same, mixed, log


def calls():
    log = Log()
    odd = Loud(log, "odd", True, result=7)
    out = [odd.startswith("x"), odd.get("k"), odd.get("k", 5), {"a": 1}.get("a"), {"a": 1}.get("b", log(2))]
    if odd.startswith("y"):
        out.append("truth")
    if "abc".startswith(("x", "a")) and "abc".endswith("bc", 1):
        out.append("both")
    out += ["a-b".find("-"), "ab".count("b"), [1, 2].index(2), {"a": 1}.pop("a"), {}.pop("a", None)]
    out += [int("12"), int("ff", 16), int(3.9), float("1.5"), decimal.Decimal("1.10"), int(), "12".isdigit(), "".isalpha()]
    out += [str(uuid.UUID("12345678-1234-5678-1234-567812345678")), datetime.date.fromisoformat("2020-01-02").day]
    out += [datetime.datetime.strptime("03.04.2021", "%d.%m.%Y").month, datetime.datetime.fromisoformat("2020-01-02T03:04").hour]
    out += [bool(re.match("a+", "aab")), re.search("b", "aab").start(), re.fullmatch("a", "b"), re.compile("x").match("x").end()]
    out += [json.loads("[1]"), str(ipaddress.ip_address("127.0.0.1")), Color("red").name]
    for attempt in (
        lambda: int("x"), lambda: Color("green"), lambda: {}.pop("a"), lambda: "a".index("b"), lambda: json.loads("{"),
        lambda: uuid.UUID("x"), lambda: datetime.date.fromisoformat("x"), lambda: int(None), lambda: "a".startswith(1),
        lambda: decimal.Decimal("x"), lambda: ipaddress.ip_address("x"), lambda: re.match("(", "a"), lambda: [].index(1),
        lambda: float(b"x"), lambda: {}.get([]), lambda: int("1", base="x"), lambda: {}["k"], lambda: [][3], lambda: (1,)[-4],
    ):  # fmt: skip
        try:
            out.append(attempt())
        except Exception as problem:
            out.append((type(problem).__name__, str(problem)))
    return out, log


def subscripts():
    log = Log()
    odd = Loud(log, "odd")
    rows = [[1, 2], [3, 4]]
    rows[0][1] += 5
    rows[log(1)][log(0)] = 9
    del rows[1][1]
    counts = {"a": {"b": 1}}
    counts["a"]["b"] += 1
    alias: typing.Optional[int] = None
    kind = typing.List[int]
    text = "abc"
    return rows, counts, odd["k"], odd[1:2], alias, str(kind), text[1], text[::-1], log


def lambdas_and_defaults(limit=3 < 5, kind: 1 < 2 = None):
    f = lambda n, m=1 == 1: n > 2 and m  # noqa: E731
    g = sorted(["b", "a"], key=lambda s: s == "b")
    return f(3), f(1), g, limit, lambdas_and_defaults.__annotations__


def comprehensions():
    data = {n: n * n for n in range(6) if n % 2 == 1}
    nested = [(a, b) for a in range(3) if a != 1 for b in range(3) if a < b or b == 0]
    first = next((n for n in range(10) if n > 6), None)
    names = {n for n in "abca" if n in "ac"}
    return data, nested, first, sorted(names), [y for x in range(3) if (y := x * 2) > 1]


def walrus():
    if (m := re.match(r"(\d+)-(\d+)", "12-34")) and (n := int(m.group(1))) > 5:
        return n, m.group(2)


def f_strings():
    a = 3
    return f"{a > 2} {a!r:>{a + 1}} {'x' if a == 3 else 'y'} {[n for n in range(3) if n]}"


def generators():
    def produce(n):
        received = []
        while n > 0:
            got = yield n
            if got is not None:
                received.append(got)
            n -= 1
        return received

    def delegate():
        result = yield from produce(3)
        yield result

    made = delegate()
    out = [next(made), made.send("x")]
    return out + list(made)


def coroutines():
    import asyncio

    async def produce():
        for n in range(5):
            if n % 2:
                yield n
                await asyncio.sleep(0)

    @contextlib.asynccontextmanager
    async def manage():
        yield "managed"

    class Store:
        async def get(self, key):
            return key * 2

    async def work():
        out = [n async for n in produce() if n > 1]
        async with manage() as name:
            out.append(name)
        async for n in produce():
            if n == 3:
                break
        else:
            out.append("never")
        if await Store().get(3) == 6:
            out.append(await Store().get("a"))
        return out

    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(work())
    finally:
        loop.close()


class Meta(type):
    def __prepare__(name, bases, **keywords):
        return {"flag": 7}


class Prepared(metaclass=Meta):
    seen = flag == 7 and [n for n in (1, 2) if n > 1]  # noqa: F821

    def method(self):
        return self.seen == [2] and __class__.__name__  # noqa: F821

    @property
    def prop(self):
        return self.__private() or "none"

    def __private(self):
        x = 3 < 2
        return x


@dataclasses.dataclass(order=True)
class Point:
    x: int = 0
    y: int = dataclasses.field(default_factory=lambda: 5 if 1 < 2 else 6)

    def __post_init__(self):
        if self.x is None:
            self.x = -1


def classes():
    class Local(Point):
        z = 3 > 2

        def sum(self):
            return super().__eq__(self) and self.x + self.y

    return Prepared.seen, Prepared().method(), Prepared().prop, Point(1) < Point(2), Point(), Local(2).sum(), Local.z


def decorated():
    @functools.lru_cache(maxsize=2 if 1 < 2 else 3)
    def inner(n):
        return n or 5

    return inner(0), inner(3), inner.cache_info().maxsize, inner.__wrapped__.__name__


def closures():
    count = 0

    def add(n):
        nonlocal count
        if n > 0:
            count += n
        return count

    return add(2), add(-1), add(3), add.__code__.co_freevars


def sources():
    lines = inspect.getsource(closures).splitlines()
    return lines[0], len(lines), closures.__code__.co_firstlineno, inspect.signature(lambdas_and_defaults).parameters["limit"].default


def exceptions_have_their_lines():
    def fail(n):
        if n == 0:
            return {}["missing"]
        return fail(
            n - 1
        )

    try:
        fail(2)
    except KeyError as problem:
        out, tb = [], problem.__traceback__
        while tb is not None:
            if tb.tb_frame.f_code.co_filename == __file__:
                out.append(tb.tb_lineno - fail.__code__.co_firstlineno)
            tb = tb.tb_next
        return out, problem.args, problem.__context__


def try_forms():
    out = []
    for n in range(4):
        try:
            if n == 0:
                continue
            if n == 3:
                break
            value = int("1" if n == 1 else "x")
        except ValueError as problem:
            out.append(type(problem).__name__)
        else:
            out.append(value)
        finally:
            out.append(n)
    return out


def unpacking():
    (a, *b), c = [1, 2, 3], 4
    d = {**{"x": a == 1}, "y": [*b, c > 3]}
    return a, b, c, d, max(*b, key=lambda n: -n if n > 2 else n)


PYTHON_310 = '''
def matches():
    out = []
    for subject in (1, -2, "go", ["north", 3], {"kind": "a", "n": 1}, Point(1, 2), None, True, (), 3.5, Color.RED):
        match subject:
            case 1 | -2:
                out.append("number")
            case "go" | "stop":
                out.append("word")
            case ["north", distance] if distance > 2:
                out.append(distance)
            case {"kind": "a", **rest}:
                out.append(rest)
            case Point(x=1, y=y):
                out.append(y)
            case None:
                out.append("none")
            case True:
                out.append("true")
            case []:
                out.append("empty")
            case float(n):
                out.append(n)
            case Color.RED:
                out.append("red")
            case _:
                out.append("other")
    return out
'''
PYTHON_311 = '''
def groups():
    out = []
    try:
        raise ExceptionGroup("g", [ValueError(1), KeyError(2)])
    except* ValueError as group:
        if len(group.exceptions) == 1:
            out.append("value")
    except* KeyError:
        out.append("key")
    return out
'''
PYTHON_312 = '''
def parameters():
    type Pair[T] = tuple[T, T]
    def first[T](pair: Pair[T]) -> T:
        return pair[0] if pair[0] == pair[1] else pair[1]
    class Box[T: int]:
        def get(self, n: T) -> T:
            return n or 5
    return first((1, 1)), first((1, 2)), Box().get(0), f"{'nested' if 1 < 2 else "quotes"}", str(Pair)
'''
PYTHON_314 = '''
def templates():
    a = 3
    template = t"{a > 2} and {a}"
    return [one.value for one in template.interpolations], template.strings
'''



def warnings_name_their_place():
    import warnings

    def old():
        warnings.warn("old", DeprecationWarning, stacklevel=2)
        return 5

    class Text:
        def startswith(self, other):
            warnings.warn("text", DeprecationWarning, stacklevel=2)
            return True

        def __lt__(self, other):
            warnings.warn("less", DeprecationWarning, stacklevel=2)
            return True

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        if old() == 5:
            pass
        if Text().startswith("a"):
            pass
        if Text() < Text():
            pass
    return [(str(one.message), one.lineno, one.filename == __file__) for one in seen]
