
/** Runs SQL statements with the database client and returns its output. */
private fun runSql(vararg statements: String): String {
@@sqlite postgres mysql
    val address = environment(@VARIABLE@, null)
@@inside
    val address = environment(@VARIABLE@, @AGENT_URL@)
    val client =
        listOf("curl", "-sS", "--noproxy", "*", "--fail-with-body", "--data-binary", "@-", address)
    val builder = ProcessBuilder(client)
@@sqlite
    val path = address.removePrefix("sqlite:").removePrefix("//")
    val builder = ProcessBuilder("sqlite3", "-batch", "-bail", "-cmd", ".timeout 5000", path)
@@postgres
    val builder = ProcessBuilder("psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-d", address)
@@mysql
    val url = URI.create(address)
    val login = (url.userInfo ?: "root").split(":", limit = 2)
    val port = (if (url.port < 0) 3306 else url.port).toString()
    val client = listOf("mariadb", "-NB", "--protocol=TCP", "-h", url.host, "-P", port)
    val builder = ProcessBuilder(client + listOf("-u", login[0], url.path.replace("/", "")))
    builder.environment()["MYSQL_PWD"] = login.getOrElse(1) { "" }
@@end
    val process = builder.redirectErrorStream(true).start()
    var text = statements.joinToString(";\n") + ";\n"
    for ((name, value) in System.getenv()) {
        text = text.replace("\${$name}", value)
    }
    process.outputStream.use { it.write(text.toByteArray()) }
    val said = process.inputStream.readBytes().toString(Charsets.UTF_8).trim()
    assertEquals(0, process.waitFor(), said)
    return said
}

private fun insertInto(table: String) = Row(table)
@@state

private fun rowIn(table: String) = Row(table)
@@end

/** A row: d sets a column to an SQL literal, r to the key of another row. */
private class Row(private val table: String) {
    private val cells = ArrayList<Pair<String, String>>()

    fun d(column: String, data: String): Row {
        cells.add(column to data)
        return this
    }

    fun r(column: String, key: Any?): Row = d(column, key.toString())

    private fun sql(): String {
@@sqlite postgres inside
        if (cells.isEmpty()) {
            return "INSERT INTO $table DEFAULT VALUES"
        }
@@end
        val columns = cells.joinToString(", ") { it.first }
        val values = cells.joinToString(", ") { it.second }
        return "INSERT INTO $table ($columns) VALUES ($values)"
    }

    fun run() {
        runSql(sql())
    }

    /** Inserts the row and returns its generated key. */
    fun key(column: String): Any {
@@sqlite postgres inside
        val key = runSql(sql() + " RETURNING " + column).toLong()
@@mysql
        val key = runSql(sql(), "SELECT LAST_INSERT_ID()").toLong()
@@end
        return if (key == key.toInt().toLong()) key.toInt() else key
    }
@@state

    private fun query(): String {
        val known = cells.joinToString(" AND ") { (column, value) ->
            if (value == "NULL") "$column IS NULL" else "$column = $value"
        }
        return "SELECT COUNT(*) FROM $table WHERE $known"
    }

    /** Asserts that the row exists. */
    fun isThere() {
        assertFalse(runSql(query()) == "0", "no row for " + query())
    }

    /** Asserts that the row does not exist. */
    fun isGone() {
        assertEquals("0", runSql(query()), "rows for " + query())
    }
@@end
}
