package isobath.agent.jdbc;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.List;
import java.util.Locale;

/**
 * Lets a test suite bring rows to a database in the memory of the service, which nobody else can reach: statements are
 * posted by HTTP to a port of this host, rows come back as lines.
 *
 * <p>The path of the URL is a token that only the suite knows. Others get no further than 403.
 */
public final class Door {
    private static final int LONGEST = 16 << 20;
    private static final int MOST_HEADERS = 100;
    private static final int PATIENCE = 10_000;

    private final byte[] path;

    private Door(String token) {
        path = ("/" + token).getBytes(StandardCharsets.UTF_8);
    }

    /** Opens it at a port, or at a free one for 0; one caller at a time is served. Returns the port. */
    public static int open(int port, String token) throws IOException {
        if (token.isEmpty()) {
            throw new IOException("ISOBATH_DOOR has no token and should be PORT/TOKEN");
        }
        Door door = new Door(token);
        ServerSocket socket = new ServerSocket(port, 16, InetAddress.getLoopbackAddress());
        Thread thread =
                new Thread(
                        () -> {
                            while (!socket.isClosed()) {
                                try (Socket caller = socket.accept()) {
                                    door.serve(caller);
                                } catch (IOException | RuntimeException gone) {
                                    // The next one may have more luck.
                                }
                            }
                        },
                        "isobath-door");
        thread.setDaemon(true);
        thread.start();
        return socket.getLocalPort();
    }

    private void serve(Socket caller) throws IOException {
        caller.setSoTimeout(PATIENCE);
        InputStream in = new BufferedInputStream(caller.getInputStream());
        String[] request = line(in).split(" ");
        boolean isBrowser = false;
        boolean isExpected = false;
        int length = 0;
        int headers = 0;
        for (String header = line(in); !header.isEmpty(); header = line(in)) {
            String lower = header.toLowerCase(Locale.ROOT);
            // A page in somebody's browser has no business here.
            isBrowser |= lower.startsWith("origin:");
            isExpected |= lower.startsWith("expect:");
            if (lower.startsWith("content-length:")) {
                length = length(lower.substring("content-length:".length()).trim());
            }
            if (++headers > MOST_HEADERS) {
                length = -1;
                break;
            }
        }
        if (request.length < 2 || !request[0].equals("POST") || isBrowser || length < 0) {
            answer(caller, "400 Bad Request", "statements are posted here, by tests\n");
            return;
        }
        if (!MessageDigest.isEqual(path, request[1].getBytes(StandardCharsets.UTF_8))) {
            answer(caller, "403 Forbidden", "the path of the URL is not the token of this run\n");
            return;
        }
        if (isExpected) {
            caller.getOutputStream().write("HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        }
        byte[] body = new byte[length];
        for (int read = 0; read < length; ) {
            int count = in.read(body, read, length - read);
            if (count < 0) {
                return;
            }
            read += count;
        }
        run(caller, new String(body, StandardCharsets.UTF_8));
    }

    private static void run(Socket caller, String statements) throws IOException {
        try {
            StringBuilder rows = new StringBuilder();
            for (List<String> row : Database.run(statements)) {
                for (int at = 0; at < row.size(); at++) {
                    rows.append(at == 0 ? "" : "|").append(row.get(at) == null ? "" : row.get(at));
                }
                rows.append('\n');
            }
            answer(caller, "200 OK", rows.toString());
        } catch (Exception | LinkageError refused) {
            answer(caller, "422 Unprocessable Entity", refused.getMessage() + "\n");
        }
    }

    /** The number of bytes to read; negative for what is no such number, or more than we take. */
    private static int length(String text) {
        try {
            int length = Integer.parseInt(text);
            return length <= LONGEST ? length : -1;
        } catch (NumberFormatException garbage) {
            return -1;
        }
    }

    private static void answer(Socket caller, String status, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        String head = "HTTP/1.1 " + status + "\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: ";
        caller.getOutputStream().write((head + body.length + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
        caller.getOutputStream().write(body);
        caller.getOutputStream().flush();
    }

    private static String line(InputStream in) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int one = in.read(); one >= 0 && one != '\n'; one = in.read()) {
            if (one != '\r' && line.size() < 8192) {
                line.write(one);
            }
        }
        return new String(line.toByteArray(), StandardCharsets.ISO_8859_1);
    }
}
