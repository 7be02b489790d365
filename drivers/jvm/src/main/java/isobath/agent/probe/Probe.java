package isobath.agent.probe;

import isobath.agent.link.Cells;
import isobath.agent.measure.Distance;
import isobath.agent.measure.Relation;
import java.nio.ByteBuffer;

/**
 * What instrumented code calls: a statement is executed, a condition has an outcome.
 *
 * <p>The map is a constant for the compiler, a probe whose outcomes are known is one or two loads, and
 * nothing here allocates, locks or throws on that path. A target is covered once per candidate, so the
 * lock of {@link #improve} is rarely taken. The first target of a condition is its outcome "true", the
 * next one "false".
 */
public final class Probe {
    private static final ByteBuffer MAP = Recording.map();
    private static final int FIRST = Cells.first(Cells.targets(MAP));
    /** The upper 48 bits of the cell of a covered target. */
    private static final long COVERED = 0x3FF0_0000_0000_0000L << 2 >>> 16;

    private Probe() {}

    /** A statement is executed. */
    public static void hit(int target) {
        if (MAP.getLong(FIRST + (target << 3)) >>> 16 != COVERED) {
            improve(target, COVERED << 16);
        }
    }

    /** Whether a target is covered since the candidate began. */
    public static boolean covered(int target) {
        return MAP.getLong(FIRST + (target << 3)) >>> 16 == COVERED;
    }

    /** Whether both outcomes of a condition are covered, so that nothing is left to say. */
    private static boolean known(int target) {
        int at = FIRST + (target << 3);
        return MAP.getLong(at) >>> 16 == COVERED && MAP.getLong(at + 8) >>> 16 == COVERED;
    }

    /** A target was missed by a distance. */
    public static void near(int target, double distance) {
        double score = Math.max(0.999 / (1 + distance), Double.MIN_NORMAL);
        long cell = Double.doubleToRawLongBits(score) << 2 & ~0xFFFFL;
        if (MAP.getLong(FIRST + (target << 3)) >>> 16 < cell >>> 16) {
            improve(target, cell);
        }
    }

    private static void improve(int target, long cell) {
        long action = Math.min(0xFFFF, MAP.getLong(Cells.ACTION));
        int at = FIRST + (target << 3);
        synchronized (MAP) {
            long before = MAP.getLong(at);
            if (before >>> 16 >= cell >>> 16) {
                return;
            }
            MAP.putLong(at, cell | 0xFFFF - action);
            int word = Cells.HEADER + (target >> 6 << 3);
            MAP.putLong(word, MAP.getLong(word) | 1L << target);
        }
    }

    /** A condition of which only the verdict is known. */
    public static void flag(boolean verdict, int target) {
        if (known(target)) {
            return;
        }
        if (verdict) {
            settle(target, target + 1, 1);
        } else {
            settle(target + 1, target, 1);
        }
    }

    private static void settle(int reached, int missed, double distance) {
        hit(reached);
        if (!covered(missed)) {
            near(missed, distance);
        }
    }

    /** {@code a == b}. */
    public static void eq(int a, int b, int target) {
        if (!known(target)) {
            equal(a, b, target);
        }
    }

    private static void equal(int a, int b, int target) {
        if (a == b) {
            settle(target, target + 1, 1);
        } else {
            settle(target + 1, target, Math.abs((double) a - b));
        }
    }

    /** {@code a != b}. */
    public static void ne(int a, int b, int target) {
        if (!known(target)) {
            unequal(a, b, target);
        }
    }

    private static void unequal(int a, int b, int target) {
        if (a == b) {
            settle(target + 1, target, 1);
        } else {
            settle(target, target + 1, Math.abs((double) a - b));
        }
    }

    /** {@code a < b}. */
    public static void lt(int a, int b, int target) {
        if (!known(target)) {
            less(a, b, target);
        }
    }

    private static void less(int a, int b, int target) {
        if (a < b) {
            settle(target, target + 1, (double) b - a);
        } else {
            settle(target + 1, target, (double) a - b + 1);
        }
    }

    /** {@code a <= b}. */
    public static void le(int a, int b, int target) {
        if (!known(target)) {
            lessOrEqual(a, b, target);
        }
    }

    private static void lessOrEqual(int a, int b, int target) {
        if (a <= b) {
            settle(target, target + 1, (double) b - a + 1);
        } else {
            settle(target + 1, target, (double) a - b);
        }
    }

    /** {@code a > b}. */
    public static void gt(int a, int b, int target) {
        lt(b, a, target);
    }

    /** {@code a >= b}. */
    public static void ge(int a, int b, int target) {
        le(b, a, target);
    }

    /** Compares two longs whose order is then looked at by this relation. */
    public static int order(long a, long b, int relation, int target) {
        int order = Long.compare(a, b);
        if (!known(target)) {
            ordered(order, Distance.gap(a, b), relation, target);
        }
        return order;
    }

    private static void ordered(int order, double gap, int relation, int target) {
        boolean verdict = Relation.holds(relation, order);
        int missed = verdict ? target + 1 : target;
        hit(verdict ? target : target + 1);
        if (!covered(missed)) {
            near(missed, Relation.toOther(relation, order, gap));
        }
    }

    /** Compares two doubles, {@code nan} being the order when one is not a number. */
    public static int order(double a, double b, int nan, int relation, int target) {
        int order = a < b ? -1 : a > b ? 1 : a == b ? 0 : nan;
        if (!known(target)) {
            ordered(order, a - b, relation, target);
        }
        return order;
    }

    /** Compares two floats. */
    public static int order(float a, float b, int nan, int relation, int target) {
        return order((double) a, (double) b, nan, relation, target);
    }

    /** {@code a == b}, of references. */
    public static void same(Object a, Object b, int target) {
        flag(a == b, target);
    }

    /** {@code a != b}, of references. */
    public static void different(Object a, Object b, int target) {
        flag(a != b, target);
    }

    /** {@code a == null}. */
    public static void isNull(Object a, int target) {
        flag(a == null, target);
    }

    /** {@code a != null}. */
    public static void notNull(Object a, int target) {
        flag(a != null, target);
    }

    /** A cast, with whether the value is of the type; the target is that it fails. */
    public static void cast(Object value, boolean fits, int target) {
        if (!fits && value != null) {
            hit(target);
        }
    }

    /** An outcome whose other side is this far; a distance that is not known counts as one step. */
    public static void outcome(boolean verdict, double toOther, int target) {
        if (target < 0) {
            return;
        }
        int missed = verdict ? target + 1 : target;
        hit(verdict ? target : target + 1);
        if (!covered(missed)) {
            near(missed, toOther > 0 && Recording.methods() ? Distance.positive(toOther) : 1);
        }
    }

    /** Whether the distance to the outcome is still of interest. */
    public static boolean wants(boolean outcome, int target) {
        return target >= 0 && !covered(outcome ? target : target + 1);
    }
}
