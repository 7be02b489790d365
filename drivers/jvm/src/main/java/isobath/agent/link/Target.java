package isobath.agent.link;

/** Something worth covering, as the core is told. */
public final class Target {
    /** A statement is executed. */
    public static final int STATEMENT = 1;
    /** A condition or call comes out true. */
    public static final int TRUE = 2;
    /** A condition or call comes out false. */
    public static final int FALSE = 3;
    /** An arm of a switch is taken. */
    public static final int ARM = 4;
    /** An operation that may fail succeeds. */
    public static final int PROCEED = 5;
    /** An operation that may fail throws. */
    public static final int LEAVE = 6;
    /** The place throws what nobody expects. */
    public static final int FAULT = 7;

    final int id;
    final int kind;
    final String unit;
    final String file;
    final int line;
    final int column;
    final String function;
    final String text;

    /** A target; {@code column} counts the targets of a line, since bytecode knows no columns. */
    public Target(int id, int kind, String unit, String file, int line, int column, String function, String text) {
        this.id = id;
        this.kind = kind;
        this.unit = unit;
        this.file = file;
        this.line = line;
        this.column = column;
        this.function = function;
        this.text = text;
    }

    @Override
    public String toString() {
        return id + " " + kind + " " + file + ":" + line + " " + function + " " + text;
    }
}
