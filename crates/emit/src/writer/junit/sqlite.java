//// exception
SQLiteException
//// open
      connection = DriverManager.getConnection(url("jdbc:sqlite::memory:"));
//// begin
      run("BEGIN");
//// undo
      run("ROLLBACK");
//// runAll
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
//// sqlState
      // SQLite has no SQLSTATE.
//// code
      assertEquals(expected, reason.getResultCode().code, reason.getMessage());
//// constraint
      return mentions(expected);
