package isobath.agent.measure;

/** The six relations, as numbers that can be pushed by bytecode, and Korel's rules for them. */
public final class Relation {
    /** {@code =}. */
    public static final int EQUAL = 0;
    /** {@code <>}. */
    public static final int NOT_EQUAL = 1;
    /** {@code <}. */
    public static final int LESS = 2;
    /** {@code <=}. */
    public static final int LESS_OR_EQUAL = 3;
    /** {@code >}. */
    public static final int GREATER = 4;
    /** {@code >=}. */
    public static final int GREATER_OR_EQUAL = 5;

    private static final String[] SIGNS = {"==", "!=", "<", "<=", ">", ">="};

    private Relation() {}

    /** Whether it holds of two things that are ordered so. */
    public static boolean holds(int relation, int order) {
        switch (relation) {
            case EQUAL:
                return order == 0;
            case NOT_EQUAL:
                return order != 0;
            case LESS:
                return order < 0;
            case LESS_OR_EQUAL:
                return order <= 0;
            case GREATER:
                return order > 0;
            default:
                return order >= 0;
        }
    }

    /**
     * How far two things that are ordered so and lie {@code gap} apart are from the other verdict.
     *
     * <p>A strict relation between equals is one step away, on whatever scale the gap has.
     */
    public static double toOther(int relation, int order, double gap) {
        gap = order == 0 ? 0 : Math.abs(gap);
        double distance;
        switch (relation) {
            case EQUAL:
            case NOT_EQUAL:
                distance = order == 0 ? 1 : gap;
                break;
            case LESS:
            case GREATER:
                distance = holds(relation, order) ? gap : gap + 1;
                break;
            default:
                distance = holds(relation, order) ? gap + 1 : gap;
        }
        return Distance.positive(distance);
    }

    /** The relation that holds where this one does not. */
    public static int negated(int relation) {
        switch (relation) {
            case EQUAL:
                return NOT_EQUAL;
            case NOT_EQUAL:
                return EQUAL;
            case LESS:
                return GREATER_OR_EQUAL;
            case LESS_OR_EQUAL:
                return GREATER;
            case GREATER:
                return LESS_OR_EQUAL;
            default:
                return LESS;
        }
    }

    /** As it is written in Java. */
    public static String sign(int relation) {
        return SIGNS[relation];
    }
}
