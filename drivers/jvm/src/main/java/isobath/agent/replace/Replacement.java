package isobath.agent.replace;

/** A method that is called in place of another, with the number of a target as one more argument. */
public final class Replacement {
    /** What the targets of a replaced call are. */
    public enum Outcomes {
        /** True and false, or found and not found. */
        VERDICT,
        /** Goes on and throws. */
        SUCCESS,
        /** It has none. */
        NONE
    }

    /** The class of the method, with slashes. */
    public final String owner;
    /** Its name. */
    public final String name;
    /** Its descriptor. */
    public final String descriptor;
    /** The targets. */
    public final Outcomes outcomes;
    /** Whether calls in libraries are replaced, too. */
    public final boolean everywhere;
    /** Whether the original is still called, after this looked at its last argument. */
    public final boolean before;

    Replacement(String owner, String name, String descriptor, Outcomes outcomes, boolean everywhere, boolean before) {
        this.owner = owner;
        this.name = name;
        this.descriptor = descriptor;
        this.outcomes = outcomes;
        this.everywhere = everywhere;
        this.before = before;
    }
}
