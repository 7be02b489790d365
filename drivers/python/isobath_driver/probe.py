"""What rewritten code calls: a statement is executed, a condition has an outcome.

Two lists are the fast path: `open[t]` (not covered in this candidate) and `done[t]` (nothing left to say at this site). The first
target of a condition is its outcome "true", the next one "false".

Invariants: operands are evaluated once and tested for truth once; a value comes back as the same object; nothing that goes wrong here
reaches the service.
"""

from . import arms as _arms
from . import distance, fields, hidden, replace, sites, track
from .request import action
from .sites import MOST_TRIES, NEVER, REPEATED, UNKNOWN, best, done, open_, quiet, tracking, tries, wants
from .track import concerns  # noqa: F401, named in the template below

_NUMBERS = (int, float, bool)

_cells = None
_methods = True
_touched = []
#: Texts that a site compared before: their distances are known.
_compared = {}
_late = set()
_announce = None


def reserve(cells):
    """Makes room for so many targets. Before the core is there, nothing is left to say anywhere."""
    sites.reserve(cells)


def start(cells, methods=True, late=(), announce=None):
    """Records into this map from now on; the core hears of late targets when they are first reached."""
    global _cells, _methods, _announce
    _cells = cells
    _methods = methods
    _announce = announce
    replace.configure(record, methods)
    _late.clear()
    _late.update(late)
    _touched.clear()
    _compared.clear()
    sites.fill(True)


def stop():
    """The core is gone: nothing is recorded from now on."""
    global _cells
    sites.fill(False)
    _cells = None


def new_candidate():
    """Forgets what the last candidate reached."""
    global _touched
    before, _touched = _touched, []
    sites.forget(before)
    _compared.clear()
    track.new_candidate()
    replace.new_candidate()


def reopen():
    """Inputs are tracked from now on, so sites have more to say."""
    _compared.clear()
    replace.reopen()
    for target in list(_touched):
        done[target] = False
        quiet[target] = None


def hit(target):
    """A target is covered."""
    number, cells = action(), _cells
    if number is None or cells is None:
        return
    if target in _late:
        _reveal(target)
    cells.cover(target, number)
    open_[target] = False
    _touched.append(target)


def near(target, gap):
    """A target was missed by a distance, smaller than those before."""
    number, cells = action(), _cells
    if number is None or cells is None:
        return
    if target in _late:
        _reveal(target)
    if best[target] == NEVER:
        _touched.append(target)
    best[target] = gap
    cells.near(target, gap, number)


def _reveal(target):
    _late.discard(target)
    if _announce is not None:
        _announce(target)


def record(verdict, target, gap=1.0, is_tracked=True):
    """A condition has an outcome, and the other one is this far; 1 when that is not known.

    Of a site that tells what tracked inputs are used for something is left to say as long as there may be some.
    """
    reached, missed = (target, target + 1) if verdict else (target + 1, target)
    if open_[reached]:
        hit(reached)
        if open_[reached]:
            return
    if not open_[missed]:
        if not is_tracked or not tracking[0]:
            done[target] = True
    elif not gap >= best[missed]:  # also when it is not a number
        near(missed, distance.positive(gap) if gap else 1.0)
    else:
        _count(verdict, target, missed, UNKNOWN if gap == 1.0 else 1)


def _count(verdict, target, missed, weight):
    """A distance brought nothing new."""
    tries[missed] += weight
    if tries[missed] >= MOST_TRIES:
        quiet[target] = verdict


def _is_wanted(verdict, target):
    """Whether the distance to the outcome that a condition did not have is of interest."""
    return wants(target + 1 if verdict else target)


def compared(relation, a, b, verdict, target):
    """Two values were compared that are not both numbers."""
    try:
        missed = target + 1 if verdict else target
        if type(a) is str and type(b) is str:
            before = _compared.get(target)
            if before is None:
                before = _compared[target] = set()
            if (a, b) in before and best[missed] != NEVER:
                if tracking[0] and track.concerns(a, b, target):
                    track.repeated(target)
                return _count(verdict, target, missed, REPEATED)
            if len(before) < MOST_TRIES:
                before.add((a, b))
        if relation <= distance.NOT_EQUAL and tracking[0]:
            track.compared(a, b, track.EQUAL, target)
        gap = None
        if _is_wanted(verdict, target):
            gap = distance.to_other(relation, a, b)
            if not _methods and type(a) not in _NUMBERS:
                gap = None
        record(verdict, target, 1.0 if gap is None else gap, relation <= distance.NOT_EQUAL)
    except Exception:
        pass


