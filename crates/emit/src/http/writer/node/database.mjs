
// Runs SQL statements with the database client and returns its output.
function runSql(...statements) {
@@sqlite postgres mysql
  const address = @GIVEN@;
  assert.ok(address, "set " + @VARIABLE@);
@@inside
  const address = @GIVEN@ ?? @AGENT_URL@;
@@end
  const env = { ...process.env };
@@inside
  const client = ["curl", "-sS", "--noproxy", "*", "--fail-with-body", "--data-binary", "@-", address];
@@sqlite
  const path = address.replace(/^sqlite:(\/\/)?/, "");
  const client = ["sqlite3", "-batch", "-bail", "-cmd", ".timeout 5000", path];
@@postgres
  const client = ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-d", address];
@@mysql
  const url = new URL(address);
  env.MYSQL_PWD = decodeURIComponent(url.password);
  const client = ["mariadb", "-NB", "--protocol=TCP", "-h", url.hostname];
  client.push("-P", url.port || "3306", "-u", decodeURIComponent(url.username) || "root");
  client.push(url.pathname.replaceAll("/", ""));
@@end
  const [program, ...parameters] = client;
  const text = `${statements.join(";\n")};\n`;
  const fill = (text, [name, value]) => text.replaceAll("$" + `{${name}}`, () => value);
  const input = Object.entries(process.env).reduce(fill, text);
  const done = spawnSync(program, parameters, { input, env, encoding: "utf8", timeout: 60_000 });
  assert.equal(done.status, 0, `${done.error ?? ""}${done.stderr}${done.stdout}`);
  return done.stdout.trim();
}

// A row: d sets a column to an SQL literal, r to the key of another row.
function rowOf(table) {
  const cells = [];
  const sql = () => {
@@sqlite postgres inside
    if (cells.length === 0) return `INSERT INTO ${table} DEFAULT VALUES`;
@@end
    const columns = cells.map(([column]) => column).join(", ");
    const values = cells.map(([, value]) => value).join(", ");
    return `INSERT INTO ${table} (${columns}) VALUES (${values})`;
  };
@@state
  const query = () => {
    const known = cells.map(([column, value]) =>
      value === "NULL" ? `${column} IS NULL` : `${column} = ${value}`,
    );
    return `SELECT COUNT(*) FROM ${table} WHERE ${known.join(" AND ")}`;
  };
  const count = () => Number(runSql(query()));
@@end
  const row = {
    d: (column, data) => (cells.push([column, data]), row),
    r: (column, key) => (cells.push([column, String(key)]), row),
    run: () => void runSql(sql()),
@@sqlite postgres inside
    key: (column) => Number(runSql(`${sql()} RETURNING ${column}`)),
@@mysql
    key: () => Number(runSql(sql(), "SELECT LAST_INSERT_ID()")),
@@state
    // Asserts that the row exists.
    isThere: () => assert.ok(count() > 0, `no row for ${query()}`),
    // Asserts that the row does not exist.
    isGone: () => assert.equal(count(), 0, `rows for ${query()}`),
@@end
  };
  return row;
}

function insertInto(table) {
  return rowOf(table);
}
@@state

function rowIn(table) {
  return rowOf(table);
}
@@end
