  /** What a test may ask of the database; undone after the test. */
  private static final class Database {
    private final Connection connection;
//// fields

    Database() throws SQLException {
//// open
      for (String sql : SESSION) {
        run(sql);
      }
      for (String sql : SETUP) {
        run(sql);
      }
    }

    void begin() throws SQLException {
//// begin
    }

    void undo() throws SQLException {
//// undo
    }

    void close() throws SQLException {
//// close
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
      return new Rejected(assertThrows(EXCEPTION.class, () -> runAll(statements)));
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

//// runAll

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
    private final EXCEPTION reason;

    Rejected(EXCEPTION reason) {
      this.reason = reason;
    }

    Rejected sqlState(String expected) {
//// sqlState
      return this;
    }

    Rejected code(int expected) {
//// code
      return this;
    }

    Rejected constraint(String expected) {
//// constraint
    }

    Rejected mentions(String expected) {
      assertTrue(reason.getMessage().contains(expected), reason.getMessage());
      return this;
    }
  }
