"""Rewrites a piece of source, runs it, and says what the driver recorded."""

import ast
import builtins
import struct
import textwrap

import core
from isobath_driver import frame, link, probe, rewrite, track
from isobath_driver.cells import CANDIDATE, HEADER, Cells


class Recorded:
    """A function that was rewritten, with its targets."""

    def __init__(self, source, enums=(), methods=True, tracking=True):
        source = textwrap.dedent(source)
        self.rewriter = rewrite.Rewriter(source, "piece", "piece.py", 0, frozenset(enums))
        tree = self.rewriter.rewrite(ast.parse(source))
        self.targets = self.rewriter.targets
        self.cells = Cells.alone(len(self.targets))
        self.connection, self.far = link.alone(self.cells)
        self.cells.words[CANDIDATE] = 1
        self.announced = set()
        for name, value in probe.NAMES.items():
            setattr(builtins, "_ib_" + name, value)
        probe.reserve(len(self.targets))
        probe.start(self.cells, methods, self.rewriter.late, self.announced.add)
        track.allow(tracking)
        track.turn(tracking)
        self.names = {"__name__": "piece"}
        exec(compile(tree, "piece.py", "exec"), self.names)

    def candidate(self):
        for at in range(HEADER, len(self.cells.words)):
            self.cells.words[at] = 0
        self.cells.words[CANDIDATE] += 1
        probe.new_candidate()

    def run(self, *arguments):
        """Calls `f` in a new candidate; an exception is what it gives."""
        self.candidate()
        try:
            return self.names["f"](*arguments)
        except Exception as problem:
            return problem

    def gaps(self, text, kinds=(2, 3, 5, 6)):
        """Distances to the outcomes of the site with this source text; none where it was not reached."""
        found = [one for one in self.targets if one.text == text and one.kind in kinds]
        assert found, "%r not in %s" % (text, [one.text for one in self.targets])
        return tuple(self.gap(one.id) for one in found[:2])

    def gap(self, number):
        cell = self.cells.cell(number)
        return None if cell is None else round(0.0 if cell[0] == 1.0 else 0.999 / cell[0] - 1.0, 6)

    def events(self, kind="Tracked"):
        self.connection.queue.flush(frame.synced(1))
        found = []
        while True:
            (length,) = struct.unpack("<I", self.far.recv(4, 0x100))
            name, fields = core.decode(self.far.recv(length, 0x100))
            if name == "Synced":
                return found
            if name == kind:
                found.append(fields[1:])

    def close(self):
        probe.stop()
        track.turn(False)
        link.current = None
        self.far.close()
