package isobath.agent.weave;

import isobath.agent.link.Target;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The targets of one class, numbered in the order of its bytecode. */
final class Targets {
    private final int first;
    private final String unit;
    private final Source source;
    private final List<Target> targets = new ArrayList<>();
    private final Map<Integer, Integer> lines = new HashMap<>();
    private final Map<String, Integer> columns = new HashMap<>();
    private String function = "";

    Targets(int first, String className, Source source) {
        this.first = first;
        this.source = source;
        int slash = className.lastIndexOf('/');
        unit = slash < 0 ? "" : className.substring(0, slash).replace('/', '.');
    }

    /** Whether a line is the service's own. */
    boolean counts(int line) {
        return source.place(line) != null;
    }

    /** What follows is in this method. */
    void in(String function) {
        this.function = function;
    }

    /** The target of a line that counts. */
    int line(int line) {
        Integer known = lines.get(line);
        if (known == null) {
            known = add(Target.STATEMENT, line, "line");
            lines.put(line, known);
        }
        return known;
    }

    /** Two targets, of which the first is returned. */
    int pair(int kind, int other, int line, String text) {
        int target = add(kind, line, text);
        add(other, line, text);
        return target;
    }

    int add(int kind, int line, String text) {
        int id = first + targets.size();
        Source.Place place = source.place(line);
        // Targets of one line are told apart by where they come in it.
        int column = columns.merge(place.file + ':' + place.line, 1, Integer::sum);
        targets.add(new Target(id, kind, unit, place.file, place.line, column, function, text));
        return id;
    }

    List<Target> all() {
        return targets;
    }
}
