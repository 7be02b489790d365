"""Method replacement: library calls that also report a distance and what tracked inputs are used for (seed 002).

`wrap` gets what the service is about to call. It returns the same object unless it is one that is known here, so no frame is
added and nothing else is ever called. Each replacement first does what the original does, exceptions included.
"""

import datetime
import decimal
import enum
import functools
import hmac
import ipaddress
import json
import re
import types
import uuid

from . import distance, fields, hidden, track
from . import pattern as patterns
from .fields import paths
from .sites import MOST_LOOK_UPS, MOST_TRIES, best, done, open_, quiet, tracking, tries, wants

_Builtin = types.BuiltinFunctionType
#: Methods that know their class have a type of their own in newer releases.
_BuiltinOfClass = type(re.compile("").match)
_partial = functools.partial
#: By the type of the receiver and the name; by the class and the name; by the function or class itself.
_BOUND = {}
_CLASS_METHODS = {}
_CALLED = {}

_methods = True
_record = None
#: Texts and arguments that a site of the current candidate was called with: all is said of them.
_told = {}


def configure(record, methods):
    """How outcomes are recorded, and whether replaced calls have distances."""
    global _record, _methods
    _record, _methods = record, methods


def new_candidate():
    fields.forget()
    _told.clear()


def wrap(callee, t):
    """What is called instead."""
    if done[t]:
        return callee
    kind = type(callee)
    if kind is _Builtin or kind is _BuiltinOfClass:
        owner = callee.__self__
        known = _BOUND.get((type(owner), callee.__name__))
        if known is None:
            known = _CLASS_METHODS.get((id(owner), callee.__name__)) or _CALLED.get(callee)
    elif kind is types.FunctionType or kind is type:
        known = _CALLED.get(callee)
    elif kind is types.MethodType and type(callee.__self__) is type:
        known = _CLASS_METHODS.get((id(callee.__self__), callee.__name__))
    elif issubclass(kind, enum.EnumMeta):
        known = _enumerated
    else:
        known = None
    return callee if known is None else _partial(known, callee, t)


def wrap_get(callee, t):
    """As `wrap`, of a method that is called `get` or `pop` and has one or two arguments."""
    if type(callee) is _Builtin and type(callee.__self__) is dict and not done[t]:
        return _partial(_get_key, callee, t)
    return wrap(callee, t)


def reopen():
    """Inputs are tracked from now on, so calls that were seen before have more to say."""
    _told.clear()


def _settle(verdict, t, measure=None):
    """Records an outcome; the distance to the other one is computed only when it is of interest."""
    gap = None
    if measure is not None and _methods and wants(t + 1 if verdict else t):
        gap = measure()
    _record(verdict, t, 1.0 if gap is None else distance.positive(gap))


def _quietly(work):
    """What goes wrong while an outcome is recorded does not reach the service."""

    @functools.wraps(work)
    def safe(*arguments):
        try:
            work(*arguments)
        except Exception:
            pass

    return safe


# Texts.


def _is_news(text, arguments, verdict, t):
    """Whether something is left to say of a call with a text as its receiver."""
    may_tell = tracking[0] and track.is_concerned(text) and track.may_tell(t)
    if quiet[t] is verdict and not may_tell:
        return False
    try:
        before = _told.get(t)
        if before is None:
            before = _told[t] = set()
        elif (text, arguments) in before and not open_[t if verdict else t + 1]:
            if may_tell:
                track.repeated(t)
            return False
        if len(before) < MOST_TRIES:
            before.add((text, arguments))
    except TypeError:  # what cannot be an element of a set
        pass
    return True


@_quietly
def _told_affix(text, arguments, verdict, t, role, measure):
    wanted = arguments[0] if arguments else None
    wishes = [one for one in (wanted if type(wanted) is tuple else (wanted,)) if type(one) is str]
    if len(arguments) > 1 or not wishes:
        return _settle(verdict, t)
    if track.is_on():
        for wish in wishes:
            track.compared(text, wish, role, t)
    _settle(verdict, t, None if verdict else lambda: min(measure(text, wish) for wish in wishes))


def _startswith(callee, t, *arguments, **keywords):
    r = callee(*arguments, **keywords)
    if _is_news(callee.__self__, arguments, r, t):
        _told_affix(callee.__self__, arguments, r, t, track.STARTS_WITH, distance.prefix)
    return r


def _endswith(callee, t, *arguments, **keywords):
    r = callee(*arguments, **keywords)
    if _is_news(callee.__self__, arguments, r, t):
        _told_affix(callee.__self__, arguments, r, t, track.ENDS_WITH, distance.suffix)
    return r


