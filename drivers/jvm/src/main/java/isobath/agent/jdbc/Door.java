package isobath.agent.jdbc;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Lets a test suite bring rows to a database in the memory of the service, which nobody else can reach: statements are
 * posted by HTTP to a port of this host, rows come back as lines.
 */
public final class Door {
    private static final int LONGEST = 16 << 20;
    private static final int PATIENCE = 10_000;

    private Door() {}

    /** Opens it; one caller at a time is served. */
    public static void open(int port) throws IOException {
        ServerSocket door = new ServerSocket(port, 16, InetAddress.getLoopbackAddress());
        Thread thread =
                new Thread(
                        () -> {
                            while (!door.isClosed()) {
                                try (Socket caller = door.accept()) {
                                    serve(caller);
                                } catch (IOException gone) {
                                    // The next one may have more luck.
                                }
                            }
                        },
                        "isobath-door");
        thread.setDaemon(true);
        thread.start();
    }

    private static void serve(Socket caller) throws IOException {
        caller.setSoTimeout(PATIENCE);
        InputStream in = new BufferedInputStream(caller.getInputStream());
        boolean isPost = line(in).startsWith("POST ");
        boolean isBrowser = false;
        int length = 0;
        for (String header = line(in); !header.isEmpty(); header = line(in)) {
            String lower = header.toLowerCase();
            // A page in somebody's browser has no business here.
            isBrowser |= lower.startsWith("origin:");
            if (lower.startsWith("content-length:")) {
                length = Integer.parseInt(lower.substring("content-length:".length()).trim());
            } else if (lower.startsWith("expect:")) {
                caller.getOutputStream().write("HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            }
        }
        if (!isPost || isBrowser || length > LONGEST) {
            answer(caller, "400 Bad Request", "statements are posted here, by tests");
            return;
        }
        byte[] body = new byte[length];
        for (int read = 0; read < length; ) {
            int count = in.read(body, read, length - read);
            if (count < 0) {
                return;
            }
            read += count;
        }
        try {
            StringBuilder rows = new StringBuilder();
            for (List<String> row : Database.run(new String(body, StandardCharsets.UTF_8))) {
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
