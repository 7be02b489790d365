
// Runs SQL statements with the database client and returns its output.
@@js
function runSql(...statements) {
@@ts
function runSql(...statements: string[]): string {
@@end
@@sqlite postgres mysql
  const address = @DATABASE@;
  assert.ok(address, "set " + @VARIABLE@);
@@inside
  const address = @DATABASE@ ?? @AGENT_URL@;
@@end
@@js
  const env = { ...process.env };
@@ts
  const env: Record<string, string | undefined> = { ...process.env };
@@end
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
@@js
  const fill = (text, [name, value]) => text.replaceAll("$" + `{${name}}`, () => value);
@@ts
  const fill = (text: string, [name, value]: [string, string | undefined]) =>
    text.replaceAll("$" + `{${name}}`, () => value ?? "");
@@end
  const input = Object.entries(process.env).reduce(fill, text);
  const done = spawnSync(program, parameters, { input, env, encoding: "utf8", timeout: 60_000 });
  assert.equal(done.status, 0, `${done.error ?? ""}${done.stderr}${done.stdout}`);
  return done.stdout.trim();
}

@@ts
interface Row {
  d(column: string, data: string): Row;
  r(column: string, key: unknown): Row;
  run(): void;
  key(column: string): number;
@@state_ts
  isThere(): void;
  isGone(): void;
@@ts
}

@@end
// A row: d sets a column to an SQL literal, r to the key of another row.
@@js
function rowOf(table) {
  const cells = [];
@@ts
function rowOf(table: string) {
  const cells: [string, string][] = [];
@@end
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
@@js
  const row = {
@@ts
  const row: Row = {
@@end
@@js
    d: (column, data) => (cells.push([column, data]), row),
    r: (column, key) => (cells.push([column, String(key)]), row),
@@ts
    d: (column: string, data: string) => (cells.push([column, data]), row),
    r: (column: string, key: unknown) => (cells.push([column, String(key)]), row),
@@end
    run: () => void runSql(sql()),
@@sqlite postgres inside
    key: (column@STRING@) => Number(runSql(`${sql()} RETURNING ${column}`)),
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

@@js
function insertInto(table) {
@@ts
function insertInto(table: string) {
@@end
  return rowOf(table);
}
@@state

function rowIn(table@STRING@) {
  return rowOf(table);
}
@@end