_SHAPES = {
    "isdigit": "[0-9]+",
    "isdecimal": "[0-9]+",
    "isnumeric": "[0-9]+",
    "isalpha": "[A-Za-z]+",
    "isalnum": "[A-Za-z0-9]+",
    "isspace": " +",
    "isupper": "[A-Z]+",
    "islower": "[a-z]+",
    "istitle": "[A-Z][a-z]*",
    "isidentifier": "[A-Za-z_][A-Za-z0-9_]*",
    "isascii": "[ -~]*",
}


@_quietly
def _told_shape(text, name, verdict, t):
    shape = _SHAPES[name]
    if track.is_on() and track.tracked(text):
        track.used(text, track.PATTERN, ["^%s$" % shape], t)
    _settle(verdict, t, None if verdict else lambda: patterns.distance(shape, text))


def _is_shape(callee, t, *arguments, **keywords):
    r = callee(*arguments, **keywords)
    if _is_news(callee.__self__, arguments, r, t):
        _told_shape(callee.__self__, callee.__name__, r, t)
    return r


@_quietly
def _told_part(text, arguments, found, t):
    wish = arguments[0] if len(arguments) == 1 else None
    if type(wish) is not str:
        return _settle(found, t)
    if track.is_on():
        track.compared(text, wish, track.CONTAINS, t)
    _settle(found, t, None if found else lambda: distance.part(text, wish))


def _find(callee, t, *arguments, **keywords):
    at = callee(*arguments, **keywords)
    if _is_news(callee.__self__, arguments, at >= 0, t):
        _told_part(callee.__self__, arguments, at >= 0, t)
    return at


def _count(callee, t, *arguments, **keywords):
    count = callee(*arguments, **keywords)
    if _is_news(callee.__self__, arguments, count > 0, t):
        _told_part(callee.__self__, arguments, count > 0, t)
    return count


def _split(callee, t, *arguments, **keywords):
    parts = callee(*arguments, **keywords)
    separator = arguments[0] if arguments else keywords.get("sep")
    if type(separator) is str:
        found = separator in callee.__self__
        if _is_news(callee.__self__, (separator,), found, t):
            _told_part(callee.__self__, (separator,), found, t)
    return parts


def _index(callee, t, *arguments, **keywords):
    try:
        at = callee(*arguments, **keywords)
    except ValueError:
        _told_part(callee.__self__, arguments, False, t)
        raise
    _told_part(callee.__self__, arguments, True, t)
    return at


@_quietly
def _told_element(among, arguments, found, t):
    if not arguments:
        return
    if track.is_on():
        track.sought(arguments[0], among, t)
    _settle(found, t, None if found else lambda: distance.nearest(arguments[0], among))


def _list_index(callee, t, *arguments, **keywords):
    try:
        at = callee(*arguments, **keywords)
    except ValueError:
        _told_element(callee.__self__, arguments, False, t)
        raise
    _told_element(callee.__self__, arguments, True, t)
    return at


def _list_count(callee, t, *arguments, **keywords):
    count = callee(*arguments, **keywords)
    _told_element(callee.__self__, arguments, count > 0, t)
    return count


# Dictionaries and subscripts.

_KEYS = (str, int, bytes, bool, float, type(None))


@_quietly
def _told_key(container, key, found, t):
    fields.looked_up(container, key)
    if track.is_on():
        track.sought(key, container, t)
    _settle(found, t, None if found else lambda: distance.nearest(key, container))
    if found and not open_[t]:
        # How far a key is from missing is never known.
        quiet[t] = True


@_quietly
def _named(container, key):
    fields.looked_up(container, key)


def _get(callee, t, *arguments, **keywords):
    if keywords or not arguments:
        return callee(*arguments, **keywords)
    return _get_key(callee, t, *arguments)


def _get_key(callee, t, key, *default):
    container, kind = callee.__self__, type(key)
    if kind not in _KEYS:
        return callee(key, *default)
    found = key in container
    if quiet[t] is not found or (tracking[0] and kind is str and track.is_concerned(key)):
        _told_key(container, key, found, t)
    elif id(container) in paths:
        if key not in paths[id(container)][3]:
            _named(container, key)
    elif not tracking[0]:
        tries[t] += 1
        if tries[t] > MOST_TRIES + MOST_LOOK_UPS:
            done[t] = True
    return callee(key, *default)


def item(container, key, t):
    """`container[key]`."""
    if quiet[t] is True and not (tracking[0] and type(key) is str and track.is_concerned(key)):
        try:
            value = container[key]
        except LookupError:
            _told_item(container, key, False, t)
            raise
        if id(container) in paths:
            if key not in paths[id(container)][3]:
                _named(container, key)
        elif not tracking[0]:
            tries[t] += 1
            if tries[t] > MOST_LOOK_UPS:
                done[t] = True
        return value
    kind = type(container)
    if done[t] or (kind is not dict and kind is not list and kind is not tuple):
        return container[key]
    try:
        value = container[key]
    except LookupError:
        _told_item(container, key, False, t)
        raise
    if type(key) is int and kind is not dict and not open_[t]:
        # A loop over a list: the same index, or one farther from an end, is no news.
        if (len(container) - key if key >= 0 else len(container) + key + 1) >= best[t + 1]:
            tries[t + 1] += 1
            if tries[t + 1] >= MOST_TRIES:
                quiet[t] = True
            return value
    _told_item(container, key, True, t)
    return value


