package isobath.agent.track;

/** How a tracked input was used, as the protocol numbers it. */
public final class Role {
    /** Compared for equality. */
    public static final int EQUAL = 1;
    /** Compared for equality, letters in either case being the same. */
    public static final int EQUAL_IGNORING_CASE = 2;
    /** It should start with the argument. */
    public static final int STARTS_WITH = 3;
    /** It should end with the argument. */
    public static final int ENDS_WITH = 4;
    /** It should contain the argument. */
    public static final int CONTAINS = 5;
    /** Matched against the regular expression in the argument. */
    public static final int PATTERN = 6;
    /** Parsed as the type in the first argument. */
    public static final int PARSED = 7;
    /** Compared with the tracked input in the argument. */
    public static final int SAME = 8;

    private Role() {}
}
