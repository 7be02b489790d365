//// exception
SQLException
//// open
      connection = DriverManager.getConnection(url(null));
      run("DROP DATABASE IF EXISTS " + SCRATCH);
      run("CREATE DATABASE " + SCRATCH);
      run("USE " + SCRATCH);
//// begin
      run("START TRANSACTION");
//// undo
      run("ROLLBACK");
//// close
      run("DROP DATABASE " + SCRATCH);
//// runAll
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
//// sqlState
      assertEquals(expected, reason.getSQLState(), reason.getMessage());
//// code
      assertEquals(expected, reason.getErrorCode(), reason.getMessage());
//// constraint
      return mentions(expected);
