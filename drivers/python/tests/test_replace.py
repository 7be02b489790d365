"""Method replacement: calls of the library have distances, and tell what tracked inputs are used for."""

import traceback

import pytest

from isobath_driver import track
from recording import Recorded

MARKER = "_isobath_3_input"


@pytest.fixture
def record():
    made = []

    def make(source, **options):
        made.append(Recorded(source, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


def expression(record, text, header="", **options):
    return record("%s\ndef f(s):\n    return %s\n" % (header, text), **options)


@pytest.mark.parametrize("text, header, refused, accepted, gap", [
    ("s.startswith('foo')", "", "fox", "food", 0.9),
    ("s.startswith(('x', 'foo'))", "", "fox", "food", 0.9),
    ("s.endswith('.png')", "", "a.pnf", "a.png", 0.5),
    ("s.isdigit()", "", "12a", "123", 0.975610),
    ("s.isalpha()", "", "a1", "ab", 0.941176),
    ("s.isupper()", "", "a", "A", 0.875),
    ("s.isspace()", "", "!", " ", 0.5),
    ("s.find('-') ", "", "a", "a-b", 0.981132),
    ("s.count('b') ", "", "a", "b", 0.5),
    ("s.index('b') ", "", "a", "b", 0.5),
    ("{'key': 1}.get(s)", "", "kez", "key", 0.5),
    ("{'key': 1}.pop(s)", "", "kez", "key", 0.5),
    ("{'key': 1}[s]", "", "kez", "key", 0.5),
    ("int(s)", "", "12:", "12", 0.5),
    ("float(s)", "", "1.5:", "1.5", 0.5),
    ("Decimal(s)", "from decimal import Decimal", "1.5:", "1.5", 0.5),
    ("uuid.UUID(s)", "import uuid", "12345678-1234-5678-1234-56781234567g", "12345678-1234-5678-1234-567812345678", 0.5),
    ("date.fromisoformat(s)", "from datetime import date", "2020-01-0:", "2020-01-02", 0.5),
    ("datetime.datetime.strptime(s, '%d.%m.%Y')", "import datetime", "01.02.20:0", "01.02.2020", 0.5),
    ("re.match('[a-c]+$', s)", "import re", "abd", "abc", 0.5),
    ("re.search('b+', s)", "import re", "aca", "abba", 0.5),
    ("re.fullmatch('a{3}', s)", "import re", "aab", "aaa", 0.5),
    ("P.match(s)", "import re\nP = re.compile('x-[0-9]')", "x-:", "x-1", 0.5),
    ("Color(s)", "import enum\nclass Color(enum.Enum):\n    RED = 'red'", "ref", "red", 0.666667),
    ("json.loads(s)", "import json", "{", "{}", 1.0),
    ("ipaddress.ip_address(s)", "import ipaddress", "1.2.3.:", "1.2.3.4", 0.5),
    ("hmac.compare_digest(s, 'abc')", "import hmac", "abd", "abc", 0.5),
])  # fmt: skip
def test_a_refused_input_has_a_distance_and_an_accepted_one_none(record, text, header, refused, accepted, gap):
    piece = expression(record, text, header, enums=["Color"])
    site = text.strip()
    piece.run(refused)
    to_true, to_false = piece.gaps(site)
    assert to_true == pytest.approx(gap, abs=1e-4)
    assert to_false == 0.0
    piece.run(accepted)
    assert piece.gaps(site)[0] == 0.0


@pytest.mark.parametrize("text, header, role, arguments", [
    ("s == 'foo'", "", track.EQUAL, ["foo"]),
    ("'foo' != s", "", track.EQUAL, ["foo"]),
    ("s.lower() == 'foo'", "", track.EQUAL_IGNORING_CASE, ["foo"]),
    ("s.upper() == 'FOO'", "", track.EQUAL_IGNORING_CASE, ["FOO"]),
    ("s in ('a', 'b')", "", track.EQUAL, ["a", "b"]),
    ("s not in {'a': 1}", "", track.EQUAL, ["a"]),
    ("'@' in s", "", track.CONTAINS, ["@"]),
    ("s.startswith('foo')", "", track.STARTS_WITH, ["foo"]),
    ("s.endswith('foo')", "", track.ENDS_WITH, ["foo"]),
    ("s.find('foo')", "", track.CONTAINS, ["foo"]),
    ("s.isdigit()", "", track.PATTERN, ["^[0-9]+$"]),
    ("{'key': 1}.get(s)", "", track.EQUAL, ["key"]),
    ("{'key': 1}[s]", "", track.EQUAL, ["key"]),
    ("int(s)", "", track.PARSED, ["i32"]),
    ("float(s)", "", track.PARSED, ["f64"]),
    ("uuid.UUID(s)", "import uuid", track.PARSED, ["uuid"]),
    ("date.fromisoformat(s)", "from datetime import date", track.PARSED, ["date"]),
    ("datetime.fromisoformat(s)", "from datetime import datetime", track.PARSED, ["datetime"]),
    ("datetime.strptime(s, '%d.%m.%Y')", "from datetime import datetime", track.PARSED, ["datetime", "%d.%m.%Y"]),
    ("re.match('[a-c]+$', s)", "import re", track.PATTERN, ["^(?:[a-c]+$)"]),
    ("re.search('b+', s, re.I)", "import re", track.PATTERN, ["(?i)b+"]),
    ("re.fullmatch('(?i)b+', s)", "import re", track.PATTERN, ["(?i)^(?:b+)$"]),
    ("P.search(s)", "import re\nP = re.compile('x-[0-9]')", track.PATTERN, ["x-[0-9]"]),
    ("Color(s)", "import enum\nclass Color(enum.Enum):\n    RED = 'red'\n    ONE = 1", track.EQUAL, ["red"]),
    ("ip_address(s)", "from ipaddress import ip_address", track.PARSED, ["ip"]),
    ("hmac.compare_digest(s, 'abc')", "import hmac", track.EQUAL, ["abc"]),
    ("s == s + ''", "", track.SAME, [MARKER]),
])  # fmt: skip
def test_a_tracked_input_tells_what_it_is_used_for(record, text, header, role, arguments):
    piece = expression(record, text, header, enums=["Color"])
    piece.run(MARKER)
    assert [MARKER, role, arguments] in [one[:3] for one in piece.events()]


def test_a_match_tells_its_literals_and_how_far_each_arm_is(record):
    import sys

    if sys.version_info < (3, 10):
        return
    piece = record("""
        def f(s):
            match s:
                case "start" | "stop":
                    return 1
                case ["go", n] if n > 3:
                    return 2
                case {"kind": "x"}:
                    return 3
                case _:
                    return 4
    """)
    assert piece.run("stoq") == 4
    assert piece.gaps('"start" | "stop"', (4,)) == (0.5,)
    assert piece.run(["go", 1]) == 4
    assert piece.gaps("n > 3") == (3.0, 0.0)
    assert piece.run(["gp", 1]) == 4
    assert piece.gaps('["go", n]', (4,))[0] == pytest.approx(1 / 3, abs=1e-4)
    assert piece.run({"kind": "y"}) == 4
    assert piece.gaps('{"kind": "x"}', (4,))[0] == pytest.approx(1 / 3, abs=1e-4)
    piece.run(MARKER)
    assert [MARKER, track.EQUAL, ["start", "stop"]] in [one[:3] for one in piece.events()]


def test_calls_of_others_are_left_alone_and_have_no_targets(record):
    piece = record("""
        class Client:
            def get(self, key):
                return key
        def f(s):
            return Client().get(s)
    """)
    assert piece.run("a") == "a"
    assert piece.announced == set()
    piece = expression(record, "{}.get(s)")
    piece.run("a")
    assert len(piece.announced) == 2


def test_without_method_replacement_texts_have_no_distances(record):
    piece = expression(record, "s == 'foo' or s.startswith('b')", methods=False)
    piece.run("fop")
    assert piece.gaps("s == 'foo'") == (1.0, 0.0)
    assert piece.gaps("s.startswith('b')") == (1.0, 0.0)
    piece = record("def f(n):\n    return n == 7\n", methods=False)
    piece.run(4)
    assert piece.gaps("n == 7") == (3.0, 0.0)


def test_without_tracking_nothing_is_told(record):
    piece = expression(record, "s == 'foo'", tracking=False)
    piece.run(MARKER)
    assert piece.events() == []


def test_both_outcomes_are_kept_apart_in_loops(record):
    piece = record("""
        def f(numbers):
            return [n for n in numbers if 10 < n < 20]
    """)
    assert piece.run([1, 30, 25]) == []
    assert piece.gaps("10 < n < 20") == (6.0, 0.0)
    assert piece.run([1, 15]) == [15]
    assert piece.gaps("10 < n < 20") == (0.0, 0.0)


def test_a_late_outcome_counts_after_many_distances_that_brought_nothing(record):
    piece = record("""
        def f(numbers):
            return [n for n in numbers if n == 5000]
    """)
    piece.run(list(range(1000, 6000, 1)))
    assert piece.gaps("n == 5000") == (0.0, 0.0)


def test_values_of_the_service_s_own_classes_are_never_called(record):
    piece = record("""
        class Strange:
            def __eq__(self, other):
                return True
            def __getattr__(self, name):
                raise RuntimeError(name)
            def __len__(self):
                raise RuntimeError("len")
            def __iter__(self):
                raise RuntimeError("iter")
            def __contains__(self, item):
                return False
        def f(s):
            a = Strange()
            return (a == s, s in a, a is s, s or a, [s] == [a])
    """)
    assert repr(piece.run(1)) == "(True, False, False, 1, True)"
    assert piece.gaps("a == s") == (0.0, 1.0)


def test_subscripts_of_lists_measure_to_the_end(record):
    piece = record("def f(n):\n    return [1, 2, 3][n]\n")
    assert isinstance(piece.run(5), IndexError)
    assert piece.gaps("[1, 2, 3][n]") == (3.0, 0.0)
    assert piece.run(1) == 2
    assert piece.gaps("[1, 2, 3][n]") == (0.0, 2.0)


def test_numbers_that_are_none_and_huge_ones_have_distances(record):
    piece = record("def f(n):\n    return n == 7, n < 3\n")
    piece.run(float("nan"))
    assert piece.gaps("n == 7") == (1.0, 0.0) and piece.gaps("n < 3") == (1.0, 0.0)
    piece.run(10**400)
    assert piece.gaps("n == 7")[0] > 1e300


def test_a_nearer_text_is_measured_after_others_came_again_and_again(record):
    piece = record("""
        def f(texts):
            return [text for text in texts if text == "foo" or text.startswith("bar")]
    """)
    piece.run(["xyz", "zzz"] * 15 + ["fop"])
    assert piece.gaps('text == "foo"') == (0.5, 0.0)
    piece.run(["xyz", "zzz"] * 15 + ["bas"])
    assert piece.gaps('text.startswith("bar")') == (0.5, 0.0)


@pytest.mark.parametrize("call", ["split(':')", "rsplit(':', 1)", "split(sep=':')", "partition(':')", "rpartition(':')"])
def test_the_separator_that_splits_a_text_is_wanted(record, call):
    piece = expression(record, "s.%s" % call)
    assert list(piece.run("a:b")) == list(eval("'a:b'.%s" % call))
    assert piece.gaps("s.%s" % call) == (0.0, 1.0)
    piece.run("a;b")
    assert piece.gaps("s.%s" % call) == (0.5, 0.0)
    piece.run(MARKER)
    assert [MARKER, track.CONTAINS, [":"]] in [one[:3] for one in piece.events()]


def test_a_text_that_is_split_at_blanks_has_no_outcome(record):
    piece = expression(record, "s.split()")
    assert piece.run("a b") == ["a", "b"]
    assert piece.announced == set()


def test_an_input_is_told_where_other_texts_came_again_and_again(record):
    piece = record("""
        def f(texts):
            return [text for text in texts if text == "foo" or text.startswith("bar")]
    """)
    piece.run(["xyz"] * 300 + [MARKER])
    told = [one[:3] for one in piece.events()]
    assert [MARKER, track.EQUAL, ["foo"]] in told and [MARKER, track.STARTS_WITH, ["bar"]] in told


def test_an_index_nearer_to_the_end_is_measured_in_loops(record):
    piece = record("""
        def f(numbers):
            return [numbers[at] for at in (3, 2, 1, 3, 4, 0)]
    """)
    piece.run([1] * 6)
    assert piece.gaps("numbers[at]") == (0.0, 2.0)


def test_all_fields_that_one_look_up_reads_are_told(record):
    piece = record("""
        import json
        def f(text):
            body = json.loads(text)
            return [line.get(name, line["id"]) for line in body for name in ("a", "b", "c", "d", "e", "f", "g", "h")]
    """)
    piece.run('[{"id": 1, "a": 2}, {"id": 2, "b": 3}]')
    told = {name for place, name in piece.events("Parameter") if place == track.FIELD}
    assert told == {"id", "a", "b", "c", "d", "e", "f", "g", "h"}


@pytest.mark.parametrize("call", ["d.get()", "d.get('a', default=1)", "d.get('a', 1, 2)", "d.pop('b')", "d.get([])", "d.get(*'ab')"])
def test_a_look_up_fails_as_the_plain_one(record, call):
    source = "def f(d):\n    return %s\n" % call
    names = {}
    exec(source, names)
    try:
        expected = names["f"]({"a": 1})
    except Exception as problem:
        expected = problem
    found = record(source).run({"a": 1})
    assert (type(found), str(found)) == (type(expected), str(expected))


def test_an_input_that_comes_again_is_told_once_and_others_after_it(record):
    piece = record("""
        def f(texts):
            return [text for text in texts if text == "foo" or text.startswith("bar")]
    """)
    other = MARKER.replace("3", "4")
    piece.run([MARKER] * 30 + [other])
    told = [one[:3] for one in piece.events()]
    for text in (MARKER, other):
        assert told.count([text, track.EQUAL, ["foo"]]) == 1
        assert told.count([text, track.STARTS_WITH, ["bar"]]) == 1


@pytest.mark.parametrize("call", ["int(x)", "{}[x]", "uuid.UUID(x)", "date.fromisoformat(x)", "[].index(x)", "json.loads(x)"])
def test_frames_of_the_driver_have_no_file_in_a_traceback(record, call):
    source = "import json, uuid\nfrom datetime import date\ndef f(x):\n    return %s\n" % call
    problem = record(source).run("nothing of the kind")
    assert isinstance(problem, (ValueError, KeyError))
    files = {one.filename for one in traceback.extract_tb(problem.__traceback__)}
    assert not [name for name in files if "isobath_driver" in name], files
