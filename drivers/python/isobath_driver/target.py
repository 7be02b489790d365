"""Things worth covering."""

STATEMENT, TRUE, FALSE, ARM, PROCEED, LEAVE, FAULT = range(1, 8)


class Target:
    """One thing, with the place where it stands in the source."""

    __slots__ = ("id", "kind", "unit", "file", "line", "column", "function", "text", "compiled_column")

    def __init__(self, id, kind, unit, file, line, column, function, text, compiled_column=None):
        self.id = id
        self.kind = kind
        self.unit = unit
        self.file = file
        self.line = line
        self.column = column
        self.function = function
        self.text = text
        self.compiled_column = column if compiled_column is None else compiled_column
