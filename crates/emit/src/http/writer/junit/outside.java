
  /** An answer of a service that the service calls. */
  private static final class Prepared {
    String service;
    String method;
    String path;
    int status;
    String mediaType;
    String body;
    boolean given;
  }

  private static final List<Prepared> ANSWERS = new ArrayList<>();
  private static final List<HttpServer> OUTSIDE = new ArrayList<>();

  static {
@STATIONS@  }

  /** Prepares an answer; with status 0, the connection is closed instead. */
  private static void standIn(
      String service, String method, String path, int status, String mediaType, String body) {
    Prepared answer = new Prepared();
    answer.service = service;
    answer.method = method;
    answer.path = path;
    answer.status = status;
    answer.mediaType = mediaType;
    answer.body = body;
    synchronized (ANSWERS) {
      ANSWERS.add(answer);
    }
  }

  /** Listens where the service looks for others. */
  private static void listen(String name, int port) {
    try {
      HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
      server.createContext("/", exchange -> reply(name, exchange));
      server.start();
      OUTSIDE.add(server);
    } catch (IOException error) {
      throw new IllegalStateException("port " + port + " is not free", error);
    }
  }

  @AfterAll
  static void leaveOutside() {
    OUTSIDE.forEach(server -> server.stop(0));
  }

  /** Gives the first fitting answer that was not given, or the last one again. */
  private static void reply(String name, HttpExchange exchange) throws IOException {
    exchange.getRequestBody().readAllBytes();
    URI url = exchange.getRequestURI();
    String host = url.getHost() != null ? url.getHost() : exchange.getRequestHeaders().getFirst("Host");
    String service = name.isEmpty() ? String.valueOf(host).split(":")[0] : name;
    int status = 200;
    String mediaType = "application/json";
    String body = "{}";
    synchronized (ANSWERS) {
      Prepared found = null;
      for (Prepared answer : ANSWERS) {
        boolean fits =
            answer.service.equals(service)
                && answer.method.equals(exchange.getRequestMethod())
                && fits(answer.path, url.getRawPath());
        if (fits && (found == null || found.given)) {
          found = answer;
        }
      }
      if (found != null) {
        found.given = true;
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

  private static boolean fits(String pattern, String path) {
    String[] wanted = pattern.split("/", -1);
    String[] found = path.split("/", -1);
    for (int at = 0; at < Math.min(wanted.length, found.length); at++) {
      if (!wanted[at].equals("*") && !wanted[at].equals(found[at])) {
        return false;
      }
    }
    return wanted.length == found.length;
  }
