"""How far a text is from matching a regular expression: the cheapest edit that makes it match.

The expression is read by the standard library's own parser and becomes a nondeterministic automaton. Costs are those of the core's
`distance` crate: a missing or superfluous character costs one, another one less than one. What is not regular (references,
assertions) has no distance.
"""

import functools
import heapq
import re

try:
    from re import _constants as sre
    from re import _parser as sre_parse
except ImportError:  # Before 3.11.
    import sre_constants as sre
    import sre_parse

MOST_STATES = 200
MOST_COPIES = 64
LONGEST = 80

MATCH, SEARCH, FULLMATCH = "match", "search", "fullmatch"


class NotRegular(Exception):
    """The expression has no automaton, or too large a one."""


class Automaton:
    """States with edges that cost nothing and edges that read a character."""

    def __init__(self):
        self.free = []
        self.reading = []

    def state(self):
        if len(self.free) >= MOST_STATES:
            raise NotRegular
        self.free.append([])
        self.reading.append(None)
        return len(self.free) - 1


class Characters:
    """A set of characters, as ranges of code points."""

    def __init__(self, ranges, negated=False, ignores_case=False):
        self.ranges = ranges
        self.negated = negated
        self.ignores_case = ignores_case

    def cost(self, c):
        """The cost of replacing a character by one of the set."""
        if self.ignores_case and c.swapcase() != c and len(c.swapcase()) == 1:
            return min(self._cost(ord(c)), self._cost(ord(c.swapcase())))
        return self._cost(ord(c))

    def _cost(self, point):
        inside = any(low <= point <= high for low, high in self.ranges)
        if inside != self.negated:
            return 0.0
        if self.negated:
            return 0.5
        gap = min(min(abs(point - low), abs(point - high)) for low, high in self.ranges)
        return gap / (gap + 1.0)


_DIGITS = [(48, 57)]
_WORDS = [(48, 57), (65, 90), (95, 95), (97, 122)]
_SPACES = [(9, 13), (32, 32)]
_CATEGORIES = {
    sre.CATEGORY_DIGIT: (_DIGITS, False),
    sre.CATEGORY_NOT_DIGIT: (_DIGITS, True),
    sre.CATEGORY_WORD: (_WORDS, False),
    sre.CATEGORY_NOT_WORD: (_WORDS, True),
    sre.CATEGORY_SPACE: (_SPACES, False),
    sre.CATEGORY_NOT_SPACE: (_SPACES, True),
}
_ANYTHING = Characters([], negated=True)
_REPEATS = tuple(
    getattr(sre, name) for name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") if hasattr(sre, name)
)
_ATOMIC = getattr(sre, "ATOMIC_GROUP", None)


def _complement(ranges):
    gaps, start = [], 0
    for low, high in sorted(ranges):
        if low > start:
            gaps.append((start, low - 1))
        start = max(start, high + 1)
    return gaps + [(start, 0x10FFFF)]


def _characters(items, ignores_case):
    ranges, negated = [], False
    for kind, value in items:
        if kind is sre.NEGATE:
            negated = True
        elif kind is sre.LITERAL:
            ranges.append((value, value))
        elif kind is sre.RANGE:
            ranges.append(value)
        elif kind is sre.CATEGORY and value in _CATEGORIES:
            known, is_negated = _CATEGORIES[value]
            ranges += _complement(known) if is_negated else known
        else:
            raise NotRegular
    return Characters(ranges, negated, ignores_case)


