

class Database:
    """What a test may ask of the database; undone after the test."""

    def __init__(self, connection):
        self.connection = connection

    def accepts(self, *statements, rows=None):
        """Runs statements; several are run without checks of foreign keys."""
        affected = self._run(statements)
        if rows is not None:
            assert affected == rows, f"{affected} rows affected instead of {rows}"

    def rejects(
        self, *statements, sqlstate=None, code=None, constraint=None, message=()
    ):
        """Runs statements that must fail, and fail for the given reason."""
        with pytest.raises(pymysql.MySQLError) as caught:
            self._run(statements)
        actual, text = caught.value.args
        if code is not None:
            assert actual == code, f"code {actual} instead of {code}: {text}"
        for part in message if constraint is None else [constraint, *message]:
            assert part in text

    def returns(self, query, rows):
        """Runs a query that must return exactly these rows, as text."""
        with self.connection.cursor() as cursor:
            cursor.execute(query)
            actual = cursor.fetchall()
        assert [[v if v is None else str(v) for v in row] for row in actual] == rows

    def _run(self, statements):
        together = len(statements) > 1
        affected = None
        with self.connection.cursor() as cursor:
            if together:
                cursor.execute("SET foreign_key_checks = 0")
            try:
                for statement in statements:
                    affected = cursor.execute(statement)
            finally:
                if together:
                    cursor.execute("SET foreign_key_checks = 1")
        return affected


@pytest.fixture(scope="module")
def connection():
    url = os.environ.get("ISOBATH_MARIADB_URL")
    if not url:
        pytest.fail("ISOBATH_MARIADB_URL does not name a test server")
    parts = urlsplit(url)
    connection = pymysql.connect(
        host=parts.hostname,
        port=parts.port or 3306,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        charset="utf8mb4",
        client_flag=CLIENT.FOUND_ROWS,
    )
    with connection.cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {SCRATCH}")
        cursor.execute(f"CREATE DATABASE {SCRATCH}")
        cursor.execute(f"USE {SCRATCH}")
        for statement in SESSION + SETUP:
            cursor.execute(statement)
    yield connection
    with connection.cursor() as cursor:
        cursor.execute(f"DROP DATABASE {SCRATCH}")
    connection.close()


@pytest.fixture
def database(connection):
    connection.begin()
    yield Database(connection)
    connection.rollback()
