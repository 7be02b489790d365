"""What the arms of a `match` want, as constants that fit into compiled code, and how far a subject is from them."""

import ast

from . import distance

VALUE, ONE_OF, SEQUENCE, MAPPING, ANYTHING = "value", "one of", "sequence", "mapping", "anything"


def table_of(pattern):
    """What a pattern wants; none when that is not known before it runs."""
    if isinstance(pattern, ast.MatchValue):
        return _literal(pattern.value)
    if isinstance(pattern, ast.MatchSingleton):
        return (VALUE, pattern.value)
    if isinstance(pattern, ast.MatchOr):
        return (ONE_OF, tuple(map(table_of, pattern.patterns)))
    if isinstance(pattern, ast.MatchSequence):
        if any(isinstance(one, ast.MatchStar) for one in pattern.patterns):
            return None
        return (SEQUENCE, tuple(map(table_of, pattern.patterns)))
    if isinstance(pattern, ast.MatchMapping):
        keys = [key.value if isinstance(key, ast.Constant) else None for key in pattern.keys]
        return (MAPPING, tuple(zip(keys, map(table_of, pattern.patterns))))
    if isinstance(pattern, ast.MatchAs):
        return (ANYTHING,) if pattern.pattern is None else table_of(pattern.pattern)
    return None


def _literal(node):
    if isinstance(node, ast.Constant):
        return (VALUE, node.value)
    is_negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant)
    return (VALUE, -node.operand.value) if is_negative else None


def gap(subject, wanted):
    """How far a subject is from what is wanted: zero when it matches, one when nothing is known."""
    if wanted is None:
        return 1.0
    kind = wanted[0]
    if kind == ANYTHING:
        return 0.0
    if kind == VALUE:
        if wanted[1] is None or isinstance(wanted[1], bool):
            return 0.0 if subject is wanted[1] else 1.0
        known = distance.equality(subject, wanted[1])
        return 1.0 if known is None else known
    if kind == ONE_OF:
        return min(gap(subject, one) for one in wanted[1])
    if kind == SEQUENCE:
        if type(subject) not in (list, tuple):
            return 1.0 + len(wanted[1])
        missing = abs(len(subject) - len(wanted[1]))
        return missing + sum(distance.normalize(gap(one, part)) for one, part in zip(subject, wanted[1]))
    if type(subject) is not dict:
        return 1.0 + len(wanted[1])
    return sum(distance.normalize(gap(subject[key], part)) if key in subject else 1.0 for key, part in wanted[1])


def literals(wanted):
    """The texts that a subject itself is compared with."""
    if wanted is None:
        return []
    if wanted[0] == VALUE:
        return [wanted[1]] if type(wanted[1]) is str else []
    if wanted[0] == ONE_OF:
        return [text for one in wanted[1] for text in literals(one)]
    return []
