
  /** A stub of an external service. */
  private static final class Stub {
    String service;
    String method;
    String path;
    int status;
    String mediaType;
    String body;
    boolean used;
  }

  private static final List<Stub> STUBS = new ArrayList<>();
  private static final List<HttpServer> MOCK_SERVERS = new ArrayList<>();

  static {
    @EXTERNAL_SERVICES@
  }

  /** Adds a stub; with status 0, the connection is closed instead. */
  private static void mockResponse(
      String service, String method, String path, int status, String mediaType, String body) {
    Stub stub = new Stub();
    stub.service = service;
    stub.method = method;
    stub.path = path;
    stub.status = status;
    stub.mediaType = mediaType;
    stub.body = body;
    synchronized (STUBS) {
      STUBS.add(stub);
    }
  }

  /** Listens where the service expects the external services. */
  private static void listen(String name, int port) {
    try {
      HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
      server.createContext("/", exchange -> reply(name, exchange));
      server.start();
      MOCK_SERVERS.add(server);
    } catch (IOException error) {
      throw new IllegalStateException("port " + port + " is not free", error);
    }
  }

  @AfterAll
  static void stopMockServers() {
    MOCK_SERVERS.forEach(server -> server.stop(0));
  }

  /** Sends the first matching stub that is unused, or the last one again. */
  private static void reply(String name, HttpExchange exchange) throws IOException {
    exchange.getRequestBody().readAllBytes();
    URI url = exchange.getRequestURI();
    String host = url.getHost() != null ? url.getHost() : exchange.getRequestHeaders().getFirst("Host");
    String service = name.isEmpty() ? String.valueOf(host).split(":")[0] : name;
    int status = 200;
    String mediaType = "application/json";
    String body = "{}";
    synchronized (STUBS) {
      Stub found = null;
      for (Stub stub : STUBS) {
        boolean matches =
            stub.service.equals(service)
                && stub.method.equals(exchange.getRequestMethod())
                && pathMatches(stub.path, url.getRawPath());
        if (matches && (found == null || found.used)) {
          found = stub;
        }
      }
      if (found != null) {
        found.used = true;
        status = found.status;
        mediaType = found.mediaType;
        body = found.body;
      }
    }
    byte[] bytes = body.getBytes(UTF_8);
    if (status != 0) {
      exchange.getResponseHeaders().set("Content-Type", mediaType);
      exchange.getResponseHeaders().set("Connection", "close");
      boolean isEmpty = bytes.length == 0 || status == 204;
      exchange.sendResponseHeaders(status, isEmpty ? -1 : bytes.length);
      if (!isEmpty) {
        exchange.getResponseBody().write(bytes);
      }
    }
    exchange.close();
  }

  private static boolean pathMatches(String pattern, String path) {
    String[] wanted = pattern.split("/", -1);
    String[] found = path.split("/", -1);
    for (int at = 0; at < Math.min(wanted.length, found.length); at++) {
      if (!wanted[at].equals("*") && !wanted[at].equals(found[at])) {
        return false;
      }
    }
    return wanted.length == found.length;
  }
