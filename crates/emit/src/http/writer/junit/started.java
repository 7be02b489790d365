
  private static Process service;

  @BeforeAll
  static void up() throws Exception {
    if (System.getenv(@BASE_URL_VARIABLE@) != null) {
      return;
    }
    String command = @START@;
@@free_url
    command = command.replace(@PORT_PLACEHOLDER@, "" + PORT);
@@free_agent
    command = command.replace(@AGENT_PORT_PLACEHOLDER@, AGENT_PORT);
@@end
    service = new ProcessBuilder("sh", "-c", "exec " + command).inheritIO().start();
    for (int tries = 0; ; tries++) {
      assertTrue(service.isAlive(), "the service exited during startup");
      try {
        anonymous().get("/");
        return;
      } catch (Exception error) {
        assertTrue(tries < 600, "the service did not become ready");
        Thread.sleep(100);
      }
    }
  }

  @AfterAll
  static void down() {
    if (service != null) {
      service.descendants().forEach(ProcessHandle::destroy);
      service.destroy();
    }
  }
