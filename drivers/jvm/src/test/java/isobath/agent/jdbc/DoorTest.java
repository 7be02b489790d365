package isobath.agent.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DoorTest {
    private static int port;

    @BeforeAll
    static void open() throws IOException {
        port = Door.open(0, "secret");
    }

    /** The status that a request is answered with, or nothing. */
    private static String status(String request) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            socket.shutdownOutput();
            InputStream in = socket.getInputStream();
            String answer = new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
            return answer.isEmpty() ? "" : answer.split(" ")[1];
        }
    }

    @ParameterizedTest
    @CsvSource({
        "POST /secret, 8, 422", // Admitted; no database takes it.
        "POST /, 8, 403",
        "POST /secret2, 8, 403",
        "POST /secre, 8, 403",
        "GET /secret, 8, 400",
        "POST, 8, 403",
        "POST /secret, -1, 400",
        "POST /secret, eight, 400",
        "POST /secret, '', 400",
        "POST /secret, 99999999999, 400",
        "POST /secret, 17000000, 400",
    })
    void onlyTheTokenAdmitsAndGarbageIsRefused(String request, String length, String status) throws IOException {
        String head = request + " HTTP/1.1\r\nContent-Length: " + length + "\r\n\r\n";
        assertEquals(status, status(head + "SELEKT 1"), head);
    }

    @Test
    void itStaysOpenAfterGarbage() throws IOException {
        for (String garbage : new String[] {"", "\r\n", "\0\1\2\n\n", " \n\n", "POST /secret HTTP/1.1\r\nContent-Length: 5\r\n\r\nSE"}) {
            status(garbage);
        }
        StringBuilder headers = new StringBuilder("POST /secret HTTP/1.1\r\n");
        for (int count = 0; count < 1000; count++) {
            headers.append("A: b\r\n");
        }
        status(headers + "\r\n");
        assertEquals("403", status("POST / HTTP/1.1\r\n\r\n"));
    }

    @Test
    void whoStaysSilentHoldsUpNobodyAndALineWithoutEndIsCutOff() throws IOException {
        try (Socket silent = new Socket(InetAddress.getLoopbackAddress(), port)) {
            silent.getOutputStream().write("POST /sec".getBytes(StandardCharsets.ISO_8859_1));
            assertEquals("403", status("POST / HTTP/1.1\r\n\r\n"));
        }
        byte[] endless = new byte[1 << 20];
        Arrays.fill(endless, (byte) 'a');
        try (Socket caller = new Socket(InetAddress.getLoopbackAddress(), port)) {
            caller.setSoTimeout(20_000);
            // It hangs up before all of it is sent, which either side may notice first.
            assertThrows(IOException.class, () -> {
                while (true) {
                    caller.getOutputStream().write(endless);
                }
            });
        }
        assertEquals("403", status("POST / HTTP/1.1\r\n\r\n"));
    }

    @Test
    void manyCallersAtOnceAreServedOrTurnedAway() throws Exception {
        Socket[] silent = new Socket[40];
        for (int at = 0; at < silent.length; at++) {
            silent[at] = new Socket(InetAddress.getLoopbackAddress(), port);
        }
        for (Socket one : silent) {
            one.close();
        }
        // Those that were served are noticed to be gone.
        String status = "";
        while (status.isEmpty()) {
            try {
                status = status("POST / HTTP/1.1\r\n\r\n");
            } catch (IOException turnedAway) {
                Thread.yield();
            }
        }
        assertEquals("403", status);
    }

    @Test
    void withoutATokenItIsNotOpened() {
        assertThrows(IOException.class, () -> Door.open(0, ""));
    }
}
