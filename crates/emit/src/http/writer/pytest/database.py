

def run_sql(*statements):
    """Runs SQL statements with the database client and returns its output."""
@@sqlite postgres mysql
    address = os.environ.get(@VARIABLE@)
    assert address, "set " + @VARIABLE@
@@inside
    address = os.environ.get(@VARIABLE@, @AGENT_URL@)
@@end
    environment = dict(os.environ)
@@inside
    client = ["curl", "-sS", "--noproxy", "*", "--fail-with-body", "--data-binary", "@-", address]
@@sqlite
    path = address.removeprefix("sqlite:").removeprefix("//")
    client = ["sqlite3", "-batch", "-bail", "-cmd", ".timeout 5000", path]
@@postgres
    client = ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-d", address]
@@mysql
    url = urlsplit(address)
    environment["MYSQL_PWD"] = unquote(url.password or "")
    client = ["mariadb", "-NB", "--protocol=TCP", "-h", url.hostname]
    client += ["-P", str(url.port or 3306), "-u", unquote(url.username or "root")]
    client.append(url.path.strip("/"))
@@end
    text = ";\n".join(statements) + ";\n"
    for name, value in os.environ.items():
        text = text.replace("${" + name + "}", value)
    done = subprocess.run(
        client,
        input=text,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout.strip()


class Row:
    """A row: d sets a column to an SQL literal, r to the key of another row."""

    def __init__(self, table):
        self.table = table
        self.cells = {}

    def d(self, column, data):
        self.cells[column] = data
        return self

    def r(self, column, key):
        self.cells[column] = str(key)
        return self

    def sql(self):
@@sqlite postgres inside
        if not self.cells:
            return f"INSERT INTO {self.table} DEFAULT VALUES"
@@end
        columns = ", ".join(self.cells)
        values = ", ".join(self.cells.values())
        return f"INSERT INTO {self.table} ({columns}) VALUES ({values})"

    def run(self):
        """Inserts the row."""
        run_sql(self.sql())

    def key(self, column):
        """Inserts the row and returns its generated key."""
@@sqlite postgres inside
        return int(run_sql(f"{self.sql()} RETURNING {column}"))
@@mysql
        return int(run_sql(self.sql(), "SELECT LAST_INSERT_ID()"))
@@state

    def count(self):
        cells = self.cells.items()
        known = [f"{c} IS NULL" if v == "NULL" else f"{c} = {v}" for c, v in cells]
        sql = f"SELECT COUNT(*) FROM {self.table} WHERE {' AND '.join(known)}"
        return int(run_sql(sql)), sql

    def is_there(self):
        """Asserts that the row exists."""
        count, sql = self.count()
        assert count > 0, f"no row for {sql}"

    def is_gone(self):
        """Asserts that the row does not exist."""
        count, sql = self.count()
        assert count == 0, f"{count} rows for {sql}"
@@end


def insert_into(table):
    """Starts a row to insert."""
    return Row(table)
@@state


def row_in(table):
    """Starts a row to expect."""
    return Row(table)
@@end
