package berths;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/** A service without dependencies: the berth for a boat of some length. With FAULTY set, long boats crash it. */
public final class Service {
  private static final boolean FAULTY = System.getenv("FAULTY") != null;

  private Service() {}

  /** Listens at the port in the variable PORT. */
  public static void main(String[] arguments) throws IOException {
    int port = Integer.parseInt(System.getenv("PORT"));
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
    server.createContext("/", Service::answer);
    server.start();
  }

  private static void answer(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().getPath();
    if (!path.startsWith("/berths/")) {
      send(exchange, 404, "{\"error\": \"no such page\"}");
    } else if (!exchange.getRequestMethod().equals("GET")) {
      exchange.getResponseHeaders().set("Allow", "GET");
      send(exchange, 405, "{\"error\": \"only GET\"}");
    } else {
      berth(exchange, path.substring("/berths/".length()));
    }
  }

  private static void berth(HttpExchange exchange, String text) throws IOException {
    int meters;
    try {
      meters = Integer.parseInt(text);
    } catch (NumberFormatException error) {
      send(exchange, 400, "{\"error\": \"not a length\"}");
      return;
    }
    if (meters < 1 || meters > 200) {
      send(exchange, 400, "{\"error\": \"no boat has this length\"}");
    } else if (FAULTY && meters > 50) {
      send(exchange, 500, "{\"error\": \"berths[" + meters + "]\"}");
    } else {
      send(exchange, 200, "{\"berth\": " + meters / 10 + "}");
    }
  }

  private static void send(HttpExchange exchange, int status, String body) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    if (exchange.getRequestMethod().equals("HEAD")) {
      exchange.sendResponseHeaders(status, -1);
    } else {
      exchange.sendResponseHeaders(status, bytes.length);
      exchange.getResponseBody().write(bytes);
    }
    exchange.close();
  }
}