# Comparisons: in a condition (`_c`) they give a bool; as a value they give what the operator gave.

_TEMPLATE = """
def {name}{form}(a, b, t):
    r = {result}
    if done[t] or quiet[t] is r{untracked}{is_other}:
        return r
    try:
        k = type(a)
        if (k is int or k is float) and ((k := type(b)) is int or k is float):
            # As `distance.numbers`, which is slower.
            gap = a - b if a > b else b - a
            {adjust}
            missed = t + 1 if r else t
            if gap >= best[missed] and open_[missed] and not open_[t if r else t + 1]:
                tries[missed] += UNKNOWN if gap == 1.0 else 1
                if tries[missed] >= MOST_TRIES:
                    quiet[t] = r
            else:
                record(r, t, gap, False)
        else:
            compared({relation}, a, b, r, t)
    except Exception:
        pass
    return r
"""
#: A strict relation that holds ends at equality, one that is not strict one step later.
_ADJUST = ("if not gap > 0: gap = 1.0", "if not r: gap += 1", "if r: gap += 1")
#: Of texts more may be said than verdicts and distances.
_UNTRACKED = " and not (tracking[0] and concerns(a, b, t))"

for _relation, (_name, _sign) in enumerate(
    (("eq", "=="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="))
):
    _is_equality = _relation <= distance.NOT_EQUAL
    for _form, _result, _is_other in (
        ("", "a %s b" % _sign, " or r is not True and r is not False"),
        ("_c", "True if a %s b else False" % _sign, ""),
    ):
        _text = _TEMPLATE.format(
            name=_name,
            form=_form,
            result=_result,
            relation=_relation,
            untracked=_UNTRACKED if _is_equality else "",
            is_other=_is_other,
            adjust=_ADJUST[0 if _is_equality else 1 + ("=" in _sign)],
        )
        exec(compile(_text, hidden.NAME, "exec"))


def _folded(a, b, verdict, target):
    try:
        gap = 1.0
        if type(a) is str and type(b) is str:
            if track.is_on():
                track.compared(a, b, track.EQUAL_IGNORING_CASE, target)
            if _is_wanted(verdict, target) and _methods:
                gap = distance.texts(distance.EQUAL, distance.folded(a), distance.folded(b))
            record(verdict, target, gap)
        else:
            compared(distance.EQUAL, a, b, verdict, target)
    except Exception:
        pass


def eq_fold(a, b, t):
    r = a == b
    if not done[t] and (r is True or r is False):
        _folded(a, b, r, t)
    return r


def eq_fold_c(a, b, t):
    r = True if a == b else False
    if not done[t]:
        _folded(a, b, r, t)
    return r


def is_(a, b, t):
    r = a is b
    if not done[t] and quiet[t] is not r:
        record(r, t, is_tracked=False)
    return r


def is_not(a, b, t):
    r = a is not b
    if not done[t] and quiet[t] is not r:
        record(r, t, is_tracked=False)
    return r


def _member(element, container, found, verdict, target):
    try:
        fields.looked_up(container, element)
        if track.is_on():
            track.sought(element, container, target)
        gap = 1.0
        if _is_wanted(verdict, target):
            gap = distance.apart(element, container) if found else distance.nearest(element, container)
            if not _methods and type(element) is str:
                gap = 1.0
        record(verdict, target, 1.0 if gap is None else gap)
    except Exception:
        pass


def in_(a, b, t):
    r = a in b
    if not done[t] and (quiet[t] is not r or tracking[0] and track.may_use(a, b, t)):
        _member(a, b, r, r, t)
    return r


def not_in(a, b, t):
    r = a not in b
    if not done[t] and (quiet[t] is not r or tracking[0] and track.may_use(a, b, t)):
        _member(a, b, not r, r, t)
    return r


# Chains.

_OPERATORS = {}
for _name, _sign in (
    ("eq", "=="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="),
    ("is_", "is"), ("is_not", "is not"), ("in_", "in"), ("not_in", "not in"),
):  # fmt: skip
    _OPERATORS[_name] = eval(compile("lambda a, b: a %s b" % _sign, hidden.NAME, "eval"))
_RELATIONS = {name: number for number, name in enumerate(("eq", "ne", "lt", "le", "gt", "ge"))}


def chain(operands, names, t):
    r = _chained(operands, names)
    if not done[t] and quiet[t] is not r and (r is True or r is False):
        _measure_chain(operands, names, r, t)
    return r


def chain_c(operands, names, t):
    r = True if _chained(operands, names) else False
    if not done[t] and quiet[t] is not r:
        _measure_chain(operands, names, r, t)
    return r


def _chained(operands, names):
    last = len(names) - 1
    for at, name in enumerate(names):
        r = _OPERATORS[name](operands[at], operands[at + 1])
        if at == last or not r:
            return r


def _measure_chain(operands, names, verdict, target):
    """As `and`: to true, all that fail add up; to false, the nearest counts."""
    try:
        gaps = []
        if _is_wanted(verdict, target):
            for at, name in enumerate(names):
                a, b = operands[at], operands[at + 1]
                relation = _RELATIONS.get(name)
                gap = None if relation is None else distance.to_other(relation, a, b)
                if gap is None or distance.plain(a) is not a or distance.plain(b) is not b:
                    # Whether it holds is not known without calling something of the service.
                    gaps.append((not verdict, 1.0))
                else:
                    gaps.append((bool(_OPERATORS[name](a, b)), gap))
        apart = [gap for holds, gap in gaps if holds == verdict]
        record(verdict, target, (min(apart) if verdict else sum(apart)) if apart else 1.0, is_tracked=False)
    except Exception:
        pass


# Truth of anything.

_SIZED = (str, list, tuple, dict, set, frozenset, bytes, bytearray)


def _falsity(value):
    """How far something true is from being false."""
    kind = type(value)
    if kind is int or kind is float:
        return abs(value)
    if kind in _SIZED:
        return float(len(value))
    return 1.0


def truth(value, t):
    r = True if value else False
    if not done[t] and quiet[t] is not r:
        try:
            record(r, t, _falsity(value) if r else 1.0, is_tracked=False)
        except Exception:
            pass
    return r


def outcome(value, t):
    if not done[t] and quiet[t] is not value and (value is True or value is False):
        record(value, t, is_tracked=False)
    return value


_known_truth = {}


def _truth_of_type(kind):
    """Whether values of a type have a truth that nothing of the service decides: by their type alone, or by size."""
    if kind in (bool, int, float, complex, type(None)) or kind in _SIZED:
        return bool
    if any("__bool__" in one.__dict__ or "__len__" in one.__dict__ for one in kind.__mro__):
        return None
    return lambda value: True


def value(value, t):
    if not done[t] and quiet[t] is not True:
        try:
            kind = type(value)
            look = _known_truth.get(kind, False)
            if look is False:
                look = _known_truth[kind] = _truth_of_type(kind)
            if look is not None and look(value):
                record(True, t, _falsity(value), is_tracked=False)
        except Exception:
            pass
    return value


def no(t):
    if not done[t] and quiet[t] is not False:
        record(False, t, is_tracked=False)
    return False


def yes(t):
    if not done[t] and quiet[t] is not True:
        record(True, t, is_tracked=False)
    return True


# `match`.


def arms(subject, table):
    if _cells is not None:
        try:
            _near_arms(subject, table)
        except Exception:
            pass
    return subject


def _near_arms(subject, table):
    if type(subject) is str and track.is_on() and track.tracked(subject):
        texts = [text for _, wanted in table for text in _arms.literals(wanted)]
        if texts:
            track.used(subject, track.EQUAL, texts, table[0][0])
    for target, wanted in table:
        if wants(target):
            gap = _arms.gap(subject, wanted)
            if not _methods and type(subject) is str:
                gap = 1.0
            # A guard may have refused what matches; it has distances of its own.
            gap = distance.positive(gap) if gap > 0 else 0.25
            if gap < best[target]:
                near(target, gap)
            else:
                tries[target] += 1


# Calls.

wrap = replace.wrap
wrap_get = replace.wrap_get
item = replace.item


def wrap_truth(callee, t):
    known = wrap(callee, t)
    if known is not callee or done[t]:
        return known

    def tested(*arguments, **keywords):
        return truth(callee(*arguments, **keywords), t)

    return tested


NAMES = {name: value for name, value in globals().items() if name in frozenset(
    "hit eq eq_c ne ne_c lt lt_c le le_c gt gt_c ge ge_c eq_fold eq_fold_c is_ is_not in_ not_in chain chain_c truth outcome "
    "value no yes arms wrap wrap_get wrap_truth item done".split())}  # fmt: skip
NAMES["open"] = open_
hidden.hide(globals())
