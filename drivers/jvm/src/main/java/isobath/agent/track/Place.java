package isobath.agent.track;

/** Where in a request a part was looked for, as the protocol numbers it. */
public final class Place {
    /** The query of the URL. */
    public static final int QUERY = 1;
    /** A header. */
    public static final int HEADER = 2;
    /** A cookie. */
    public static final int COOKIE = 3;
    /** A field of a JSON body. */
    public static final int FIELD = 4;
    /** A field of a form. */
    public static final int FORM = 5;

    private Place() {}
}
