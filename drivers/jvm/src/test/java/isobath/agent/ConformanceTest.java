package isobath.agent;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class ConformanceTest {
    @Test
    void distancesAreThoseOfTheCore() throws Exception {
        assertTrue(Conformance.distances() > 1000);
    }

    @Test
    void messagesHaveTheBytesOfTheProtocol() throws Exception {
        assertTrue(Conformance.messages() >= 12);
    }

    @Test
    void scenariosEndAsTheySay() throws Exception {
        assertTrue(Conformance.scenarios() >= 2);
    }
}
