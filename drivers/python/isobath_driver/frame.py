"""Messages of the protocol as bytes."""

import struct

LONGEST = 16 << 20


def _text(text):
    data = text.encode("utf-8", "replace")
    return struct.pack("<I", len(data)) + data


def _texts(texts):
    return struct.pack("<I", len(texts)) + b"".join(map(_text, texts))


def _optional_text(text):
    return b"\0" if text is None else b"\1" + _text(text)


def _optional_u32(number):
    return b"\0" if number is None or number < 0 else struct.pack("<BI", 1, number)


def _frame(tag, *fields):
    body = b"".join(fields)
    return struct.pack("<IB", len(body) + 1, tag) + body


def fits(frame):
    """Whether a message is not too long to be sent."""
    return len(frame) <= LONGEST


def hello(version, language, driver, process):
    return _frame(1, struct.pack("<I", version), _text(language), _text(driver), struct.pack("<I", process))


def targets(all_targets):
    return _frame(2, struct.pack("<I", len(all_targets)), *map(_target, all_targets))


def _target(target):
    return b"".join(
        (
            struct.pack("<IB", target.id, target.kind),
            _text(target.unit),
            _text(target.file),
            struct.pack("<III", target.line, target.column, target.compiled_column),
            _text(target.function),
            _text(target.text),
        )
    )


def ready(cells):
    return _frame(3, struct.pack("<I", cells))


def statement(action, database, text, rows, failure):
    return _frame(
        4, struct.pack("<H", action), _text(database), _text(text), struct.pack("<Q", rows), _optional_text(failure)
    )


def tracked(action, text, role, arguments, target):
    return _frame(5, struct.pack("<H", action), _text(text), bytes([role]), _texts(arguments), _optional_u32(target))


def parameter(action, place, name):
    return _frame(6, struct.pack("<HB", action, place), _text(name))


def panicked(action, target, file, line, column, message, backtrace):
    return _frame(
        7,
        struct.pack("<H", action),
        _optional_u32(target),
        _text(file),
        struct.pack("<II", line, column),
        _text(message),
        _text(backtrace),
    )


def synced(token):
    return _frame(8, struct.pack("<Q", token))


def answer(request, failure, rows):
    return _frame(9, struct.pack("<I", request), _optional_text(failure), struct.pack("<I", len(rows)), *map(_row, rows))


def _row(row):
    return struct.pack("<I", len(row)) + b"".join(map(_optional_text, row))


def dropped(events):
    return _frame(10, struct.pack("<I", events))


def unwatched(name, reason):
    return _frame(11, _text(name), _text(reason))


def called(action, url):
    return _frame(12, struct.pack("<H", action), _text(url))


def body(action, schema):
    return _frame(13, struct.pack("<H", action), _text(schema))


class Reader:
    """Fields of a message, one after the other."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    def number(self, form):
        (number,) = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return number

    def text(self):
        length = self.number("I")
        end = self.at + length
        if end > len(self.data):
            raise ValueError("a text is longer than its message")
        text = self.data[self.at : end].decode("utf-8")
        self.at = end
        return text

    def texts(self):
        return [self.text() for _ in range(self.number("I"))]


def command(data):
    """A command of the core: its tag and its fields. Unknown ones have no fields."""
    reader = Reader(data)
    tag = reader.number("B")
    if tag == 1:
        return tag, (reader.number("I"), reader.text())
    if tag == 2:
        return tag, (reader.texts(),)
    if tag == 3:
        return tag, (reader.number("Q"),)
    if tag in (4, 6):
        return tag, (reader.number("I"),)
    if tag == 5:
        return tag, (reader.number("I"), reader.text())
    return tag, ()
