"""Inputs that carry a marker, and what they are used for (seed 002, section 5)."""

import re

from . import distance, frame, link
from .cells import CANDIDATE
from .request import CURRENT
from .request import action as current_action
from .sites import tracking

EQUAL, EQUAL_IGNORING_CASE, STARTS_WITH, ENDS_WITH, CONTAINS, PATTERN, PARSED, SAME = range(1, 9)
QUERY, HEADER, COOKIE, FIELD, FORM = range(1, 6)

MARK = "_isobath_"
#: As the service has it when it made capitals of a marker.
LOUD_MARK = MARK.upper()
_MARKER = re.compile(r"_isobath_\d+_input", re.ASCII)
_LOUD_MARKER = re.compile(r"_ISOBATH_\d+_INPUT", re.ASCII)
#: Only so many texts are told to be wished for.
MOST_WISHES = 100
LONGEST = 10_000

#: At one site of one candidate only so many uses are told. One that was told before counts for half of one.
MOST_USES = 20
REPEATED = 0.5

_also = frozenset()
#: By site, how many uses were told.
_told = {}
#: Whether inputs are tracked at all.
_allowed = True


def allow(allowed):
    global _allowed
    _allowed = allowed


def is_on():
    """Whether the current candidate may have inputs to track."""
    return tracking[0]


def is_allowed():
    return _allowed


def turn(on):
    """Whether the candidate has inputs to track; true when that is news."""
    before, tracking[0] = tracking[0], on and _allowed
    return tracking[0] and not before


def new_candidate():
    """Forgets what was told."""
    _told.clear()


def also(inputs):
    """These values are inputs, too."""
    global _also
    _also = frozenset(inputs)


def is_in(data):
    """Whether the bytes of a request hold a marker or a value to track."""
    if b"_isobath_" in data:
        return True
    return any(text.encode("utf-8", "replace") in data for text in _also)


def has_others():
    """Whether the core named values besides the markers."""
    return bool(_also)


def tracked(text):
    """Whether a text is a tracked input or holds a marker."""
    return (MARK in text and _MARKER.search(text) is not None) or text in _also


def is_marked(value):
    """Whether a value is a tracked input, while inputs are tracked."""
    return tracking[0] and type(value) is str and tracked(value)


def may_tell(target):
    """Whether more uses of inputs may be told at a site in this candidate."""
    return _told.get(target, 0) < MOST_USES


def is_concerned(text):
    """Whether a text may be a tracked input, or one that the service made capitals of."""
    return MARK in text or LOUD_MARK in text or text in _also


def concerns(a, b, target):
    """Whether a comparison may tell more than its verdict: one of two texts is a tracked input."""
    if target in _told and _told[target] >= MOST_USES:
        return False
    if type(a) is not str or type(b) is not str:
        # Values of enumerations and the like stand for texts.
        return type(a) is not type(b)
    return MARK in a or MARK in b or LOUD_MARK in a or LOUD_MARK in b or a in _also or b in _also


def may_use(element, container, target):
    """Whether something is left to say of a membership, besides its verdict."""
    if not tracking[0] or not may_tell(target):
        return False
    if type(container) is str:
        return is_marked(container) or is_marked(element)
    return type(container) is list or type(container) is tuple or is_marked(element)


def used(text, role, arguments, target):
    """A tracked input was used together with these."""
    connection = link.current
    if connection is None or len(text) > LONGEST:
        return
    # A loop over rows would tell each of them.
    count = _told.get(target, 0)
    is_site = target is not None and target >= 0
    if count >= MOST_USES and is_site:
        return
    action = current_action()
    if action is None:
        return
    wishes, size = [], len(text)
    for one in arguments[:MOST_WISHES]:
        if len(one) <= LONGEST:
            wishes.append(one)
            size += len(one)
    fields = (action, text, role, tuple(wishes), target if is_site else None)
    is_news = connection.queue.add_once(4 * size, connection.words[CANDIDATE], frame.tracked, *fields)
    _told[target] = count + (1 if is_news else REPEATED)


def repeated(target):
    """What could be told at a site was told before."""
    _told[target] = _told.get(target, 0) + REPEATED


def compared(a, b, role, target):
    """Two values were compared."""
    a, b = _text(a), _text(b)
    if a is None or b is None or not concerns(a, b, target):
        return
    if role in (EQUAL, EQUAL_IGNORING_CASE):
        # The service made capitals of a marker, so case does not matter to it.
        if LOUD_MARK in a and _LOUD_MARKER.search(a):
            return used(_quiet(a), EQUAL_IGNORING_CASE, [b], target)
        if LOUD_MARK in b and _LOUD_MARKER.search(b):
            return used(_quiet(b), EQUAL_IGNORING_CASE, [a], target)
    first, second = tracked(a), tracked(b)
    if first and second:
        used(a, SAME, [b], target)
    elif first:
        used(a, role, [b], target)
    elif second and role in (EQUAL, EQUAL_IGNORING_CASE):
        # The second operand is the wish only where the operands may be exchanged.
        used(b, role, [a], target)


def _quiet(text):
    return _LOUD_MARKER.sub(lambda found: found.group().lower(), text)


def _text(value):
    if type(value) is str:
        return value
    value = distance.plain(value)
    return value if type(value) is str else None


def sought(element, container, target):
    """An element was looked for in a container."""
    element = _text(element)
    if element is None:
        return
    if type(container) is str:
        if tracked(container):
            used(container, CONTAINS, [element], target)
        elif tracked(element):
            used(element, EQUAL, [container], target)
        return
    is_loud = LOUD_MARK in element and _LOUD_MARKER.search(element) is not None
    if is_loud or tracked(element):
        texts = sorted({text for text in map(_text, distance.elements(container) or ()) if text is not None and text != element})
        if texts:
            used(_quiet(element) if is_loud else element, EQUAL_IGNORING_CASE if is_loud else EQUAL, texts, target)
    elif type(container) in (list, tuple):
        for one in container[:20]:
            if type(one) is str and tracked(one):
                used(one, EQUAL, [element], target)


def named(place, name):
    """A part of a request was looked for by name. A field without name is the body: that something should be sent at all."""
    connection = link.current
    if connection is None or not _allowed or not (name or place == FIELD) or len(name) > 200:
        return
    request = CURRENT.get()
    if request is not None:
        if (place, name) in request.parameters:
            return
        request.parameters.add((place, name))
    action = current_action()
    if action is None:
        return
    connection.queue.add_once(len(name), connection.words[CANDIDATE], frame.parameter, action, place, name)


def body(schema):
    """A JSON body was read into a type."""
    connection = link.current
    if connection is None or not _allowed:
        return
    action = current_action()
    if action is not None:
        connection.queue.add_once(4 * len(schema), connection.words[CANDIDATE], frame.body, action, schema)
