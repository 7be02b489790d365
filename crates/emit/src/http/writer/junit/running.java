
  @BeforeAll
  static void up() {
    anonymous().get("/");
  }
