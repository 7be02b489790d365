package isobath.agent.measure;

/**
 * How far a text is from a shape: the cheapest edit that makes it match.
 *
 * <p>In a shape {@code #} is a digit, {@code x} a hexadecimal one, {@code %} any characters, {@code _} any
 * one, and everything else itself.
 */
public final class Shape {
    private Shape() {}

    /** The cheapest edit; zero exactly when the text matches. */
    public static double distance(CharSequence text, String shape) {
        return distance(Distance.points(text), Distance.points(shape), true);
    }

    /** As above, for shapes in which only {@code %} and {@code _} have a meaning. */
    public static double like(CharSequence text, String pattern) {
        return distance(Distance.points(text), Distance.points(pattern), false);
    }

    private static double distance(int[] text, int[] shape, boolean digits) {
        // row[j] is the cost of matching the text read so far with the first j pieces.
        double[] row = new double[shape.length + 1];
        for (int j = 0; j < shape.length; j++) {
            row[j + 1] = row[j] + (shape[j] == '%' ? 0 : 1);
        }
        for (int c : text) {
            double diagonal = row[0];
            row[0] += 1;
            for (int j = 0; j < shape.length; j++) {
                double above = row[j + 1];
                if (shape[j] == '%') {
                    row[j + 1] = Math.min(above, row[j]);
                } else {
                    double replaced = diagonal + cost(shape[j], c, digits);
                    row[j + 1] = Math.min(replaced, Math.min(above, row[j]) + 1);
                }
                diagonal = above;
            }
        }
        return row[shape.length];
    }

    private static double cost(int piece, int c, boolean digits) {
        if (piece == '_') {
            return 0;
        }
        if (digits && piece == '#') {
            return range(c, '0', '9');
        }
        if (digits && piece == 'x') {
            return Math.min(range(c, '0', '9'), Math.min(range(c, 'a', 'f'), range(c, 'A', 'F')));
        }
        return Distance.substitution(piece, c);
    }

    private static double range(int c, int low, int high) {
        if (c >= low && c <= high) {
            return 0;
        }
        return Math.min(Distance.substitution(c, low), Distance.substitution(c, high));
    }

    /** Each character that may not stand in a number counts by its distance to a digit (seed 002). */
    public static double number(CharSequence text, boolean point) {
        int[] points = Distance.points(text);
        if (points.length == 0) {
            return 1;
        }
        double sum = 0;
        boolean pointed = !point;
        for (int at = 0; at < points.length; at++) {
            int c = points[at];
            if ((c == '-' || c == '+') && at == 0 && points.length > 1) {
                continue;
            }
            if (c == '.' && !pointed) {
                pointed = true;
                continue;
            }
            sum += range(c, '0', '9');
        }
        return sum;
    }

    /** A well-formed text that is refused is nearer the shorter it is. */
    public static double outOfRange(CharSequence text) {
        return 0.5 * text.length() / (text.length() + 1.0);
    }
}
