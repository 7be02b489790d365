package isobath.agent.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TextTest {
    @Test
    void valuesAreFilledInWhereAQuestionMarkIsOne() {
        Map<Integer, Object> values = new HashMap<>();
        values.put(1, "it's");
        values.put(2, null);
        values.put(3, 4.5);
        values.put(4, new byte[] {1, (byte) 0xAB});
        String sql = "SELECT '?' /* ? */ FROM \"?\" WHERE a = ? AND b IS ? AND c < ? AND d = ? -- ?\n AND e = ?";
        assertEquals(
                "SELECT '?' /* ? */ FROM \"?\" WHERE a = 'it''s' AND b IS NULL AND c < 4.5 AND d = X'01ab' -- ?\n AND e = ?",
                Text.fill(sql, values));
    }

    @Test
    void statementsAreSplitOutsideOfTexts() {
        String sql = "INSERT INTO t VALUES (';'); -- ;\nDELETE FROM t;;";
        assertEquals(Arrays.asList("INSERT INTO t VALUES (';')", "-- ;\nDELETE FROM t"), Text.split(sql));
    }
}
