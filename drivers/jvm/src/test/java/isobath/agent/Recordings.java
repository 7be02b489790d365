package isobath.agent;

import isobath.agent.link.Cells;
import isobath.agent.probe.Recording;
import java.nio.ByteBuffer;

/** The one map of a test run, since probes know no other. */
public final class Recordings {
    private static final int TARGETS = 4096;
    private static final ByteBuffer MAP = Cells.alone(TARGETS);

    static {
        Recording.into(MAP, true);
    }

    private Recordings() {}

    /** The map, with nothing recorded. */
    public static ByteBuffer fresh() {
        for (int at = Cells.CANDIDATE; at < MAP.capacity(); at += 8) {
            MAP.putLong(at, 0);
        }
        return MAP;
    }

    private static long cell(int target) {
        return MAP.getLong(Cells.first(TARGETS) + 8 * target);
    }

    /** The score of a target. */
    public static double score(int target) {
        return Double.longBitsToDouble((cell(target) & ~0xFFFFL) >>> 2);
    }

    /** All scores, to compare. */
    public static String all() {
        StringBuilder all = new StringBuilder();
        for (int target = 0; target < TARGETS; target++) {
            all.append(target).append(": ").append(score(target)).append('\n');
        }
        return all.toString();
    }

    /** The action of a target. */
    public static int action(int target) {
        return (int) (0xFFFF - (cell(target) & 0xFFFF));
    }

    /** How many targets were reached, by their bits. */
    public static int count() {
        int count = 0;
        for (int at = Cells.HEADER; at < Cells.first(TARGETS); at += 8) {
            count += Long.bitCount(MAP.getLong(at));
        }
        return count;
    }
}
