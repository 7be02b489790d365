package isobath.agent.jdbc;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Semaphore;

/**
 * Lets a test suite bring rows to a database in the memory of the service, which nobody else can reach: statements are
 * posted by HTTP to a port of this host, rows come back as lines.
 *
 * <p>The path of the URL is a token that only the suite knows. Others get no further than 403.
 */
public final class Door {
    private static final int LONGEST = 16 << 20;
    private static final int MOST_HEADERS = 100;
    private static final int LONGEST_LINE = 8192;
    /** Callers at a time; more are turned away. */
    private static final int MOST_CALLERS = 16;
    /** How long a caller may take to send a request. */
    private static final int PATIENCE_MS = 10_000;

    private final byte[] path;
    private final Semaphore free = new Semaphore(MOST_CALLERS);

    private Door(String token) {
        path = ("/" + token).getBytes(StandardCharsets.UTF_8);
    }

    /** Opens it at a port, or at a free one for 0. Returns the port. */
    public static int open(int port, String token) throws IOException {
        if (token.isEmpty()) {
            throw new IOException("ISOBATH_DOOR has no token and should be PORT/TOKEN");
        }
        Door door = new Door(token);
        ServerSocket socket = new ServerSocket(port, 16, InetAddress.getLoopbackAddress());
        Thread thread = new Thread(() -> door.accept(socket), "isobath-door");
        thread.setDaemon(true);
        thread.start();
        return socket.getLocalPort();
    }

    /** Serves callers side by side, so that one who stays silent holds up nobody. */
    private void accept(ServerSocket socket) {
        while (!socket.isClosed()) {
            try {
                Socket caller = socket.accept();
                if (!free.tryAcquire()) {
                    caller.close();
                    continue;
                }
                Thread thread = new Thread(() -> admit(caller), "isobath-door-caller");
                thread.setDaemon(true);
                thread.start();
            } catch (IOException | RuntimeException gone) {
                // The next one may have more luck.
            }
        }
    }

    private void admit(Socket caller) {
        try (Socket closed = caller) {
            serve(closed);
        } catch (IOException | RuntimeException gone) {
            // It sent garbage, or too slowly.
        } finally {
            free.release();
        }
    }

    private void serve(Socket caller) throws IOException {
        long deadline = System.nanoTime() + PATIENCE_MS * 1_000_000L;
        InputStream in = new BufferedInputStream(new Hurried(caller, deadline));
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
            List<List<String>> found;
            // Statements of two callers do not mix.
            synchronized (Door.class) {
                found = Database.run(statements);
            }
            for (List<String> row : found) {
                for (int at = 0; at < row.size(); at++) {
                    rows.append(at == 0 ? "" : "|").append(row.get(at) == null ? "" : row.get(at));
                }
                rows.append('\n');
            }
            answer(caller, "200 OK", rows.toString());
        } catch (Exception | LinkageError | StackOverflowError refused) {
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
            if (line.size() >= LONGEST_LINE) {
                throw new IOException("a line without end");
            }
            if (one != '\r') {
                line.write(one);
            }
        }
        return new String(line.toByteArray(), StandardCharsets.ISO_8859_1);
    }

    /** What a caller sends, until a deadline. */
    private static final class Hurried extends InputStream {
        private final Socket caller;
        private final InputStream in;
        private final long deadline;

        Hurried(Socket caller, long deadline) throws IOException {
            this.caller = caller;
            this.in = caller.getInputStream();
            this.deadline = deadline;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] bytes, int from, int count) throws IOException {
            long left = (deadline - System.nanoTime()) / 1_000_000;
            if (left <= 0) {
                throw new SocketTimeoutException("the request took too long");
            }
            caller.setSoTimeout((int) left);
            return in.read(bytes, from, count);
        }
    }
}
