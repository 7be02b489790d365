"""What every driver must reproduce: distances, messages and scenarios of drivers/conformance."""

import datetime
import json
import os

import pytest

from conftest import DRIVER
from isobath_driver import distance, frame, link, probe, target
from isobath_driver.cells import ACTION, CANDIDATE, HEADER, Cells

FOLDER = os.path.join(os.path.dirname(DRIVER), "conformance")
RELATIONS = ["equal", "not-equal", "less", "less-or-equal", "greater", "greater-or-equal"]
PROBES = ["eq_c", "ne_c", "lt_c", "le_c", "gt_c", "ge_c"]


def read(*path):
    with open(os.path.join(FOLDER, *path), encoding="utf-8") as file:
        return json.load(file)


@pytest.fixture
def cells():
    made = Cells.alone(130)
    _, far = link.alone(made)
    probe.reserve(130)
    probe.start(made)
    yield made
    probe.stop()
    link.current = None
    far.close()


def fresh(cells):
    for at in range(HEADER, len(cells.words)):
        cells.words[at] = 0
    cells.words[ACTION] = 0
    cells.words[CANDIDATE] += 1
    probe.new_candidate()


def measured(cells, verdict):
    """The distance to the outcome that the condition of targets 0 and 1 did not have."""
    reached, missed = (0, 1) if verdict else (1, 0)
    assert cells.cell(reached) == (1.0, 0)
    score, _ = cells.cell(missed)
    return 0.999 / score - 1.0


def test_distances_of_all_cases_come_out_right_through_the_probes(cells):
    for case in read("distances.json"):
        verdict = case["to_true"] == 0
        wanted = max(case["to_true"], case["to_false"])
        left, right, relation = case["left"], case["right"], case["relation"]
        fresh(cells)
        if relation == "like":
            gap = distance.like(left, right)
            assert (gap == 0) == verdict
            got = 1.0 if verdict else gap
        elif case["kind"] == "date":
            got = distance.moments(RELATIONS.index(relation), distance.Moment(*left), distance.Moment(*right))
            moments = datetime.datetime(*left[:6]), datetime.datetime(*right[:6])
            assert getattr(probe, PROBES[RELATIONS.index(relation)])(*moments, 0) is verdict
            assert measured(cells, verdict) == pytest.approx(wanted, rel=1e-6, abs=1e-6), case
        else:
            if relation == "in":
                assert probe.in_(left, right, 0) is verdict
            elif relation == "equal-ignoring-case":
                probe.eq_fold_c(distance.folded(left), distance.folded(right), 0)
            else:
                assert getattr(probe, PROBES[RELATIONS.index(relation)])(left, right, 0) is verdict
            got = measured(cells, verdict)
        # A score has 48 bits of a double.
        assert got == pytest.approx(wanted, rel=1e-6, abs=1e-6), case
    assert len(read("distances.json")) > 1300


def test_messages_have_the_bytes_of_the_protocol():
    known = read("messages.json")
    one = target.Target(3, target.TRUE, "shop", "src/main.rs", 12, 8, "price", "n > 3", 40)
    frames = [
        frame.hello(1, "rust", "isobath-rt 0.1.0", 4711),
        frame.targets([one]),
        frame.ready(4),
        frame.statement(1, "sqlite", "SELECT 'ä'", 1, None),
        frame.tracked(2, "_isobath_7_input", 1, ["open", "closed"], 3),
        frame.parameter(0, 2, "x-tenant"),
        frame.panicked(65535, None, "src/main.rs", 20, 5, "index out of bounds", ""),
        frame.synced(2**64 - 1),
        frame.answer(9, "no such table: t", [["1", None]]),
        frame.dropped(12),
        frame.unwatched("shop.Prices", "too long"),
        frame.called(4, "https://rates.example/v1/latest"),
        frame.body(5, '{"type":"object"}'),
    ]
    ours = [one["bytes"] for one in known if one["from"] == "driver"]
    assert [one.hex() for one in frames] == ours


def test_commands_of_the_core_are_read():
    commands = {
        one["message"].split()[0]: frame.command(bytes.fromhex(one["bytes"])[4:])
        for one in read("messages.json") if one["from"] == "core"
    }  # fmt: skip
    assert commands["Welcome"] == (1, (1, "/dev/shm/isobath/map"))
    assert commands["Track"] == (2, (["3156-42-77"],))
    assert commands["Sync"] == (3, (5,))
    assert commands["Reset"] == (4, (6,))
    assert commands["RunSql"][0] == 5 and isinstance(commands["RunSql"][1][1], str)
    assert commands["Describe"][0] == 6


@pytest.mark.parametrize("name", sorted(os.listdir(os.path.join(FOLDER, "scenarios"))))
def test_scenarios_end_as_they_say(cells, name):
    scenario = read("scenarios", name)
    for step in scenario["steps"]:
        play(cells, step)
    reached = [[t, *cells.cell(t)[::-1]] for t in range(cells.targets) if cells.cell(t) is not None]
    wanted = [[t, action, 1.0 if gap == 0 else 0.999 / (1 + gap)] for t, action, gap in scenario["reached"]]
    assert [one[:2] for one in reached] == [one[:2] for one in wanted]
    assert [one[2] for one in reached] == pytest.approx([one[2] for one in wanted], rel=1e-9)


def play(cells, step):
    if "candidate" in step:
        fresh(cells)
    elif "action" in step:
        cells.words[ACTION] = step["action"]
    elif "hit" in step:
        # Beyond the targets of the scenario nobody asks us to record.
        if step["hit"] < cells.targets and probe.open_[step["hit"]]:
            probe.hit(step["hit"])
    elif "flag" in step:
        probe.truth(step["value"], step["flag"])
    else:
        getattr(probe, PROBES[RELATIONS.index(step["relation"])])(step["left"], step["right"], step["compare"])