@_quietly
def _told_item(container, key, found, t):
    if type(container) not in (dict, list, tuple):
        return
    if type(container) is dict:
        if type(key) in _KEYS:
            _told_key(container, key, found, t)
        else:
            _settle(found, t)
    elif type(key) is int:
        size = len(container)
        beyond = key - size + 1 if key >= 0 else -key - size
        _settle(found, t, lambda: float(abs(beyond)) if not found else float(max(1, 1 - beyond)))


# Parsers: the first target is that it succeeds, the next that it raises.


@_quietly
def _told_parsed(text, types_, succeeded, t, measure):
    if type(text) is not str:
        return
    if track.is_on() and track.tracked(text):
        track.used(text, track.PARSED, types_, t)
    _settle(succeeded, t, None if succeeded else lambda: _refused(text, measure))


def _refused(text, measure):
    near = measure(text) if measure is not None else None
    # A well-formed text that is refused is nearer the shorter it is.
    return 0.5 * len(text) / (len(text) + 1.0) if near == 0 else near


def number_gap(text, point):
    """Each character that may not stand in a number counts by its distance to a digit (seed 002)."""
    if not text:
        return 1.0
    total, pointed = 0.0, not point
    for at, c in enumerate(text[: distance.LONGEST]):
        if c in "-+" and at == 0 and len(text) > 1:
            continue
        if c == "." and not pointed:
            pointed = True
            continue
        if not "0" <= c <= "9":
            total += min(distance.substitution(c, "0"), distance.substitution(c, "9"))
    return total


def _parser(types_, measure):
    def parse(callee, t, *arguments, **keywords):
        text = arguments[0] if arguments else None
        try:
            value = callee(*arguments, **keywords)
        except Exception:
            _told_parsed(text, types_, False, t, measure)
            raise
        _told_parsed(text, types_, True, t, measure)
        return value

    return parse


def _shape(regex):
    return lambda text: patterns.distance(regex, text)


_DATE = r"\d{4}-\d\d-\d\d"
_TIME = r"\d\d:\d\d(:\d\d(\.\d{3}(\d{3})?)?)?"
_ADDRESS = r"\d{1,3}(\.\d{1,3}){3}"
_DIRECTIVES = {
    "Y": r"\d{4}", "m": r"\d\d", "d": r"\d\d", "H": r"\d\d", "M": r"\d\d", "S": r"\d\d", "y": r"\d\d", "I": r"\d\d",
    "j": r"\d{3}", "f": r"\d{1,6}", "z": r"[+-]\d{4}", "%": "%",
}  # fmt: skip


@functools.lru_cache(maxsize=200)
def _format_shape(form):
    """The regular expression of a format of `strptime`; none when it has names of days or the like."""
    shape, at = "", 0
    while at < len(form):
        if form[at] == "%":
            if form[at + 1 : at + 2] not in _DIRECTIVES:
                return None
            shape += _DIRECTIVES[form[at + 1]]
            at += 2
        else:
            shape += re.escape(form[at])
            at += 1
    return shape


def _strptime(callee, t, *arguments, **keywords):
    text, form = arguments if len(arguments) == 2 else (None, None)
    shape = _format_shape(form) if type(form) is str else None
    types_ = ["datetime", form] if type(form) is str else ["datetime"]
    measure = _shape(shape) if shape else None
    try:
        value = callee(*arguments, **keywords)
    except Exception:
        _told_parsed(text, types_, False, t, measure)
        raise
    _told_parsed(text, types_, True, t, measure)
    return value


def _loads(callee, t, *arguments, **keywords):
    try:
        value = callee(*arguments, **keywords)
    except Exception:
        text = arguments[0] if arguments else None
        if text in (b"", ""):
            track.named(track.FIELD, "")
        _told_parsed(text, ["json"], False, t, None)
        raise
    _told_parsed(arguments[0] if arguments else None, ["json"], True, t, None)
    return fields.remember(value)


@_quietly
def _told_enumerated(kind, value, succeeded, t):
    members = [member._value_ for member in kind.__members__.values()]
    texts = [one for one in members if type(one) is str]
    if type(value) is str and track.is_on() and track.tracked(value) and texts:
        track.used(value, track.EQUAL, texts, t)
    _settle(succeeded, t, None if succeeded else lambda: distance.nearest(value, members))


