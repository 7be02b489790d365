  private static Database database;

  @BeforeAll
  static void open() throws SQLException {
    database = new Database();
  }

  @AfterAll
  static void close() throws SQLException {
    database.close();
  }

  @BeforeEach
  void begin() throws SQLException {
    database.begin();
  }

  @AfterEach
  void undo() throws SQLException {
    database.undo();
  }

  private static String url(String fallback) {
    String url = System.getProperty("isobath.url", System.getenv("ISOBATH_JDBC_URL"));
    if (url == null && fallback == null) {
      throw new IllegalStateException("neither -Disobath.url nor ISOBATH_JDBC_URL is set");
    }
    return url == null ? fallback : url;
  }
