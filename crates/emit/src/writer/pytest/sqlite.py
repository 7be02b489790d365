

class Database:
    """What a test may ask of the database; undone after the test."""

    def __init__(self, connection):
        self.connection = connection

    def accepts(self, *statements, rows=None):
        """Runs statements; several are run with foreign keys checked at the end."""
        affected = self._run(statements)
        if rows is not None:
            assert affected == rows, f"{affected} rows affected instead of {rows}"

    def rejects(
        self, *statements, sqlstate=None, code=None, constraint=None, message=()
    ):
        """Runs statements that must fail, and fail for the given reason."""
        with pytest.raises(sqlite3.Error) as caught:
            self._run(statements)
        actual = getattr(caught.value, "sqlite_errorcode", None)
        text = str(caught.value)
        if code is not None:
            assert actual == code, f"code {actual} instead of {code}: {text}"
        for part in message if constraint is None else [constraint, *message]:
            assert part in text

    def returns(self, query, rows):
        """Runs a query that must return exactly these rows, as text."""
        actual = self.connection.execute(query).fetchall()
        assert [[v if v is None else str(v) for v in row] for row in actual] == rows

    def _run(self, statements):
        together = len(statements) > 1
        if together:
            self.connection.execute("PRAGMA defer_foreign_keys = ON")
        affected = None
        for statement in statements:
            affected = self.connection.execute(statement).rowcount
        if DEFERRED_FOREIGN_KEYS:
            orphans = self.connection.execute("PRAGMA foreign_key_check").fetchall()
            if orphans:
                error = sqlite3.IntegrityError("FOREIGN KEY constraint failed")
                error.sqlite_errorcode = sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY
                raise error
        if together:
            self.connection.execute("PRAGMA defer_foreign_keys = OFF")
        return affected


@pytest.fixture(scope="module")
def connection():
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for statement in SESSION + SETUP:
        connection.execute(statement)
    yield connection
    connection.close()


@pytest.fixture
def database(connection):
    connection.execute("BEGIN")
    yield Database(connection)
    if connection.in_transaction:
        connection.execute("ROLLBACK")