def _enumerated(callee, t, *arguments, **keywords):
    if len(arguments) != 1 or keywords:
        return callee(*arguments, **keywords)
    try:
        member = callee(*arguments)
    except Exception:
        _told_enumerated(callee, arguments[0], False, t)
        raise
    _told_enumerated(callee, arguments[0], True, t)
    return member


# Regular expressions.


def wish(regex, flags, mode):
    """What the core is told a tracked input should match."""
    letters = "".join(letter for flag, letter in ((re.I, "i"), (re.S, "s"), (re.M, "m"), (re.X, "x")) if flags & flag)
    front = re.match(r"\(\?[aiLmsux]+\)", regex)
    if front:
        letters += "".join(c for c in front.group() if c in "imsx" and c not in letters)
        regex = regex[front.end() :]
    if mode == patterns.MATCH:
        regex = "^(?:%s)" % regex
    elif mode == patterns.FULLMATCH:
        regex = "^(?:%s)$" % regex
    return "(?%s)%s" % (letters, regex) if letters else regex


@_quietly
def told_match(regex, flags, mode, text, found, t):
    """A text was matched against a regular expression; `t` is negative where there is no site."""
    if type(regex) is not str or type(text) is not str:
        return
    if track.is_on() and track.tracked(text):
        track.used(text, track.PATTERN, [wish(regex, flags, mode)], t)
    if t >= 0:
        _settle(found, t, None if found else lambda: patterns.distance(regex, text, mode, flags & ~re.UNICODE))


def _function_of_re(callee, t, *arguments, **keywords):
    r = callee(*arguments, **keywords)
    if len(arguments) >= 2:
        regex, flags = arguments[0], arguments[2] if len(arguments) > 2 else keywords.get("flags", 0)
        if type(regex) is re.Pattern:
            regex, flags = regex.pattern, regex.flags
        told_match(regex, int(flags), callee.__name__, arguments[1], r is not None, t)
    return r


def _method_of_pattern(callee, t, *arguments, **keywords):
    r = callee(*arguments, **keywords)
    if len(arguments) == 1:
        regex = callee.__self__
        told_match(regex.pattern, regex.flags, callee.__name__, arguments[0], r is not None, t)
    return r


@_quietly
def _told_digest(arguments, verdict, t):
    a, b = (distance.plain(one) for one in arguments)
    if track.is_on():
        track.compared(a, b, track.EQUAL, t)
    _settle(verdict, t, lambda: distance.to_other(distance.EQUAL, a, b))


def _compare_digest(callee, t, *arguments, **keywords):
    r = callee(*arguments, **keywords)
    _told_digest(arguments, r, t)
    return r


def _register():
    for name in ("startswith", "endswith"):
        _BOUND[str, name] = globals()["_" + name]
    for name in _SHAPES:
        _BOUND[str, name] = _is_shape
    for name in ("find", "rfind"):
        _BOUND[str, name] = _find
    for name in ("index", "rindex"):
        _BOUND[str, name] = _index
    for name in ("split", "rsplit", "partition", "rpartition"):
        _BOUND[str, name] = _split
    _BOUND[str, "count"] = _count
    for kind in (list, tuple):
        _BOUND[kind, "index"] = _list_index
        _BOUND[kind, "count"] = _list_count
    for name in ("get", "pop"):
        _BOUND[dict, name] = _get
    for name in ("match", "search", "fullmatch"):
        _BOUND[re.Pattern, name] = _method_of_pattern
        _CALLED[getattr(re, name)] = _function_of_re
    _CALLED[int] = _parser(["i32"], lambda text: number_gap(text.strip(), False))
    _CALLED[float] = _parser(["f64"], lambda text: number_gap(text.strip(), True))
    _CALLED[decimal.Decimal] = _parser(["decimal"], lambda text: number_gap(text.strip(), True))
    _CALLED[uuid.UUID] = _parser(["uuid"], _shape("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"))
    address = _parser(["ip"], _shape(_ADDRESS))
    for name in ("ip_address", "ip_network", "ip_interface", "IPv4Address", "IPv6Address", "IPv4Network", "IPv6Network",
                 "IPv4Interface", "IPv6Interface"):  # fmt: skip
        _CALLED[getattr(ipaddress, name)] = address
    _CALLED[json.loads] = _loads
    _CALLED[hmac.compare_digest] = _compare_digest
    for kind, shape, name in (
        (datetime.date, _DATE, "date"),
        (datetime.time, _TIME, "time"),
        (datetime.datetime, _DATE + "([T ]" + _TIME + ")?", "datetime"),
    ):
        _CLASS_METHODS[id(kind), "fromisoformat"] = _parser([name], _shape(shape))
    _CLASS_METHODS[id(datetime.datetime), "strptime"] = _strptime


hidden.hide(globals())
_register()
