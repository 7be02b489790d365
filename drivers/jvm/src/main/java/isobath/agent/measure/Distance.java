package isobath.agent.measure;

/**
 * How far values are apart, as the core's {@code distance} crate has it; {@code
 * drivers/conformance/distances.json} holds both to the same numbers.
 */
public final class Distance {
    /**
     * How far null is from equaling something. Any value must be nearer, or a search that leaves an input out would
     * never come back from there; it is no whole number, so that nobody takes it for one between numbers.
     */
    public static final double FROM_NULL = 1e6 + 0.5;

    private static final double LIMIT = Double.MAX_VALUE / 1e6;
    /** Longer texts are compared in their first characters only. */
    private static final int LONGEST = 4096;
    /** So many parts of a text are compared with what it should contain. */
    private static final int MOST_PARTS = 256;

    private Distance() {}

    /** A distance that is not zero and not infinite, whatever the arithmetic gave. */
    public static double positive(double distance) {
        if (distance != distance) {
            return 1;
        }
        return Math.max(Double.MIN_NORMAL, Math.min(LIMIT, distance));
    }

    /** Squeezes a distance below one, keeping its order. */
    public static double normalize(double distance) {
        return distance / (distance + 1);
    }

    /** How far two longs are apart, exact while they are near. */
    public static double gap(long a, long b) {
        long difference = a - b;
        boolean overflows = ((a ^ b) & (a ^ difference)) < 0;
        return Math.abs(overflows ? (double) a - (double) b : (double) difference);
    }

    /** The order of two numbers, total: NaN equals itself and lies above all others. */
    public static int order(double a, double b) {
        return a < b ? -1 : a > b ? 1 : a == b ? 0 : Boolean.compare(a != a, b != b);
    }

    /** The order of two texts by code points. */
    public static int order(int[] a, int[] b) {
        int shorter = Math.min(a.length, b.length);
        for (int at = 0; at < shorter; at++) {
            if (a[at] != b[at]) {
                return Integer.compare(a[at], b[at]);
            }
        }
        return Integer.compare(a.length, b.length);
    }

    /** The code points of a text, as many as are looked at. */
    public static int[] points(CharSequence text) {
        int length = Math.min(text.length(), LONGEST);
        int[] points = new int[length];
        int count = 0;
        for (int at = 0; at < length; ) {
            int point = Character.codePointAt(text, at);
            points[count++] = point;
            at += Character.charCount(point);
        }
        return count == length ? points : java.util.Arrays.copyOf(points, count);
    }

    /** The letters of ASCII in lower case. */
    public static int[] folded(int[] points) {
        for (int at = 0; at < points.length; at++) {
            if (points[at] >= 'A' && points[at] <= 'Z') {
                points[at] += 'a' - 'A';
            }
        }
        return points;
    }

    /** How far a relation between two texts is from the other verdict. */
    public static double texts(int relation, int[] a, int[] b) {
        double gap =
                relation <= Relation.NOT_EQUAL ? positions(a, 0, a.length, b) : firstDifference(a, b);
        return Relation.toOther(relation, order(a, b), gap);
    }

    /** Sum over positions; a missing character costs one. */
    public static double positions(int[] a, int from, int to, int[] b) {
        int length = to - from;
        int both = Math.min(length, b.length);
        double sum = Math.max(length, b.length) - both;
        for (int at = 0; at < both; at++) {
            sum += substitution(a[from + at], b[at]);
        }
        return sum;
    }

    /** How far two texts lie apart in their order: halved by every character that they share at the start. */
    static double firstDifference(int[] a, int[] b) {
        double scale = 1;
        for (int at = 0; ; at++) {
            double gap;
            if (at < a.length && at < b.length) {
                if (a[at] == b[at]) {
                    scale = Math.max(scale / 2, 1e-12);
                    continue;
                }
                gap = Math.abs(a[at] - b[at]);
            } else if (at < a.length || at < b.length) {
                gap = Math.max(a.length, b.length) - at;
            } else {
                return 0;
            }
            return scale * (1 + normalize(gap)) / 2;
        }
    }

    /** How far a text is from starting with another. */
    public static double prefix(int[] text, int[] wanted) {
        return positions(text, 0, Math.min(text.length, wanted.length), wanted);
    }

    /** How far a text is from ending with another. */
    public static double suffix(int[] text, int[] wanted) {
        return positions(text, Math.max(0, text.length - wanted.length), text.length, wanted);
    }

    /** How far a text is from containing another: the nearest of its parts counts. */
    public static double part(int[] text, int[] wanted) {
        int parts = Math.min(MOST_PARTS, Math.max(0, text.length - wanted.length) + 1);
        double nearest = Double.POSITIVE_INFINITY;
        for (int from = 0; from < parts; from++) {
            int to = Math.min(text.length, from + wanted.length);
            nearest = Math.min(nearest, positions(text, from, to, wanted));
        }
        return nearest;
    }

    /** The cost of replacing one character by another, below one. */
    static double substitution(int a, int b) {
        return normalize(Math.abs(a - b));
    }
}
