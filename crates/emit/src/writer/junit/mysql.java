  /** What a test may ask of the database; undone after the test. */
  private static final class Database {
    private final Connection connection;

    Database() throws SQLException {
      connection = DriverManager.getConnection(url(null));
      run("DROP DATABASE IF EXISTS " + SCRATCH);
      run("CREATE DATABASE " + SCRATCH);
      run("USE " + SCRATCH);
      for (String sql : SESSION) {
        run(sql);
      }
      for (String sql : SETUP) {
        run(sql);
      }
    }

    void begin() throws SQLException {
      run("START TRANSACTION");
    }

    void undo() throws SQLException {
      run("ROLLBACK");
    }

    void close() throws SQLException {
      run("DROP DATABASE " + SCRATCH);
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
      return new Rejected(assertThrows(SQLException.class, () -> runAll(statements)));
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
        run("SET foreign_key_checks = 0");
      }
      try {
        int affected = 0;
        for (String sql : statements) {
          affected = run(sql);
        }
        return affected;
      } finally {
        if (together) {
          run("SET foreign_key_checks = 1");
        }
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
    private final SQLException reason;

    Rejected(SQLException reason) {
      this.reason = reason;
    }

    Rejected sqlState(String expected) {
      assertEquals(expected, reason.getSQLState(), reason.getMessage());
      return this;
    }

    Rejected code(int expected) {
      assertEquals(expected, reason.getErrorCode(), reason.getMessage());
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
