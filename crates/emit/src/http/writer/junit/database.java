
  /** Runs SQL statements with the database client and returns its output. */
  private static String runSql(String... statements) throws Exception {
@@sqlite postgres mysql
    String address = environment(@VARIABLE@, null);
@@inside
    String address = environment(@VARIABLE@, @AGENT_URL@);
    List<String> client =
        List.of("curl", "-sS", "--noproxy", "*", "--fail-with-body", "--data-binary", "@-", address);
    ProcessBuilder builder = new ProcessBuilder(client);
@@sqlite
    String path = address.replaceFirst("^sqlite:(//)?", "");
    List<String> client = List.of("sqlite3", "-batch", "-bail", "-cmd", ".timeout 5000", path);
    ProcessBuilder builder = new ProcessBuilder(client);
@@postgres
    List<String> client = List.of("psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-d", address);
    ProcessBuilder builder = new ProcessBuilder(client);
@@mysql
    URI url = URI.create(address);
    String[] login = (url.getUserInfo() == null ? "root" : url.getUserInfo()).split(":", 2);
    String port = String.valueOf(url.getPort() < 0 ? 3306 : url.getPort());
    String database = url.getPath().replace("/", "");
    ProcessBuilder builder =
        new ProcessBuilder(
            "mariadb", "-NB", "--protocol=TCP", "-h", url.getHost(), "-P", port, "-u", login[0], database);
    builder.environment().put("MYSQL_PWD", login.length > 1 ? login[1] : "");
@@end
    Process process = builder.redirectErrorStream(true).start();
    String text = String.join(";\n", statements) + ";\n";
    for (String name : System.getenv().keySet()) {
      text = text.replace("${" + name + "}", System.getenv(name));
    }
    process.getOutputStream().write(text.getBytes(UTF_8));
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), UTF_8).trim();
    assertEquals(0, process.waitFor(), said);
    return said;
  }

  private static Row insertInto(String table) {
    return new Row(table);
  }
@@state

  private static Row rowIn(String table) {
    return new Row(table);
  }
@@end

  /** A row: d sets a column to an SQL literal, r to the key of another row. */
  private static final class Row {
    private final String table;
    private final List<String> columns = new ArrayList<>();
    private final List<String> values = new ArrayList<>();

    Row(String table) {
      this.table = table;
    }

    Row d(String column, String data) {
      columns.add(column);
      values.add(data);
      return this;
    }

    Row r(String column, Object key) {
      return d(column, key.toString());
    }

    private String sql() {
@@sqlite postgres inside
      if (columns.isEmpty()) {
        return "INSERT INTO " + table + " DEFAULT VALUES";
      }
@@end
      String names = String.join(", ", columns);
      return "INSERT INTO " + table + " (" + names + ") VALUES (" + String.join(", ", values) + ")";
    }

    void run() throws Exception {
      runSql(sql());
    }

    /** Inserts the row and returns its generated key. */
    Object key(String column) throws Exception {
@@sqlite postgres inside
      long key = Long.parseLong(runSql(sql() + " RETURNING " + column));
@@mysql
      long key = Long.parseLong(runSql(sql(), "SELECT LAST_INSERT_ID()"));
@@end
      if (key == (int) key) {
        return (int) key;
      }
      return key;
    }
@@state

    private String query() {
      List<String> known = new ArrayList<>();
      for (int i = 0; i < columns.size(); i++) {
        boolean isNull = values.get(i).equals("NULL");
        known.add(columns.get(i) + (isNull ? " IS NULL" : " = " + values.get(i)));
      }
      return "SELECT COUNT(*) FROM " + table + " WHERE " + String.join(" AND ", known);
    }

    /** Asserts that the row exists. */
    void isThere() throws Exception {
      assertFalse(runSql(query()).equals("0"), "no row for " + query());
    }

    /** Asserts that the row does not exist. */
    void isGone() throws Exception {
      assertEquals("0", runSql(query()), "rows for " + query());
    }
@@end
  }
