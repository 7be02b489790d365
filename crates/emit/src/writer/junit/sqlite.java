  /** What a test may ask of the database; undone after the test. */
  private static final class Database {
    private final Connection connection;

    Database() throws SQLException {
      connection = DriverManager.getConnection(url("jdbc:sqlite::memory:"));
      for (String sql : SESSION) {
        run(sql);
      }
      for (String sql : SETUP) {
        run(sql);
      }
    }

    void begin() throws SQLException {
      run("BEGIN");
    }

    void undo() throws SQLException {
      run("ROLLBACK");
    }

    void close() throws SQLException {
      connection.close();
    }

    /** Runs statements; several are run with foreign keys checked at the end. */
    void accepts(String... statements) throws SQLException {
      runAll(statements);
    }

    /** Runs statements, the last of which must affect this many rows. */
    void affects(int rows, String... statements) throws SQLException {
      assertEquals(rows, runAll(statements), "rows affected");
    }

    /** Runs statements that must fail; the reason is checked on what is returned. */
    Rejected rejects(String... statements) {
      return new Rejected(assertThrows(SQLiteException.class, () -> runAll(statements)));
    }

    /** Runs a query that must return exactly these rows, as text. */
    void returns(String query, String[]... rows) throws SQLException {
      List<List<String>> expected = new ArrayList<>();
      for (String[] row : rows) {
        expected.add(Arrays.asList(row));
      }
      List<List<String>> actual = new ArrayList<>();
      try (Statement statement = connection.createStatement();
          ResultSet result = statement.executeQuery(query)) {
        int columns = result.getMetaData().getColumnCount();
        while (result.next()) {
          List<String> row = new ArrayList<>();
          for (int column = 1; column <= columns; column++) {
            row.add(result.getString(column));
          }
          actual.add(row);
        }
      }
      assertEquals(expected, actual);
    }

    private int runAll(String... statements) throws SQLException {
      boolean together = statements.length > 1;
      if (together) {
        run("PRAGMA defer_foreign_keys = ON");
      }
      int affected = 0;
      for (String sql : statements) {
        affected = run(sql);
      }
      if (DEFERRED_FOREIGN_KEYS && hasOrphans()) {
        throw new SQLiteException(
            "FOREIGN KEY constraint failed",
            org.sqlite.SQLiteErrorCode.SQLITE_CONSTRAINT_FOREIGNKEY);
      }
      if (together) {
        run("PRAGMA defer_foreign_keys = OFF");
      }
      return affected;
    }

    private boolean hasOrphans() throws SQLException {
      try (Statement statement = connection.createStatement();
          ResultSet result = statement.executeQuery("PRAGMA foreign_key_check")) {
        return result.next();
      }
    }

    private int run(String sql) throws SQLException {
      try (Statement statement = connection.createStatement()) {
        statement.setEscapeProcessing(false);
        statement.execute(sql);
        return statement.getUpdateCount();
      }
    }
  }

  /** The reason for which a statement was rejected. */
  private static final class Rejected {
    private final SQLiteException reason;

    Rejected(SQLiteException reason) {
      this.reason = reason;
    }

    Rejected sqlState(String expected) {
      // SQLite has no SQLSTATE.
      return this;
    }

    Rejected code(int expected) {
      assertEquals(expected, reason.getResultCode().code, reason.getMessage());
      return this;
    }

    Rejected constraint(String expected) {
      return mentions(expected);
    }

    Rejected mentions(String expected) {
      assertTrue(reason.getMessage().contains(expected), reason.getMessage());
      return this;
    }
  }
