package isobath.agent.measure;

import java.math.BigDecimal;
import java.math.BigInteger;

/** Distances between values whose types are known only when they are there. */
public final class Values {
    private Values() {}

    /** How far a relation between two values is from the other verdict; negative when nothing is known. */
    public static double toOther(int relation, Object a, Object b) {
        if ((a == null) != (b == null)) {
            return Distance.FROM_NULL;
        }
        if (a instanceof CharSequence && b instanceof CharSequence) {
            return Distance.texts(relation, Distance.points((CharSequence) a), Distance.points((CharSequence) b));
        }
        if (isWhole(a) && isWhole(b)) {
            long x = whole(a);
            long y = whole(b);
            return Relation.toOther(relation, Long.compare(x, y), Distance.gap(x, y));
        }
        if (isNumber(a) && isNumber(b)) {
            double x = ((Number) a).doubleValue();
            double y = ((Number) b).doubleValue();
            return Relation.toOther(relation, Distance.order(x, y), x - y);
        }
        Moment x = Moment.of(a);
        Moment y = x == null ? null : Moment.of(b);
        return y == null ? -1 : Moment.distance(relation, x, y);
    }

    private static boolean isWhole(Object value) {
        return value instanceof Integer
                || value instanceof Long
                || value instanceof Short
                || value instanceof Byte
                || value instanceof Character;
    }

    private static long whole(Object value) {
        return value instanceof Character ? (Character) value : ((Number) value).longValue();
    }

    private static boolean isNumber(Object value) {
        return value instanceof Double
                || value instanceof Float
                || value instanceof BigDecimal
                || value instanceof BigInteger
                || (value instanceof Number && isWhole(value));
    }
}
