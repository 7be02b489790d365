//// exception
PSQLException
//// fields
    private Savepoint start;
//// open
      connection = DriverManager.getConnection(url(null));
      connection.setAutoCommit(false);
      run("CREATE SCHEMA isobath_scratch");
      run("SET LOCAL search_path TO isobath_scratch, public");
//// begin
      start = connection.setSavepoint();
      run("SET CONSTRAINTS ALL IMMEDIATE");
//// undo
      connection.rollback(start);
//// close
      connection.rollback();
//// runAll
    private int runAll(String... statements) throws SQLException {
      boolean together = statements.length > 1;
      Savepoint before = connection.setSavepoint();
      try {
        if (together) {
          run("SET CONSTRAINTS ALL DEFERRED");
        }
        int affected = 0;
        for (String sql : statements) {
          affected = run(sql);
        }
        if (together) {
          run("SET CONSTRAINTS ALL IMMEDIATE");
        }
        return affected;
      } catch (SQLException rejected) {
        connection.rollback(before);
        throw rejected;
      }
    }
//// sqlState
      assertEquals(expected, reason.getSQLState(), reason.getMessage());
//// code
      // PostgreSQL has no error numbers.
//// constraint
      assertEquals(
          expected, reason.getServerErrorMessage().getConstraint(), reason.getMessage());
      return this;
