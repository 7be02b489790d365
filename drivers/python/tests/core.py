"""The other side of the protocol, as far as tests need it: a core that greets drivers, counts candidates and asks for events."""

import os
import socket
import struct
import tempfile
import threading
import time

from isobath_driver import frame
from isobath_driver.cells import ACTION, CANDIDATE, HEADER, MAGIC, Cells

EVENTS = {
    1: ("Hello", "I s s I"),
    2: ("Targets", "targets"),
    3: ("Ready", "I"),
    4: ("Statement", "H s s Q o"),
    5: ("Tracked", "H s B l O"),
    6: ("Parameter", "H B s"),
    7: ("Panicked", "H O s I I s s"),
    8: ("Synced", "Q"),
    9: ("Answer", "I o rows"),
    10: ("Dropped", "I"),
    11: ("Unwatched", "s s"),
    12: ("Called", "H s"),
    13: ("Body", "H s"),
}


def decode(data):
    """An event of a driver: its name and its fields."""
    reader = frame.Reader(data)
    name, form = EVENTS[reader.number("B")]
    return name, [_field(reader, one) for one in form.split()]


def _field(reader, form):
    if form == "s":
        return reader.text()
    if form == "l":
        return reader.texts()
    if form in "oO":
        if reader.number("B") == 0:
            return None
        return reader.text() if form == "o" else reader.number("I")
    if form == "rows":
        return [[_field(reader, "o") for _ in range(reader.number("I"))] for _ in range(reader.number("I"))]
    if form == "targets":
        return [_target(reader) for _ in range(reader.number("I"))]
    return reader.number(form)


def _target(reader):
    return {
        "id": reader.number("I"), "kind": reader.number("B"), "unit": reader.text(), "file": reader.text(),
        "line": reader.number("I"), "column": reader.number("I"), "compiled_column": reader.number("I"),
        "function": reader.text(), "text": reader.text(),
    }  # fmt: skip


class Connection:
    """A driver that was greeted."""

    def __init__(self, stream, folder, count):
        self.stream = stream
        self.targets = {}
        self.hello = None
        self.events = []
        self.token = 0
        while True:
            name, fields = self.receive()
            if name == "Hello":
                self.hello = fields
            elif name == "Ready":
                cells = fields[0]
                break
        self.path = os.path.join(folder, "map-%d" % count)
        size = HEADER + (cells + 63) // 64 + cells
        with open(self.path, "wb") as file:
            file.write(struct.pack("=QQ", MAGIC, 1 << 32 | cells) + bytes(8 * (size - 2)))
        self.cells = Cells.open(self.path, 1)
        welcome = struct.pack("<BII", 1, 1, len(self.path)) + self.path.encode()
        self.send(welcome)

    def send(self, body):
        self.stream.sendall(struct.pack("<I", len(body)) + body)

    def receive(self):
        data = b""
        while len(data) < 4 or len(data) < 4 + struct.unpack("<I", data[:4])[0]:
            wanted = 4 - len(data) if len(data) < 4 else 4 + struct.unpack("<I", data[:4])[0] - len(data)
            more = self.stream.recv(wanted)
            if not more:
                raise EOFError
            data += more
        name, fields = decode(data[4:])
        if name == "Targets":
            self.targets.update((one["id"], one) for one in fields[0])
        return name, fields

    def sync(self):
        """All events since the last time."""
        self.token += 1
        self.send(struct.pack("<BQ", 3, self.token))
        events = []
        while True:
            name, fields = self.receive()
            if name == "Synced" and fields[0] == self.token:
                return events
            if name != "Targets":
                events.append((name, fields))

    def ask(self, tag, text=None):
        """A command that has an answer."""
        self.token += 1
        body = struct.pack("<BI", tag, self.token)
        if text is not None:
            data = text.encode()
            body += struct.pack("<I", len(data)) + data
        self.send(body)
        while True:
            name, fields = self.receive()
            if name == "Answer" and fields[0] == self.token:
                return fields[1], fields[2]

    def reset(self):
        return self.ask(4)

    def run_sql(self, text):
        return self.ask(5, text)

    def describe(self):
        return self.ask(6)

    def track(self, *inputs):
        body = struct.pack("<BI", 2, len(inputs))
        for one in inputs:
            body += struct.pack("<I", len(one.encode())) + one.encode()
        self.send(body)

    def candidate(self):
        """A new candidate begins."""
        words = self.cells.words
        for at in range(HEADER, len(words)):
            words[at] = 0
        words[ACTION] = 0
        words[CANDIDATE] += 1

    def action(self, number):
        self.cells.words[ACTION] = number

    def score(self, target):
        cell = self.cells.cell(target)
        return 0.0 if cell is None else cell[0]

    def find(self, text, kind=None, file=None):
        """The target whose source text is this."""
        for one in self.targets.values():
            if one["text"] == text and kind in (None, one["kind"]) and file in (None, one["file"]):
                return one["id"]
        raise KeyError("%r not in %s" % (text, sorted(one["text"] for one in self.targets.values())))

    def covered_lines(self, file):
        return {
            one["line"] for one in self.targets.values()
            if one["file"] == file and one["kind"] == 1 and self.score(one["id"]) == 1.0
        }  # fmt: skip


class Core:
    """Listens for drivers."""

    def __init__(self, token=None):
        self.folder = tempfile.mkdtemp(prefix="isobath")
        self.path = os.path.join(self.folder, "socket")
        self.token = token
        if token is None:
            self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.listener.bind(self.path)
        else:
            self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.listen(16)
        self.connections = []
        self.problems = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        count = 0
        while True:
            try:
                stream, _ = self.listener.accept()
            except OSError:
                return
            count += 1
            try:
                if self.token is not None and stream.recv(len(self.token) + 1, socket.MSG_WAITALL) != self.token.encode() + b"\n":
                    raise ValueError("another token")
                self.connections.append(Connection(stream, self.folder, count))
            except Exception as problem:
                self.problems.append(problem)

    def driver(self, seconds=30):
        """The newest connection."""
        end = time.monotonic() + seconds
        while not self.connections and time.monotonic() < end:
            time.sleep(0.01)
        assert self.connections, "no driver connected; %s" % self.problems
        return self.connections[-1]

    def close(self):
        self.listener.close()
        for one in self.connections:
            one.stream.close()
