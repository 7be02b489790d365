package isobath.agent.service;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.io.InputStream;
import org.junit.jupiter.api.Test;

class TracesTest {
    private static StackTraceElement frame(String type, String method) {
        return new StackTraceElement(type, method, "File.java", 1);
    }

    private static final StackTraceElement JDK = frame("java.lang.Integer", "parseInt");
    private static final StackTraceElement AGENT = frame("isobath.agent.replace.Parsers", "parseInt");
    private static final StackTraceElement ADDED = frame("shop.Prices", "isobath$reference0");
    private static final StackTraceElement SERVICE = frame("shop.Prices", "of");

    @Test
    void framesOfTheAgentAreTakenOut() {
        StackTraceElement[] trace = {JDK, AGENT, ADDED, SERVICE};
        assertArrayEquals(new StackTraceElement[] {JDK, SERVICE}, Traces.without(trace));
    }

    @Test
    void otherTracesAreLeftAsTheyAre() {
        for (StackTraceElement[] trace : new StackTraceElement[][] {{}, {JDK, SERVICE}, {AGENT}}) {
            assertSame(trace, Traces.without(trace));
        }
    }

    @Test
    void printedFramesOfTheAgentAreTakenOut() {
        String printed =
                "java.lang.NumberFormatException: isobath.agent\n\tat java.lang.Integer.parseInt(Integer.java:1)\n"
                        + "\tat isobath.agent.replace.Parsers.parseInt(Parsers.java:2)\n"
                        + "\tat shop.Prices.isobath$reference0(Prices.java)\n\tat shop.Prices.of(Prices.java:3)\n";
        String wanted =
                "java.lang.NumberFormatException: isobath.agent\n\tat java.lang.Integer.parseInt(Integer.java:1)\n"
                        + "\tat shop.Prices.of(Prices.java:3)\n";
        assertEquals(wanted, Traces.without(printed));
    }

    @Test
    void theMethodOfTheJdkThatHandsTracesOutIsThere() throws Exception {
        try (InputStream in = Throwable.class.getResourceAsStream("Throwable.class")) {
            assertNotNull(Traces.weave(in.readAllBytes()));
        }
    }
}
