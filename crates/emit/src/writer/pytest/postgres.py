

class Database:
    """What a test may ask of the database; undone after the test."""

    def __init__(self, connection):
        self.connection = connection

    def accepts(self, *statements, rows=None):
        """Runs statements; several are run with constraints checked at the end."""
        affected = self._run(statements)
        if rows is not None:
            assert affected == rows, f"{affected} rows affected instead of {rows}"

    def rejects(
        self, *statements, sqlstate=None, code=None, constraint=None, message=()
    ):
        """Runs statements that must fail, and fail for the given reason."""
        with pytest.raises(psycopg.Error) as caught:
            self._run(statements)
        error = caught.value
        if sqlstate is not None:
            assert error.sqlstate == sqlstate, str(error)
        if constraint is not None:
            assert error.diag.constraint_name == constraint, str(error)
        for part in message:
            assert part in str(error)

    def returns(self, query, rows):
        """Runs a query that must return exactly these rows, as text."""
        actual = self.connection.execute(query).fetchall()
        assert [[v if v is None else str(v) for v in row] for row in actual] == rows

    def _run(self, statements):
        together = len(statements) > 1
        affected = None
        with self.connection.transaction():
            if together:
                self.connection.execute("SET CONSTRAINTS ALL DEFERRED")
            for statement in statements:
                affected = self.connection.execute(statement).rowcount
            if together:
                self.connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
        return affected


@pytest.fixture(scope="module")
def connection():
    url = os.environ.get("ISOBATH_POSTGRES_URL")
    if not url:
        pytest.fail("ISOBATH_POSTGRES_URL does not name a test database")
    with psycopg.connect(url) as connection:
        connection.execute("CREATE SCHEMA isobath_scratch")
        connection.execute("SET LOCAL search_path TO isobath_scratch, public")
        for statement in SESSION + SETUP:
            connection.execute(statement)
        yield connection
        connection.rollback()


@pytest.fixture
def database(connection):
    with connection.transaction(force_rollback=True):
        connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
        yield Database(connection)