class _Builder:
    def __init__(self):
        self.automaton = Automaton()

    def read(self, start, characters):
        end = self.automaton.state()
        self.automaton.reading[start] = (characters, end)
        return end

    def free(self, start, end):
        self.automaton.free[start].append(end)

    def sequence(self, start, pattern, flags):
        for kind, value in pattern:
            start = self.one(start, kind, value, flags)
        return start

    def one(self, start, kind, value, flags):
        ignores_case = bool(flags & re.IGNORECASE)
        if kind is sre.LITERAL:
            return self.read(start, Characters([(value, value)], ignores_case=ignores_case))
        if kind is sre.NOT_LITERAL:
            return self.read(start, Characters([(value, value)], negated=True, ignores_case=ignores_case))
        if kind is sre.ANY:
            return self.read(start, _ANYTHING)
        if kind is sre.IN:
            return self.read(start, _characters(value, ignores_case))
        if kind is sre.BRANCH:
            end = self.automaton.state()
            for branch in value[1]:
                first = self.automaton.state()
                self.free(start, first)
                self.free(self.sequence(first, branch, flags), end)
            return end
        if kind is sre.SUBPATTERN:
            _, added, removed, inner = value
            return self.sequence(start, inner, (flags | added) & ~removed)
        if kind is sre.AT:
            return start
        if kind in _REPEATS:
            return self.repeat(start, *value, flags)
        if kind is _ATOMIC and _ATOMIC is not None:
            return self.sequence(start, value, flags)
        raise NotRegular

    def repeat(self, start, least, most, inner, flags):
        if least > MOST_COPIES:
            raise NotRegular
        for _ in range(least):
            start = self.sequence(start, inner, flags)
        if most == sre.MAXREPEAT or most - least > MOST_COPIES:
            again = self.automaton.state()
            self.free(start, again)
            first = self.automaton.state()
            self.free(again, first)
            self.free(self.sequence(first, inner, flags), again)
            end = self.automaton.state()
            self.free(again, end)
            return end
        end = self.automaton.state()
        for _ in range(most - least):
            first = self.automaton.state()
            self.free(start, first)
            self.free(start, end)
            start = self.sequence(first, inner, flags)
        self.free(start, end)
        return end


@functools.lru_cache(maxsize=500)
def _automaton(pattern, flags, mode):
    tree = sre_parse.parse(pattern, flags & ~re.DEBUG)
    flags |= tree.state.flags if hasattr(tree, "state") else tree.pattern.flags
    if flags & re.MULTILINE:
        raise NotRegular
    builder = _Builder()
    start = builder.automaton.state()
    items = list(tree)
    begins = bool(items) and items[0] in ((sre.AT, sre.AT_BEGINNING), (sre.AT, sre.AT_BEGINNING_STRING))
    ends = bool(items) and items[-1] in ((sre.AT, sre.AT_END), (sre.AT, sre.AT_END_STRING))
    at = builder.repeat(start, 0, sre.MAXREPEAT, [(sre.ANY, None)], 0) if mode == SEARCH and not begins else start
    at = builder.sequence(at, items, flags)
    end = at if mode == FULLMATCH or ends else builder.repeat(at, 0, sre.MAXREPEAT, [(sre.ANY, None)], 0)
    return builder.automaton, start, end


def distance(pattern, text, mode=FULLMATCH, flags=0):
    """The cheapest edit; none when it is not known."""
    if type(pattern) is not str or type(text) is not str or len(text) > LONGEST or len(pattern) > 500:
        return None
    try:
        automaton, start, end = _automaton(pattern, int(flags), mode)
    except (NotRegular, re.error, RecursionError, OverflowError):
        return None
    row = _spread(automaton, {start: 0.0})
    for c in text:
        after = {state: cost + 1.0 for state, cost in row.items()}
        for state, cost in row.items():
            edge = automaton.reading[state]
            if edge is not None:
                cost += edge[0].cost(c)
                if cost < after.get(edge[1], cost + 1.0):
                    after[edge[1]] = cost
        row = _spread(automaton, after)
    return row[end]


def _spread(automaton, row):
    """Adds what is reached without reading: for nothing, or by a character that the text lacks."""
    waiting = [(cost, state) for state, cost in row.items()]
    heapq.heapify(waiting)
    while waiting:
        cost, state = heapq.heappop(waiting)
        if cost > row[state]:
            continue
        edges = [(cost, following) for following in automaton.free[state]]
        if automaton.reading[state] is not None:
            edges.append((cost + 1.0, automaton.reading[state][1]))
        for price, following in edges:
            if price < row.get(following, price + 1.0):
                row[following] = price
                heapq.heappush(waiting, (price, following))
    return row
